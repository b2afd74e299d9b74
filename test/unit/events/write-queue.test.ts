import { expect, test } from 'bun:test'
import { WriteQueue } from '../../../src/events/write-queue.ts'

function step(executionId: string, bytes: number, number = 1) {
  return { kind: 'job-step' as const, executionId, number, content: new Uint8Array(bytes) }
}

/** A queue with these writes. `groups` takes all of them; each group is the list of its jobs. */
function queueOf(writes: readonly ReturnType<typeof step>[]) {
  const queue = new WriteQueue()
  for (const write of writes)
    queue.add(
      write,
      () => undefined,
      () => undefined,
    )
  const groups = () => {
    const taken: string[][] = []
    while (queue.length > 0) {
      taken.push(queue.takeGroup().map(({ write }) => ('executionId' in write ? write.executionId : '')))
    }
    return taken
  }
  return { queue, groups }
}

test('a small write waits for one large write at most, and large writes get every second turn', () => {
  const large = ['L1', 'L2', 'L3'].map((id) => step(id, 3_000_000))
  const { queue, groups } = queueOf([...large, step('a', 10), step('b', 10)])
  expect(queue.length).toBe(5)
  expect(groups()).toEqual([['a', 'b'], ['L1'], ['L2'], ['L3']])
  const next = queueOf(large)
  const [first] = next.queue.takeGroup()
  expect(first?.write).toMatchObject({ executionId: 'L1' })
  for (const id of ['a', 'b']) {
    next.queue.add(
      step(id, 10),
      () => undefined,
      () => undefined,
    )
  }
  expect(next.groups()).toEqual([['a', 'b'], ['L2'], ['L3']])
})

test('the writes of a job keep their order', () => {
  const { groups } = queueOf([step('a', 10, 1), step('a', 3_000_000, 2), step('a', 10, 3), step('b', 10)])
  expect(groups()).toEqual([['a', 'b'], ['a'], ['a']])
})
