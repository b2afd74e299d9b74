import { expect, test } from 'bun:test'
import { SliceQueue } from '../../../src/domain/slice-queue.ts'
import type { Slices } from '../../../src/domain/slices.ts'
import { CompileQueue } from '../../../src/engine/compile/compile-queue.ts'

/** A queue, and work of which each step takes a millisecond by its clock. */
function queueWithClock() {
  let now = 0
  const log: string[] = []
  function* work(name: string, steps: number): Slices<string> {
    for (let step = 0; step < steps; step += 1) {
      now += 1
      yield
    }
    log.push(name)
    return name
  }
  const slices = new SliceQueue({ monotonic: () => now })
  const queue = new CompileQueue({ slices, shareFactor: 4 })
  return { queue, slices, work, log }
}

test('small work is done at once, even while large work waits', () => {
  const { queue, work, log } = queueWithClock()
  void queue.run('a', work('small', 3))
  expect(log).toEqual(['small'])
})

test('large work pauses every few milliseconds', async () => {
  const { queue, work, log } = queueWithClock()
  const large = queue.run('a', work('large', 30))
  let turns = 0
  while (log.length === 0) {
    turns += 1
    await new Promise(setImmediate)
  }
  expect(await large).toBe('large')
  expect(turns).toBeGreaterThan(4)
})

test('large work is finished one piece after the other, and workspaces take turns', async () => {
  const { queue, work, log } = queueWithClock()
  const names = ['a1', 'a2', 'a3', 'b1']
  await Promise.all(names.map((name) => queue.run(name.slice(0, 1), work(name, 30))))
  expect(log.indexOf('b1')).toBeLessThan(log.indexOf('a3'))
  expect(log.filter((name) => name.startsWith('a'))).toEqual(['a1', 'a2', 'a3'])
})

test('small work does not wait for the end of large work', async () => {
  const { queue, work, log } = queueWithClock()
  const large = queue.run('a', work('large', 1_000))
  await Promise.all([queue.run('b', work('small', 2)), queue.run('a', work('other', 2))])
  expect(log).toEqual(['small', 'other'])
  await large
})

test('a large document does not wait for the end of other large work', async () => {
  const { queue, slices, work, log } = queueWithClock()
  const others = Array.from({ length: 20 }, (_, n) => slices.run(work(`other ${n}`, 100)))
  await queue.run('a', work('document', 30))
  expect(log).toEqual(['document'])
  await Promise.all(others)
})

test('a failure rejects, and the next piece of work continues', async () => {
  const { queue, work } = queueWithClock()
  function* failing(): Slices<string> {
    yield* work('before', 20)
    throw new Error('broken')
  }
  const failed = queue.run('a', failing())
  const next = queue.run('a', work('next', 20))
  await expect(failed).rejects.toThrow('broken')
  expect(await next).toBe('next')
})

test('a workspace whose large documents wait is refused, and another one is not', async () => {
  const { queue, work } = queueWithClock()
  const waiting: Promise<string>[] = []
  const fill = () => {
    for (let count = 0; count < 100; count += 1) {
      queue.assertRoom('a')
      waiting.push(queue.run('a', work('large', 30)))
    }
  }
  const filling = async () => {
    for (let turn = 0; turn < 100; turn += 1) {
      fill()
      await new Promise(setImmediate)
    }
  }
  await expect(filling()).rejects.toThrow('Too many large documents')
  expect(() => queue.assertRoom('b')).not.toThrow()
  await Promise.all(waiting)
  expect(() => queue.assertRoom('a')).not.toThrow()
})
