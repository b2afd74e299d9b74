import { expect, test } from 'bun:test'
import { DeletedWorkflowRuns } from '../../../../src/engine/jobs/deleted-workflow-runs.ts'
import { ManualClock } from '../../../support/clock.ts'

/** Paused runs of deleted workflows, by the IDs of the workflows. */
function world(runs: Record<string, number>) {
  const clock = new ManualClock(0)
  let failures = 0
  const left = new Map(Object.entries(runs))
  const runsOf = new DeletedWorkflowRuns({
    clock,
    store: {
      listDeletedWithPauses: async (limit) => {
        const found = [...left].filter(([, count]) => count > 0).slice(0, limit)
        return found.map(([workflowId]) => ({ workspaceId: 'w1', workflowId }))
      },
      listPauses: async ({ workflowId = '', after, limit }) => {
        const count = Math.min(limit, left.get(workflowId) ?? 0)
        return Array.from({ length: count }, (_, at) => ({ executionId: workflowId, number: after + at + 1 }))
      },
    },
    async cancel(workflowId) {
      failures -= 1
      if (failures >= 0) throw new Error('The disk is full.')
      // In this test, the runs of a page share one ID, so one call cancels all of them.
      left.set(workflowId, Math.max(0, (left.get(workflowId) ?? 0) - 100))
    },
    onFailure: () => undefined,
  })
  return {
    left,
    runsOf,
    fail: () => {
      failures = 1
    },
    async settle() {
      for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
    },
    async advance(ms: number) {
      clock.advance(ms)
      await this.settle()
    },
  }
}

test('all paused runs of deleted workflows are cancelled, however many there are', async () => {
  const it = world({ f1: 1_050, f2: 3, f3: 0 })
  it.runsOf.look()
  await it.settle()
  expect([...it.left.values()]).toEqual([0, 0, 0])
})

test('runs that pause after the deletion, or could not be cancelled before, are cancelled within an hour', async () => {
  const it = world({ f1: 1 })
  it.fail()
  it.runsOf.look()
  await it.settle()
  it.left.set('f2', 7)
  expect([...it.left.values()]).toEqual([1, 7])
  await it.advance(3_600_000)
  expect([...it.left.values()]).toEqual([0, 0])
})

test('a workflow that is deleted during a round is not missed', async () => {
  const it = world({ f1: 500 })
  it.runsOf.look()
  it.left.set('f2', 7)
  it.runsOf.look()
  await it.settle()
  expect([...it.left.values()]).toEqual([0, 0])
  await it.runsOf.close()
})
