import { limitSettings } from '../../domain/limits.ts'
import { readInput } from '../../domain/run/input.ts'
import type { SubRunOutcome } from '../block.ts'
import type { Deployment } from '../deployments.ts'
import { callable } from './callable.ts'
import { type Capabilities, Run, type SubRunCall } from './run.ts'
import { closeRun, rootSpan } from './run-end.ts'
import { walkRun } from './walk/walk.ts'

/** Runs the active deployment of another workflow inside a run, and adds its spans to `children`. */
export async function runWorkflow(
  { run: above, cancellation, workflowId, input, place, callerId, history, children }: SubRunCall,
  capabilities: Capabilities,
  deploymentOf: (workflowId: string, version?: number) => Promise<Deployment | undefined>,
): Promise<SubRunOutcome> {
  const { executionId, workspaceId } = above.facts
  const refuse = (code: string, message: string) => ({
    success: false,
    output: null,
    error: { code, message },
    executionId,
  })
  const max = capabilities.limits.subworkflowDepthMax
  if (above.depth >= max) {
    return refuse(
      'NESTED_TOO_DEEP',
      `Workflows call each other at most ${max} deep here (${limitSettings.subworkflowDepthMax}).`,
    )
  }
  const pinned = history?.version(place)
  const deployment = await deploymentOf(workflowId, pinned)
  const called = callable(workflowId, workspaceId, deployment)
  if (!called.ok) return refuse(called.error.code, called.error.message)
  const { plan, trigger } = called
  const reading = readInput(input, trigger.format)
  if (!reading.ok) {
    const problems = reading.details.map(({ message }) => message).join(' ')
    return refuse('INVALID_INPUT', `The input does not fit the workflow "${plan.document.name}": ${problems}`)
  }
  if (history && pinned === undefined) {
    try {
      await history.recordVersion(place, deployment?.version ?? 0)
    } catch (cause) {
      above.budget.suspend(cause)
      return refuse('CANCELLED', 'The run was stopped.')
    }
  }
  const inner = cancellation.child()
  // A run uses one environment from start to end, including its sub-runs.
  const { budget, environment } = above
  const facts = { ...above.facts, workflowId }
  const start = {
    facts,
    plan,
    input: reading.value,
    environment,
    budget,
    place,
    callerId,
    cancellation: inner,
    history,
  }
  const run = new Run({ ...start, depth: above.depth + 1 }, capabilities)
  const root = rootSpan(run)
  children.push(root)
  // From here on, its own blocks are the work in progress.
  const { pauses } = budget
  pauses?.end()
  const end = await walkRun(run, trigger.node, root)
  pauses?.begin()
  cancellation.release(inner)
  // If the outer run was stopped, the sub-workflow itself did not fail; the block that called it ends as cancelled.
  const { failure, output } = closeRun(run, root, end)
  return { success: failure === null, output, error: failure, executionId }
}
