import { expect, test } from 'bun:test'
import { TimerLines } from '../../../src/domain/timer-lines.ts'

/** Resolves after `ms`, by a timer outside of the timer lines. */
const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('timers with the same delay fire in the order of their start, and never early', async () => {
  const lines = new TimerLines()
  const ended: { name: number; early: boolean }[] = []
  const last = Promise.withResolvers<void>()
  for (const name of [1, 2, 3]) {
    const endsAt = performance.now() + 30
    lines.add(30, () => {
      ended.push({ name, early: performance.now() < endsAt })
      if (name === 3) last.resolve()
    })
    await after(5)
  }
  await last.promise
  expect(ended).toEqual([1, 2, 3].map((name) => ({ name, early: false })))
})

test('a cancelled timer does not fire and delays no other', async () => {
  const lines = new TimerLines()
  const ended: string[] = []
  const last = Promise.withResolvers<void>()
  const first = lines.add(20, () => ended.push('first'))
  const second = lines.add(20, () => {
    ended.push('second')
    // The third timer is due at the same moment.
    third.cancel()
  })
  const third = lines.add(20, () => ended.push('third'))
  lines.add(20, () => last.resolve())
  first.cancel()
  first.cancel()
  await last.promise
  second.cancel()
  expect(ended).toEqual(['second'])
})

test('hundreds of timers due at the same time yield to other work', async () => {
  const lines = new TimerLines()
  const turns = new Set<number>()
  let turn = 0
  const count = setInterval(() => {
    turn += 1
  }, 0)
  const ended = Array.from({ length: 300 }, () => new Promise<void>((resolve) => lines.add(10, resolve)))
  await Promise.all(ended.map((each) => each.then(() => turns.add(turn))))
  clearInterval(count)
  expect(turns.size).toBeGreaterThan(5)
})

test('a delay can be used again after all its timers have ended', async () => {
  const lines = new TimerLines()
  lines.add(10, () => undefined).cancel()
  await new Promise<void>((resolve) => lines.add(10, resolve))
  await new Promise<void>((resolve) => lines.add(10, resolve))
})
