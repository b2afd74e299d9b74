import { addCost, type Cost, noCost } from '../domain/cost.ts'
import type { Span } from '../domain/log.ts'
import { type Redactor, type Secret, withSecrets } from '../domain/redaction.ts'
import type { BlockErrorData, Outputs } from './block.ts'

/** How a block ended that does not run again when its run goes on after a crash. `span.output` holds its outputs. */
export type KeptBlock = {
  span: Span
  /** The handle the run left by; null for none. */
  port: string | null
  /** Set when the block failed for good. */
  error: BlockErrorData | null
}

/**
 * What a run remembers of itself, so that it can go on after its process has died: each block that ended, by its place
 * in the run, the version of each sub-workflow, and what was spent on models, by blocks in flight too. What is kept is on disk before the next block starts; so of all
 * blocks only those in flight run twice.
 */
export class Journal {
  readonly #write: (number: number, text: string) => Promise<void>
  readonly #blocks = new Map<string, KeptBlock>()
  readonly #versions = new Map<string, number>()
  /** What is not on disk yet and need not be. */
  readonly #later: Step[] = []
  /** Resolves when what was left for later and is being written is on disk. */
  #settling: Promise<void> | undefined
  /** What the steps hold of values that are secrets, or were when the steps were kept. */
  readonly #secrets: Secret[] = []
  #redactor: Redactor | undefined
  #areSecretsKept = false
  #lastNumber = 0
  #cost: Cost = noCost

  /**
   * `steps`: what `write` was given before the crash, in the order of the numbers. `accepted`: of a run that has begun before
   * it is on disk itself; nothing outside is acted on until then.
   */
  constructor(
    steps: readonly string[],
    write: (number: number, text: string) => Promise<void>,
    accepted?: Promise<unknown>,
  ) {
    this.#write = write
    if (accepted) this.#settleAfter(accepted)
    for (const text of steps) this.#read(JSON.parse(text) as Step)
    this.#lastNumber = steps.length
  }

  /** The block that ended at a place before the crash. */
  block(place: string): KeptBlock | undefined {
    return this.#blocks.get(place)
  }

  /** Every block that ended before the crash, in the order in which they did. */
  get blocks(): Iterable<KeptBlock> {
    return this.#blocks.values()
  }

  /** Resolves when it is on disk; rejects when it could not be written. */
  keepBlock(place: string, kept: KeptBlock): Promise<void> {
    return this.#keep({ place, block: kept })
  }

  /**
   * Keeps a block that may as well run again as long as nothing outside has been acted on since: it goes to the disk with
   * the next one that does not, or with `settle`. A run of such blocks only writes nothing but its end. A promise, to wait
   * for, when there are so many that they had better be written.
   */
  keepLater(place: string, kept: KeptBlock): Promise<void> | undefined {
    this.#later.push({ place, block: kept })
    return this.#later.length < laterMax ? undefined : this.settle()
  }

  /** Before a block that acts on something outside starts; undefined when all that was kept is on disk. */
  settle(): Promise<void> | undefined {
    return this.#later.length === 0 ? this.#settling : this.#writeLater([])
  }

  /** The version of the sub-workflow that was started at a place. */
  version(place: string): number | undefined {
    return this.#versions.get(place)
  }

  keepVersion(place: string, version: number): Promise<void> {
    return this.#keep({ place, version })
  }

  /** What was spent before the crash. */
  get cost(): Cost {
    return this.#cost
  }

  keepCost(cost: Cost): Promise<void> {
    return this.#keep({ cost })
  }

  /**
   * Takes the redactor of the environment as it is now, and gives the one to use for the whole run: a variable whose
   * value stands in what was kept may have another one by now, or be gone.
   */
  hide(redactor: Redactor | undefined): Redactor | undefined {
    this.#redactor = withSecrets(redactor, this.#secrets)
    return this.#redactor
  }

  #keep(step: Step): Promise<void> {
    return this.#later.length === 0 ? this.#writeOne(step) : this.#writeLater([step])
  }

  /** Everything that was to be written later, and these. */
  #writeLater(steps: readonly Step[]): Promise<void> {
    const writes = [...this.#later.splice(0), ...steps].map((step) => this.#writeOne(step))
    return this.#settleAfter(Promise.all([this.#settling, ...writes]))
  }

  #settleAfter(written: Promise<unknown>): Promise<void> {
    const settling: Promise<void> = written.then(() => {
      if (this.#settling === settling) this.#settling = undefined
    })
    // Whoever is about to act asks for it; until then nobody has to hear that it failed.
    settling.catch(() => undefined)
    this.#settling = settling
    return settling
  }

  #writeOne(step: Step): Promise<void> {
    this.#lastNumber += 1
    const number = this.#lastNumber
    return Promise.try(() => this.#write(number, this.#textOf(step)))
  }

  #textOf(step: Step): string {
    const text = JSON.stringify(step)
    const redactor = this.#redactor
    if (redactor === undefined || this.#areSecretsKept || redactor.redact(text) === text) return text
    this.#areSecretsKept = true
    return JSON.stringify({ ...step, secrets: redactor.secrets })
  }

  #read(step: Step): void {
    if (step.secrets) this.#secrets.push(...step.secrets)
    if ('cost' in step) this.#cost = addCost(this.#cost, step.cost)
    else if ('version' in step) this.#versions.set(step.place, step.version)
    else this.#blocks.set(step.place, step.block)
  }
}

/** Blocks that run again after a crash, at most, although they had ended. */
const laterMax = 100

/** `secrets`: of the first step that holds one, all that were hidden then. */
type Step = ({ place: string; block: KeptBlock } | { place: string; version: number } | { cost: Cost }) & {
  secrets?: readonly Secret[]
}

/** When a span that was opened anew really began: no later than the blocks in it that ended before the cut. */
export function beginningOf({ startTime, children }: Span): number {
  return children.reduce((earliest, child) => Math.min(earliest, child.startTime), startTime)
}

/** The outputs of a kept block. */
export function outputsOf({ span }: KeptBlock): Outputs {
  return span.output as Outputs
}
