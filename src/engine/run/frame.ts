import type { Environment } from '../../domain/account/environment.ts'
import type { RunProgram } from '../../domain/run/program.ts'
import type { Iteration, Outputs } from '../block.ts'

/** The values of a run that compiled parameters can read. */
export type RunValues = {
  readonly environment: Environment
  readonly variables: ReadonlyMap<string, unknown>
  readonly runProgram: RunProgram
  /** As in `Limits`. */
  readonly expressionWorkMax: number
  readonly blockBytesMax: number
  /** The characters of JSON that were written for the block, or expression, whose values are being filled in. */
  filledChars: number
}

/**
 * One pass through one scope: the outputs of its blocks, by slot. The root scope has one frame per run, the body of a
 * loop or parallel one per iteration. `parent` is the frame of the scope around the container.
 */
export class Frame {
  readonly run: RunValues
  readonly parent: Frame | undefined
  /** Undefined in the root scope. */
  iteration: Iteration | undefined
  /** The id of the container's span; undefined in the root scope. */
  readonly containerId: string | undefined
  /** Identifies a repetition: empty for the first time, otherwise a number for each one. */
  readonly repeats: string
  /** By slot; undefined while a block has not run. */
  readonly outputs: (Outputs | undefined)[]

  constructor(
    run: RunValues,
    parent: Frame | undefined,
    iteration: Iteration | undefined,
    slots: number,
    containerId?: string,
    repeats = parent?.repeats ?? '',
  ) {
    this.run = run
    this.parent = parent
    this.iteration = iteration
    this.containerId = containerId
    this.repeats = repeats
    this.outputs = new Array(slots)
  }

  /** A copy for a repetition. Other blocks keep seeing the outputs of the first time. */
  repeated(number: number): Frame {
    const { run, parent, iteration, outputs, containerId, repeats } = this
    const copy = new Frame(run, parent, iteration, outputs.length, containerId, `${repeats}~${number}`)
    for (const [slot, each] of outputs.entries()) copy.outputs[slot] = each
    return copy
  }
}

/** Reads one value during a run. Compiled once, from a reference or a whole parameter. */
export type Getter = (frame: Frame) => unknown
