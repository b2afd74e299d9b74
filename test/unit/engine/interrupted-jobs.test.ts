import { expect, test } from 'bun:test'
import type { JobFacts } from '../../../src/domain/run/job.ts'
import { putAfterTurn } from '../../../src/engine/jobs/interrupted-jobs.ts'
import type { ActiveJob } from '../../../src/engine/jobs/job-turn.ts'

const job: JobFacts = {
  executionId: 'e1',
  workflowId: 'w1',
  workspaceId: 's1',
  createdAt: 1,
  startedAt: 1,
  inputBytes: 2,
}
const turn = (): ActiveJob => ({ job, isCancelled: false, isRunning: true, ended: Promise.withResolvers() })

test('a job that is to continue twice never has two turns at once', async () => {
  const active = new Map<string, ActiveJob>()
  const put: JobFacts[] = []
  const queue = { putFirst: (each: JobFacts) => void put.push(each) }
  const [first, second] = [turn(), turn()]
  active.set('e1', first)
  putAfterTurn(job, queue, active)
  first.ended.resolve('again')
  // The next turn begins before anything else learns that the first one has ended.
  active.set('e1', second)
  await first.ended.promise
  await Promise.resolve()
  expect(put).toEqual([])
  active.delete('e1')
  second.ended.resolve('done')
  await second.ended.promise
  await Promise.resolve()
  expect(put).toEqual([job])
})
