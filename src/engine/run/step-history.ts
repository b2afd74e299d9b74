import type { Environment } from '../../domain/account/environment.ts'
import type { ByteGate } from '../../domain/byte-gate.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import { type Redactor, type Secret, withSecrets } from '../../domain/redaction/redactor.ts'
import { addCost, type Cost, noCost } from '../../domain/run/cost.ts'
import type { SpanPause } from '../../domain/run/log.ts'
import { finish, type InSlices, jsonInSlices, largeBytes, type Slices } from '../../domain/slices.ts'
import type { Outputs } from '../block.ts'
import type { RecordedBlock } from './contracts.ts'

/**
 * The record from which a run resumes after its process has died: each block that ended, by its place in the run;
 * the version of each sub-workflow; and what was spent on models, also by blocks that have not ended. A step is on disk
 * before a block with effects starts, so only the blocks in flight run twice.
 */
export class StepHistory {
  #write: ((number: number, text: string) => Promise<void>) | undefined
  readonly #inSlices: InSlices
  readonly #gate: ByteGate | undefined
  readonly #blocks = new Map<string, RecordedBlock>()
  readonly #versions = new Map<string, number>()
  readonly #kept = new Map<string, unknown>()
  /** Steps that are not written yet, and may be written later. */
  readonly #later: Step[] = []
  /** Resolves when the deferred steps that are being written are on disk. */
  #flushing: Promise<void> | undefined
  /** Values in the steps that are secrets, or were when the steps were recorded. */
  readonly #secrets: Secret[] = []
  #redactor: Redactor | undefined
  #areSecretsRecorded = false
  #lastNumber = 0
  #cost: Cost = noCost

  /**
   * `steps`: the texts that `write` received before the interruption, in the order of their numbers. Without `write`,
   * the steps are held in memory until `heldTexts` is called. `accepted`: set
   * for a run that begins before its job is on disk; blocks with outside effects wait for it. `inSlices`: writes large
   * steps as text. `gate`: limits the large steps of all runs that are being written.
   */
  constructor(
    steps: readonly string[],
    write?: (number: number, text: string) => Promise<void>,
    accepted?: Promise<unknown>,
    inSlices: InSlices = async (slices) => finish(slices),
    gate?: ByteGate,
  ) {
    this.#write = write
    this.#inSlices = inSlices
    this.#gate = gate
    if (accepted) this.#flushAfter(accepted)
    for (const text of steps) this.#read(JSON.parse(text) as Step)
    this.#lastNumber = steps.length
  }

  /** Whether the steps are in memory only. */
  get isHeld(): boolean {
    return this.#write === undefined
  }

  /** Writes all further steps, after a number of them that are on disk. */
  release(write: (number: number, text: string) => Promise<void>, count: number): void {
    this.#write = write
    this.#lastNumber = count
  }

  /** The texts of the steps that are held. */
  async heldTexts(): Promise<string[]> {
    const texts: string[] = []
    for (const step of this.#later.splice(0)) {
      texts.push(sizeOf(step) > largeBytes ? await this.#inSlices(this.#textOf(step)) : finish(this.#textOf(step)))
    }
    return texts
  }

  /** The block that ended at a place before the interruption. */
  block(place: string): RecordedBlock | undefined {
    return this.#blocks.get(place)
  }

  /** All blocks that ended before the interruption, in that order. */
  get blocks(): Iterable<RecordedBlock> {
    return this.#blocks.values()
  }

  /** The pauses at these blocks. */
  get pauses(): SpanPause[] {
    return Array.from(this.blocks, ({ span }) => span.pauses ?? []).flat()
  }

  /** Resolves when the step is on disk; rejects when it could not be written. */
  recordBlock(place: string, block: RecordedBlock): Promise<void> {
    return this.#record({ place, block })
  }

  /**
   * Defers the step of a block that may safely run again, as long as no block with outside effects has run since. The
   * step is written with the next one that cannot be deferred, or by `flush`; so a run of pure blocks writes nothing
   * but its end. Returns a promise to wait for when too many steps are deferred.
   */
  recordLater(place: string, block: RecordedBlock): Promise<void> | undefined {
    this.#later.push({ place, block })
    return this.isHeld || this.#later.length < laterMax ? undefined : this.flush()
  }

  /** To be called before a block with outside effects starts. Undefined when every step is on disk. */
  flush(): Promise<void> | undefined {
    if (this.isHeld) return undefined
    return this.#later.length === 0 ? this.#flushing : this.#writeWithDeferred([])
  }

  /** The version of the sub-workflow that was started at a place. */
  version(place: string): number | undefined {
    return this.#versions.get(place)
  }

  recordVersion(place: string, version: number): Promise<void> {
    return this.#record({ place, version })
  }

  /** The value that the block at a place kept last, before the interruption. */
  kept(place: string): unknown {
    return this.#kept.get(place)
  }

  /** Keeps something for a block that has not ended and will run again from its start. */
  keep(place: string, kept: unknown): Promise<void> {
    return this.#record({ place, kept })
  }

  /** The cost before the interruption. */
  get cost(): Cost {
    return this.#cost
  }

  recordCost(cost: Cost): Promise<void> {
    return this.#record({ cost })
  }

  /**
   * Takes the redactor of the present environment and returns the one to use for the whole run: the recorded steps may
   * hold values of variables that have changed or are gone.
   */
  hide(redactor: Redactor | undefined): Redactor | undefined {
    this.#redactor = withSecrets(redactor, this.#secrets)
    return this.#redactor
  }

  /** Hides a value that only this run has. */
  addSecret(secret: Secret): void {
    this.#secrets.push(secret)
  }

  /** The environment of a run with these steps. Its redactor is read again for each record, because it may grow. */
  environmentWith(environment: Environment): Environment {
    const hide = () => this.hide(environment.redactor)
    hide()
    return {
      values: environment.values,
      get redactor() {
        return hide()
      },
    }
  }

  #record(step: Step): Promise<void> {
    if (this.isHeld) {
      this.#later.push(step)
      return Promise.resolve()
    }
    return this.#later.length === 0 ? this.#writeOne(step) : this.#writeWithDeferred([step])
  }

