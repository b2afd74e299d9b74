import { isTrigger } from '../document/document.ts'
import type { Glimpse } from './glimpse.ts'
import type { RunSpan } from './run-event.ts'

/**
 * The state of a block in a run. For a block in a loop or parallel, it sums up all executions: a failure is never
 * hidden.
 */
export type BlockRun = {
  status: RunSpan['status'] | 'running'
  /** The combined status of the executions that have ended; undefined when none has. */
  ended: RunSpan['status'] | undefined
  /** How often the block ran. Skipped executions do not count. */
  executions: number
  failures: number
  /** Duration of the latest execution with the status `ended`. */
  duration: number | undefined
  reused: boolean
  /** Whether the pinned output took the place of the latest execution. */
  pinned: boolean
  /** A short view of the output of the latest execution that ended. */
  glimpse: Glimpse | undefined
  /** Set when the block was tried alone, after the run that the other cards show. */
  isAlone?: true
}

export type EndedExecution = {
  status: RunSpan['status']
  duration: number | undefined
  reused: boolean
  pinned: boolean
  glimpse: Glimpse | undefined
}

/** Whether a later execution replaces an earlier one on the card. */
export function outweighs(later: RunSpan['status'], earlier: RunSpan['status'] | undefined): boolean {
  return earlier === undefined || weights[later] >= weights[earlier]
}

const weights = { skipped: 0, success: 1, cancelled: 2, error: 3 } satisfies Record<RunSpan['status'], number>

export function afterStart(before: BlockRun | undefined): BlockRun {
  const { executions, isAlone: _isAlone, ...rest } = before ?? none
  return { ...rest, status: 'running', executions: executions + 1 }
}

/** `wasCounted`: its start was already counted. `othersRun`: another execution is still running. */
export function afterExecution(
  before: BlockRun | undefined,
  pass: EndedExecution,
  { wasCounted, othersRun }: { wasCounted: boolean; othersRun: boolean },
): BlockRun {
  const { isAlone: _isAlone, ...block } = before ?? none
  const shown = outweighs(pass.status, block.ended) ? { ...pass, ended: pass.status } : block
  return {
    status: othersRun ? 'running' : (shown.ended ?? pass.status),
    ended: shown.ended,
    executions: block.executions + (wasCounted || pass.status === 'skipped' ? 0 : 1),
    failures: block.failures + (pass.status === 'error' ? 1 : 0),
    duration: shown.duration,
    reused: shown.reused,
    pinned: shown.pinned,
    glimpse: shown.glimpse,
  }
}

const none: Omit<BlockRun, 'status'> = {
  ended: undefined,
  executions: 0,
  failures: 0,
  duration: undefined,
  reused: false,
  pinned: false,
  glimpse: undefined,
}

/**
 * Why a block was skipped. A disabled block passes the run on and has outputs that are null; other skipped blocks have
 * no outputs.
 */
export function skippedText({ type, output }: { type: string; output: unknown }): string {
  if (output !== null) return 'This block was skipped because it is disabled.'
  if (isTrigger({ type })) return 'This block was skipped because the run started with another trigger.'
  return 'This block was skipped because the run did not reach it.'
}

/**
 * The output of a pass without the error, which is shown once and elsewhere. Undefined when a failed pass gave nothing
 * else.
 */
export function shownOutput({ status, output }: Pick<RunSpan, 'status' | 'output'>): unknown {
  if (status !== 'error' || typeof output !== 'object' || output === null) return output
  const given = Object.entries(output).filter(([name, value]) => name !== 'error' && value !== null && value !== '')
  return given.length === 0 ? undefined : Object.fromEntries(given)
}

/** The iteration of each surrounding loop and parallel, counted from 1: `#2`, or `#2.1`. */
export function iterationText(iterations: readonly number[]): string {
  return iterations.length === 0 ? '' : `#${iterations.map((index) => index + 1).join('.')}`
}
