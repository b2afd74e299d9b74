import type { Iteration, Outputs } from './block.ts'
import type { Run } from './run.ts'

/**
 * One pass through one scope: the outputs of its blocks, by slot. The root scope has one frame a run, a loop's or
 * parallel's body one an iteration; `parent` is the frame that the container stands in.
 */
export class Frame {
  readonly run: Run
  readonly parent: Frame | undefined
  /** Undefined in the root scope. */
  iteration: Iteration | undefined
  /** The id of the container's span; undefined in the root scope. */
  readonly containerId: string | undefined
  /** By slot; undefined while a block has not run. */
  readonly outputs: (Outputs | undefined)[]

  constructor(
    run: Run,
    parent: Frame | undefined,
    iteration: Iteration | undefined,
    slots: number,
    containerId?: string,
  ) {
    this.run = run
    this.parent = parent
    this.iteration = iteration
    this.containerId = containerId
    this.outputs = new Array(slots)
  }
}

/** Reads one value while a run goes on. Compiled once, from a reference or a whole parameter. */
export type Getter = (frame: Frame) => unknown
