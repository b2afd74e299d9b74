import type { Clock } from '../domain/clock.ts'
import type { Limits } from '../domain/limits.ts'
import type { Span, SpanAttempt } from '../domain/log.ts'
import type { OutboundFetch } from '../domain/outbound-request.ts'
import type { RunProgram } from '../domain/program.ts'
import type { Attempt } from './attempt.ts'
import type { BlockContext, Body, RunFacts, SubRunOutcome } from './block.ts'
import { ContainerBody } from './container-body.ts'
import type { Frame } from './frame.ts'
import type { BlockPlace } from './run.ts'

/** What one block sees while it runs. Everything in it is made when the block asks for it. */
export class BlockAttempt implements BlockContext {
  readonly #start: Attempt
  readonly #span: Span
  #body: Body | undefined

  constructor(start: Attempt, span: Span) {
    this.#start = start
    this.#span = span
  }

  get block() {
    return this.#start.node
  }

  get run(): RunFacts {
    return this.#start.run.facts
  }

  get signal(): AbortSignal {
    return this.#start.halt.signal
  }

  get clock(): Clock {
    return this.#start.run.powers.clock
  }

  get limits(): Limits {
    return this.#start.run.powers.limits
  }

  get input() {
    return this.#start.run.input
  }

  get fetch(): OutboundFetch {
    return this.#start.run.powers.fetch
  }

  get runProgram(): RunProgram {
    return this.#start.run.powers.runProgram
  }

  get variables(): Map<string, unknown> {
    return this.#start.run.variables
  }

  get body(): Body | undefined {
    const { body } = this.#start.node
    if (body && !this.#body) this.#body = new ContainerBody(this.#start, body, this.#span)
    return this.#body
  }

  random(): number {
    return this.#start.run.powers.random()
  }

  idempotencyKey(): string {
    return new Bun.CryptoHasher('sha256').update(placeOf(this.#start)).digest('hex').slice(0, 32)
  }

  note({ attempts, children }: { attempts?: readonly SpanAttempt[]; children?: Span[] }): void {
    if (attempts) this.#span.attempts = attempts
    if (children) this.#span.children.push(...children)
  }

  chunk(text: string): void {
    this.#start.run.observer?.chunk?.(this.#span, text, blockPlaceOf(this.#start))
  }

  runWorkflow(workflowId: string, input: Record<string, unknown>): Promise<SubRunOutcome> {
    const { run, halt } = this.#start
    const place = placeOf(this.#start)
    return run.powers.runWorkflow({ run, halt, workflowId, input, place, children: this.#span.children })
  }
}

/** Where a block stands in its run: the same when it has to run again after a crash. */
export function placeOf({ run, node, frame }: Pick<Attempt, 'run' | 'node' | 'frame'>): string {
  return `${run.place || run.facts.executionId}/${node.id}/${iterationsOf(frame).join('.')}`
}

/** The same for those who watch. */
export function blockPlaceOf({ run, frame }: Pick<Attempt, 'run' | 'frame'>): BlockPlace {
  return { depth: run.depth, iterations: iterationsOf(frame).reverse() }
}

/** The innermost first. */
function iterationsOf(frame: Frame): number[] {
  const indexes: number[] = []
  for (let current = frame; current.parent; current = current.parent) indexes.push(current.iteration?.index ?? 0)
  return indexes
}
