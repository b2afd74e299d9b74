import { readInput } from '../domain/input.ts'
import { limitSettings } from '../domain/limits.ts'
import type { SubRunOutcome } from './block.ts'
import { callable } from './callable.ts'
import { closeRun, rootSpan } from './ending.ts'
import { walkRoot } from './root-walk.ts'
import { type Powers, Run, type SubRunCall } from './run.ts'
import type { RunnerOptions } from './runner.ts'

/** Runs the active deployment of another workflow inside a run; its spans go to `children`. */
export async function runWorkflow(
  { run: above, halt, workflowId, input, place, callerId, journal, children }: SubRunCall,
  powers: Powers,
  deploymentOf: RunnerOptions['deploymentOf'],
): Promise<SubRunOutcome> {
  const { executionId, workspaceId } = above.facts
  const refuse = (code: string, message: string) => ({
    success: false,
    output: null,
    error: { code, message },
    executionId,
  })
  const max = powers.limits.subworkflowDepthMax
  if (above.depth >= max) {
    return refuse(
      'NESTED_TOO_DEEP',
      `Workflows call each other at most ${max} deep here (${limitSettings.subworkflowDepthMax}).`,
    )
  }
  const pinned = journal?.version(place)
  const deployment = await deploymentOf(workflowId, pinned)
  const called = callable(workflowId, workspaceId, deployment)
  if (!called.ok) return refuse(called.error.code, called.error.message)
  const { plan, trigger } = called
  const reading = readInput(input, trigger.format)
  if (!reading.ok) {
    const problems = reading.details.map(({ message }) => message).join(' ')
    return refuse('INVALID_INPUT', `The input does not fit the workflow "${plan.document.name}": ${problems}`)
  }
  if (journal && pinned === undefined) {
    try {
      await journal.keepVersion(place, deployment?.version ?? 0)
    } catch (cause) {
      above.budget.suspend(cause)
      return refuse('CANCELLED', 'The run was stopped.')
    }
  }
  const inner = halt.below()
  // One run sees one environment, however long it takes.
  const { budget, environment } = above
  const facts = { ...above.facts, workflowId }
  const start = { facts, plan, input: reading.value, environment, budget, place, callerId, halt: inner, journal }
  const run = new Run({ ...start, depth: above.depth + 1 }, powers)
  const root = rootSpan(run)
  children.push(root)
  const end = await walkRoot(run, trigger.node, root)
  halt.release(inner)
  // A stop from above is not the sub-workflow's own failure; the block that called it ends as cancelled.
  const { failure, output } = closeRun(run, root, end)
  return { success: failure === null, output, error: failure, executionId }
}
