import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { PollTurns } from '../../../../src/triggers/polls/poll-turns.ts'

/** Polls in progress, which the test ends. */
class Bench {
  readonly running: { workspaceId: string; origin: string; end(): void }[] = []
  readonly begun: string[] = []
  readonly turns: PollTurns

  constructor(options: { total: number; perOrigin: number }) {
    this.turns = new PollTurns({ shareFactor: 4, ...options })
  }

  add(workspaceId: string, origin: string): void {
    this.turns.add({
      workspaceId,
      origin,
      run: () => {
        const { promise, resolve } = Promise.withResolvers<void>()
        this.begun.push(workspaceId)
        this.running.push({ workspaceId, origin, end: resolve })
        return promise
      },
    })
  }

  async endOne(index = 0): Promise<void> {
    const [ended] = this.running.splice(index % this.running.length, 1)
    ended?.end()
    for (let turn = 0; turn < 5; turn += 1) await Promise.resolve()
  }
}

test('workspaces take turns, however many polls one of them has', async () => {
  const bench = new Bench({ total: 100, perOrigin: 1 })
  for (let count = 0; count < 50; count += 1) bench.add('busy', 'https://a.example')
  bench.add('other', 'https://a.example')
  await bench.endOne()
  await bench.endOne()
  expect(bench.begun.slice(0, 3)).toContain('other')
})

test('an origin without room holds up no poll of another origin', () => {
  const bench = new Bench({ total: 100, perOrigin: 2 })
  for (let count = 0; count < 10; count += 1) bench.add('w', 'https://slow.example')
  bench.add('w', 'https://fast.example')
  expect(bench.running.map(({ origin }) => new URL(origin).hostname)).toEqual([
    'slow.example',
    'slow.example',
    'fast.example',
  ])
})

test('every poll gets its turn once, and no limit is exceeded', async () => {
  const poll = fc.tuple(fc.constantFrom('a', 'b', 'c'), fc.constantFrom('x', 'y', 'z'))
  const run = fc.record({
    polls: fc.array(poll, { maxLength: 60 }),
    ends: fc.infiniteStream(fc.nat(1_000)),
    total: fc.integer({ min: 1, max: 8 }),
    perOrigin: fc.integer({ min: 1, max: 3 }),
  })
  await fc.assert(
    fc.asyncProperty(run, async ({ polls, ends, total, perOrigin }) => {
      const bench = new Bench({ total, perOrigin })
      const wanted = [...polls]
      while (wanted.length > 0 || bench.running.length > 0) {
        const [step] = ends
        const isAdding = wanted.length > 0 && (bench.running.length === 0 || (step ?? 0) % 2 === 0)
        if (isAdding) bench.add(...wanted.shift()!)
        else await bench.endOne(step)
        expect(bench.running.length).toBeLessThanOrEqual(total)
        for (const one of ['x', 'y', 'z']) {
          expect(bench.running.filter(({ origin }) => origin === one).length).toBeLessThanOrEqual(perOrigin)
        }
      }
      expect(bench.begun.length).toBe(polls.length)
    }),
    { numRuns: 200 },
  )
})
