import type { AlertRow } from './alert.ts'
import type { FiringContent } from './evaluation.ts'

/** An example of what an alert sends. Its execution ID is not that of any run. */
export function testFiring({ id, name, events, workflows, rule }: AlertRow, now: number): FiringContent {
  const type = rule ? (rule.type === 'no_activity' ? 'no_activity' : 'run.failed') : (events[0] ?? 'run.failed')
  const isFailure = type === 'run.failed'
  return {
    alert: { id, name },
    type,
    workflowId: workflows === 'all' ? 'test' : (workflows[0] ?? 'test'),
    workflowName: 'Test',
    executionId: isFailure ? `test_${id}` : null,
    error: isFailure ? 'This is a test of the alert. Nothing has failed.' : null,
    rule,
    measured: rule ? { runs: 1, sum: 1 } : null,
    suppressed: 0,
    at: new Date(now).toISOString(),
  }
}
