import { type Redactor, redactText } from '../domain/redaction/redactor.ts'
import type { Cost } from '../domain/run/cost.ts'
import type { LivePlace } from '../domain/run/live-event.ts'
import { isOpen, type RunFailure, type Span } from '../domain/run/log.ts'
import type { RunInSight } from '../domain/run/run-observer.ts'
import { blockSpans, bodyTypes } from '../domain/run/trace.ts'
import { spanText, Texts } from './batch.ts'
import { SpanPieces } from './span-pieces.ts'

/** The facts of a run that its watchers get. */
export type LiveFacts = Omit<RunInSight, 'root'>

/** The end of a run, for its watchers. */
export type LiveEnding = {
  failure: RunFailure | null
  output: unknown
  cost: Cost
  endedAt: number
  durationMs: number
}

/** Writes the messages (`LiveEvent`) of one run, without the secrets of its workspace. */
export class LiveTexts {
  readonly #facts: LiveFacts
  readonly #pieces = new SpanPieces()
  #secrets: Redactor | undefined
  #known: Texts | undefined

  constructor(facts: LiveFacts) {
    this.#facts = facts
  }

  /** Made again when a workflow that was called meanwhile has secrets of its own. */
  get #texts(): Texts {
    const { secrets } = this.#facts
    if (this.#known && this.#secrets === secrets) return this.#known
    this.#secrets = secrets
    this.#known = new Texts(null, secrets, valueBytesMax)
    return this.#known
  }

  runStarted(earlier: number): string {
    const { executionId, workflowId, trigger, startedAt } = this.#facts
    return JSON.stringify({
      event: 'run.started',
      executionId,
      workflowId,
      trigger,
      startedAt: this.#pieces.iso(startedAt),
      earlier,
    })
  }

  blockStarted({ id, name, type, blockId, startTime }: Span, place: LivePlace): string {
    const block = `"type":${JSON.stringify(type)},"blockId":${JSON.stringify(blockId)}`
    const span = `{"id":"${id}","name":${this.#texts.string(name)},${block},"startTime":"${this.#pieces.iso(startTime)}"}`
    return `{"event":"block.started","span":${span},${placeText(place)}}`
  }

  /** `chunk` is already without secrets. */
  blockChunk({ id, blockId }: Span, chunk: string, { depth, iterations, parentId }: LivePlace): string {
    return JSON.stringify({ event: 'block.chunk', spanId: id, blockId, chunk, depth, iterations, parentId })
  }

  blockEnded(span: Span, place: LivePlace): string {
    const children = bodyTypes.has(span.type) ? [] : span.children
    return `{"event":"block.ended","span":${spanText(span, this.#texts, this.#pieces, children)},${placeText(place)}}`
  }

  runEnded({ failure, output, cost, endedAt, durationMs }: LiveEnding): string {
    const { executionId, secrets } = this.#facts
    const facts = JSON.stringify({
      event: 'run.ended',
      executionId,
      status: statusOf(failure),
      endedAt: this.#pieces.iso(endedAt),
      duration: durationMs,
      cost,
      error: failure && { ...failure, message: redactText(failure.message, secrets) },
    })
    return `${facts.slice(0, -1)},"output":${this.#texts.spanValue(output)}}`
  }

  runLost(): string {
    const message =
      'The run has stopped here. It is paused, or goes on when the service has started again, or its log entry could not ' +
      'be written.'
    return JSON.stringify({ event: 'run.lost', executionId: this.#facts.executionId, message })
  }

  /** The events so far, for a watcher that arrives late. `textOf`: the text that an open block has streamed. */
  soFar(root: Span, textOf: (span: Span) => string | undefined): string[] {
    const ended: string[] = []
    const open: string[] = []
    let earlier = 0
    let chars = 0
    // From the end, so that the omitted events of a long run are never written.
    for (const { span, place } of blockSpans(root).reverse()) {
      if (isOpen(span)) {
        const text = textOf(span)
        if (text) open.push(this.blockChunk(span, text, place))
        open.push(this.blockStarted(span, place))
      } else if (ended.length < endedMax && chars < endedCharsMax) {
        const message = this.blockEnded(span, place)
        chars += message.length
        ended.push(message)
      } else earlier += 1
    }
    return [this.runStarted(earlier), ...ended.reverse(), ...open.reverse()]
  }
}

/** The most bytes of one value that a watcher gets; the log has more. */
const valueBytesMax = 65_536

/** The most ended blocks, and roughly the most characters about them, that a late watcher gets. */
const endedMax = 500
const endedCharsMax = 2_000_000

function placeText({ depth, iterations, parentId }: LivePlace): string {
  const parent = parentId === null ? 'null' : `"${parentId}"`
  return `"depth":${depth},"iterations":[${iterations.join(',')}],"parentId":${parent}`
}

function statusOf(failure: RunFailure | null): 'success' | 'error' | 'cancelled' {
  if (failure === null) return 'success'
  return failure.code === 'CANCELLED' || failure.code === 'CLIENT_CLOSED' ? 'cancelled' : 'error'
}

/** The events of a logged run, for a watcher that arrives after its end. */
export function pastMessages(run: RunInSight, ending: LiveEnding): string[] {
  const texts = new LiveTexts(run)
  return [...texts.soFar(run.root, () => undefined), texts.runEnded(ending)]
}

/** The last message to a watcher that is too slow. */
export const droppedText = JSON.stringify({
  event: 'dropped',
  message: 'You read more slowly than the run proceeds. Connect again to continue from its state at that time.',
})
