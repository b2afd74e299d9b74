import { isTrigger } from '../document.ts'
import type { RunSpan } from './run-event.ts'

/** How a block stands in a run. Of one in a loop or parallel, what its executions come to: a failure is never covered up. */
export type BlockRun = {
  status: RunSpan['status'] | 'running'
  /** What the executions that have ended come to; undefined when none has. */
  ended: RunSpan['status'] | undefined
  /** How often it has run; executions that skipped it do not count. */
  executions: number
  failures: number
  /** Of the latest pass that ended as `ended` says. */
  duration: number | undefined
  reused: boolean
}

export type EndedExecution = { status: RunSpan['status']; duration: number | undefined; reused: boolean }

/** Whether a later pass is to be shown in the place of an earlier one. */
export function outweighs(later: RunSpan['status'], earlier: RunSpan['status'] | undefined): boolean {
  return earlier === undefined || weights[later] >= weights[earlier]
}

const weights = { skipped: 0, success: 1, cancelled: 2, error: 3 } satisfies Record<RunSpan['status'], number>

export function afterStart(before: BlockRun | undefined): BlockRun {
  const { executions, ...rest } = before ?? none
  return { ...rest, status: 'running', executions: executions + 1 }
}

/** `wasCounted`: its start was told of. `othersRun`: another pass has not ended yet. */
export function afterExecution(
  before: BlockRun | undefined,
  pass: EndedExecution,
  { wasCounted, othersRun }: { wasCounted: boolean; othersRun: boolean },
): BlockRun {
  const block = before ?? none
  const shown = outweighs(pass.status, block.ended) ? { ...pass, ended: pass.status } : block
  return {
    status: othersRun ? 'running' : (shown.ended ?? pass.status),
    ended: shown.ended,
    executions: block.executions + (wasCounted || pass.status === 'skipped' ? 0 : 1),
    failures: block.failures + (pass.status === 'error' ? 1 : 0),
    duration: shown.duration,
    reused: shown.reused,
  }
}

const none = { ended: undefined, executions: 0, failures: 0, duration: undefined, reused: false }

/** Why a block was skipped. One that is disabled is passed through, with outputs that are null; no other skipped one has any. */
export function skippedText({ type, output }: { type: string; output: unknown }): string {
  if (output !== null) return 'This block was skipped because it is disabled.'
  if (isTrigger({ type })) return 'This block was skipped because the run started with another trigger.'
  return 'This block was skipped because the run did not reach it.'
}

/** In which pass of each loop and parallel around it a block ran, counted from 1 as people do: `#2`, or `#2.1`. */
export function iterationText(iterations: readonly number[]): string {
  return iterations.length === 0 ? '' : `#${iterations.map((index) => index + 1).join('.')}`
}
