import { setMember } from '../../domain/run/input.ts'
import type { Span } from '../../domain/run/log.ts'
import type { AgentEvent, BlockPlace, RunObserver } from '../../domain/run/run-observer.ts'
import { finish, isLargeValue, jsonInSlices, type Slices } from '../../domain/slices.ts'
import { readPath } from '../../domain/workflow/reference.ts'
import type { Plan } from '../../engine/compile/plan.ts'
import type { AgentEvents } from '../requests/agent-events.ts'
import type { SelectedOutput } from '../requests/selected-outputs.ts'

/**
 * The chunks of a streamed run: the text that selected blocks generate, and the values of other selected blocks as soon
 * as those blocks end. When nothing is selected: the text of every generating block whose output no other block uses.
 */
export class RunEvents implements RunObserver {
  readonly selected: readonly SelectedOutput[]
  readonly #send: (message: string) => void
  readonly #sendLarge: (message: Slices<string>) => void
  /** Blocks whose text is sent while it is generated. */
  readonly #streaming: ReadonlySet<string>
  /** The output that each block streams. */
  readonly #streams: ReadonlyMap<string, string>
  readonly #agentEvents: AgentEvents | undefined
  /** Created on first use. */
  #values: Map<SelectedOutput, { iterations: readonly number[]; value: unknown }[]> | undefined

  /** `sendLarge` receives the work that writes a large message. */
  constructor(
    plan: Plan,
    selected: readonly SelectedOutput[],
    send: (message: string) => void,
    sendLarge = (message: Slices<string>) => send(finish(message)),
    agentEvents?: AgentEvents,
  ) {
    this.#agentEvents = agentEvents
    this.selected = selected
    this.#send = send
    this.#sendLarge = sendLarge
    this.#streams = plan.streams
    this.#streaming =
      selected.length > 0
        ? new Set(selected.filter((each) => this.#isStreamed(each)).map(({ blockId }) => blockId))
        : plan.unreadStreams
  }

  chunk({ blockId }: Span, text: string, { depth }: BlockPlace): void {
    if (depth > 0 || blockId === null || text === '' || !this.#streaming.has(blockId)) return
    this.#send(JSON.stringify({ blockId, chunk: text }))
  }

  /** Messages about agents go only to callers that understand them. */
  agent({ blockId }: Span, event: AgentEvent, { depth }: BlockPlace): void {
    const wanted = this.#agentEvents
    if (!wanted || depth > 0 || blockId === null || !this.#streaming.has(blockId)) return
    const message = agentMessage(event, wanted)
    if (message) this.#send(JSON.stringify({ blockId, ...message }))
  }

  ended({ blockId, status, output }: Span, { depth, iterations }: BlockPlace): void {
    if (depth > 0 || status === 'skipped' || status === 'cancelled') return
    for (const selected of this.selected) {
      if (selected.blockId !== blockId) continue
      const value = readPath(output, selected.path)
      this.#remember(selected, iterations, value)
      if (value === undefined || this.#isStreamed(selected)) continue
      const message = messageOf(blockId, value)
      if (isLargeValue(value)) this.#sendLarge(message)
      else this.#send(finish(message))
    }
  }

  /** The values of the selected outputs, by entry; undefined when nothing was selected. */
  outputs(): Record<string, unknown> | undefined {
    if (this.selected.length === 0) return undefined
    const outputs: Record<string, unknown> = {}
    for (const selected of this.selected) setMember(outputs, selected.entry, this.#outputOf(selected))
    return outputs
  }

  /** The values that there are, by entry. */
  found(): Record<string, unknown> {
    const outputs: Record<string, unknown> = {}
    for (const selected of this.selected) {
      const isThere = this.#values?.get(selected)?.some(({ value }) => value !== undefined)
      if (isThere) setMember(outputs, selected.entry, this.#outputOf(selected))
    }
    return outputs
  }

  #outputOf(selected: SelectedOutput): unknown {
    const values = this.#values?.get(selected)
    if (!values) return null
    if (!selected.isRepeated) return values.at(-1)?.value ?? null
    return values.toSorted((a, b) => compare(a.iterations, b.iterations)).map(({ value }) => value ?? null)
  }

  #remember(selected: SelectedOutput, iterations: readonly number[], value: unknown): void {
    this.#values ??= new Map()
    const values = this.#values.get(selected)
    if (values) values.push({ iterations, value })
    else this.#values.set(selected, [{ iterations, value }])
  }

  #isStreamed({ blockId, path }: SelectedOutput): boolean {
    return path.length === 1 && this.#streams.get(blockId) === path[0]
  }
}

/** The members of a message in Sim's protocol `agent-events-v1`; undefined when the caller does not want it. */
function agentMessage(event: AgentEvent, wanted: AgentEvents): object | undefined {
  switch (event.kind) {
    case 'reset':
      return { event: 'chunk_reset' }
    case 'thinking':
      return wanted.thinking ? { event: 'thinking', data: event.text } : undefined
    case 'tool-start':
      return wanted.toolCalls ? { event: 'tool', phase: 'start', id: event.id, name: event.name } : undefined
    case 'tool-end': {
      const { id, name, status } = event
      return wanted.toolCalls ? { event: 'tool', phase: 'end', id, name, status } : undefined
    }
  }
}

/** `value` is JSON data. */
function* messageOf(blockId: string, value: unknown): Slices<string> {
  const chunk = typeof value === 'string' ? value : yield* jsonInSlices(value)
  return JSON.stringify({ blockId, chunk })
}

/** Orders by the outermost iteration first. */
function compare(a: readonly number[], b: readonly number[]): number {
  for (const [index, left] of a.entries()) {
    const difference = left - (b[index] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}