  #writeWithDeferred(steps: readonly Step[]): Promise<void> {
    const writes = [...this.#later.splice(0), ...steps].map((step) => this.#writeOne(step))
    return this.#flushAfter(Promise.all([this.#flushing, ...writes]))
  }

  #flushAfter(written: Promise<unknown>): Promise<void> {
    const flushing: Promise<void> = written.then(() => {
      if (this.#flushing === flushing) this.#flushing = undefined
    })
    // A failure is reported to the next block that needs the steps on disk. Until then nobody has to handle it.
    flushing.catch(() => undefined)
    this.#flushing = flushing
    return flushing
  }

  #writeOne(step: Step): Promise<void> {
    const bytes = sizeOf(step)
    if (bytes > largeBytes) {
      const writing = async () => this.#writeText(await this.#inSlices(this.#textOf(step)))
      return this.#gate ? this.#gate.run(bytes, writing) : writing()
    }
    return Promise.try(() => this.#writeText(finish(this.#textOf(step))))
  }

  /** Numbers have no gaps on disk, so a step gets its number when its text is there. */
  #writeText(text: string): Promise<void> {
    this.#lastNumber += 1
    return this.#write?.(this.#lastNumber, text) ?? Promise.resolve()
  }

  *#textOf(step: Step): Slices<string> {
    const text = (yield* jsonInSlices(step)) as string
    const redactor = this.#redactor
    if (redactor === undefined || this.#areSecretsRecorded) return text
    const redacted = text.length > largeBytes ? yield* redactor.redactInSlices(text) : redactor.redact(text)
    if (redacted === text) return text
    this.#areSecretsRecorded = true
    return `${text.slice(0, -1)},"secrets":${JSON.stringify(redactor.secrets)}}`
  }

  #read(step: Step): void {
    if (step.secrets) this.#secrets.push(...step.secrets)
    // A mark of a crash, which `jobs/crash-marks.ts` reads.
    if ('crashes' in step) return
    if ('cost' in step) this.#cost = addCost(this.#cost, step.cost)
    else if ('kept' in step) this.#kept.set(step.place, step.kept)
    else if ('version' in step) this.#versions.set(step.place, step.version)
    else this.#blocks.set(step.place, step.block)
  }
}

/** Deferred steps at most: the number of ended blocks that may have to run again after a crash. */
const laterMax = 100

/** This shape is on disk. `secrets`: in the first step that holds a secret, all secrets of the environment. */
type Step = (
  | { place: string; block: RecordedBlock }
  | { place: string; version: number }
  | { place: string; kept: unknown }
  | { cost: Cost }
  | { crashes: number }
) & { secrets?: readonly Secret[] }

function sizeOf(step: Step): number {
  if ('block' in step) return estimateSize(step.block.span)
  return 'kept' in step ? estimateSize(step.kept) : 0
}

/** The outputs of a recorded block. */
export function outputsOf({ span }: RecordedBlock): Outputs {
  return span.output as Outputs
}
