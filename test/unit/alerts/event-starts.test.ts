import { expect, test } from 'bun:test'
import { EventStarts } from '../../../src/alerts/event-starts.ts'
import { AppError } from '../../../src/domain/errors.ts'
import type { EventStart } from '../../../src/store/alerts/alert-store.ts'
import { ManualClock } from '../../support/clock.ts'

type Account = { ownerId: string }

type Limits = { rate?(ownerId: string): boolean; isFull?(workflowId: string): boolean }

/** Starts that wait, and limits that refuse some of them. */
function world({ rate = () => true, isFull = () => false }: Limits) {
  const clock = new ManualClock(1_000_000)
  let waiting: EventStart[] = []
  const counted: string[] = []
  const started: string[] = []
  const dropped: string[] = []
  const remove = (sequence: number) => {
    waiting = waiting.filter((each) => each.sequence !== sequence)
  }
  const starts = new EventStarts<Account>({
    clock,
    store: {
      listEventStarts: async (limit, after = 0) => waiting.filter((each) => each.sequence > after).slice(0, limit),
      dropEventStart: async (sequence) => remove(sequence),
    },
    limits: {
      account: (ownerId) => ({ ownerId }),
      isWithinUsage: () => true,
      take(_, { ownerId }) {
        counted.push(ownerId)
        return { allowed: rate(ownerId) }
      },
    },
    eventsNoted: async () => {},
    async accept({ workflowId, executionId }, { sequence }) {
      if (isFull(workflowId)) throw new AppError('WORKFLOW_LIMIT', 'Too many runs')
      remove(sequence)
      started.push(workflowId)
      return { job: { executionId } }
    },
    onDropped: ({ workflowId }) => void dropped.push(workflowId),
  })
  const add = (sequence: number, workflowId: string, ownerId: string) => {
    const content = JSON.stringify({ type: 'run.failed' })
    const facts = { workspaceId: ownerId, version: 1, executionId: `run-${sequence}`, at: clock.now() }
    waiting.push({ sequence, workflowId, ownerId, content, ...facts })
  }
  return { clock, starts, add, counted, started, dropped }
}

test('starts that have to wait do not keep those of other workspaces from their turn', async () => {
  const { starts, add, started } = world({ rate: (ownerId) => ownerId !== 'busy' })
  for (let sequence = 1; sequence <= 1_000; sequence += 1) add(sequence, 'noisy', 'busy')
  add(1_001, 'other', 'calm')
  for (let turn = 0; turn < 6; turn += 1) await starts.run()
  expect(started).toEqual(['other'])
})

test('starts that have to wait use up the requests of their owner only every ten seconds', async () => {
  const { clock, starts, add, counted, started } = world({ isFull: (workflowId) => workflowId === 'full' })
  for (let sequence = 1; sequence <= 50; sequence += 1) add(sequence, 'full', 'ada')
  add(51, 'free', 'ada')
  for (let second = 0; second < 20; second += 1) {
    await starts.run()
    clock.advance(1_000)
  }
  expect(started).toEqual(['free'])
  // Two for the full workflow, and one for the run that has started.
  expect(counted).toHaveLength(3)
})

test('an owner whose requests are used up is asked about once in a turn', async () => {
  const { starts, add, counted } = world({ rate: () => false })
  for (let sequence = 1; sequence <= 150; sequence += 1) add(sequence, `workflow-${sequence}`, 'ada')
  await starts.run()
  expect(counted).toEqual(['ada'])
})

test('starts are given up when the limits have allowed none for an hour', async () => {
  const { clock, starts, add, dropped } = world({ isFull: () => true })
  for (const sequence of [1, 2, 3]) add(sequence, 'full', 'ada')
  await starts.run()
  expect(dropped).toEqual([])
  clock.advance(3_600_001)
  await starts.run()
  expect(dropped).toEqual(['full', 'full', 'full'])
})
