import { expect, test } from 'bun:test'
import { TimerLines } from '../../../src/domain/timer-lines.ts'

/** Resolves when a timer of its own has come due that began after all others. */
const after = (ms: number) => new Promise<void>((resolve) => setTimeout(resolve, ms))

test('timers of one delay end in the order of their beginning, none before its time', async () => {
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

test('a timer that was cancelled does not end, and holds up none of the others', async () => {
  const lines = new TimerLines()
  const ended: string[] = []
  const last = Promise.withResolvers<void>()
  const first = lines.add(20, () => ended.push('first'))
  const second = lines.add(20, () => {
    ended.push('second')
    // In the same moment: this one is due as well.
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

test('hundreds of timers that end together leave turns to other work in between', async () => {
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

test('a delay whose timers are all over can be used again', async () => {
  const lines = new TimerLines()
  lines.add(10, () => undefined).cancel()
  await new Promise<void>((resolve) => lines.add(10, resolve))
  await new Promise<void>((resolve) => lines.add(10, resolve))
})
