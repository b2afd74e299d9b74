import { expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import type { EndedAttempt } from '../../../src/domain/webhook/delivery.ts'
import { AttemptWriter } from '../../../src/events/attempt-writer.ts'
import { ManualClock } from '../../support/clock.ts'
import { endedAttempt } from '../../support/store/ended-attempt.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

/** A writer with a store that accepts groups when a test allows it. */
function world() {
  const clock = new ManualClock()
  const groups: number[][] = []
  let fails = (_group: readonly number[]): Error | undefined => undefined
  let held: PromiseWithResolvers<void> | undefined
  const writer = new AttemptWriter({
    clock,
    store: {
      async endAttempts(attempts: readonly EndedAttempt[]) {
        const group = attempts.map(({ delivery }) => delivery.sequence)
        groups.push(group)
        await held?.promise
        const error = fails(group)
        if (error) throw error
      },
    },
  })
  return {
    clock,
    groups,
    writer,
    write: (sequence: number) => writer.write(endedAttempt({ sequence, subscription: 1 }, outcome)),
    failWhen: (decide: typeof fails) => {
      fails = decide
    },
    hold: () => {
      held = Promise.withResolvers()
      return () => held?.resolve()
    },
  }
}

const outcome = { state: 'delivered' as const, dueAt: null }

test('attempts that end within some milliseconds are written together, in order', async () => {
  const { clock, groups, write } = world()
  const written = [write(1), write(2)]
  clock.advance(2)
  written.push(write(3))
  expect(groups).toEqual([])
  clock.advance(8)
  await Promise.all(written)
  expect(groups).toEqual([[1, 2, 3]])
  expect(clock.pending).toBe(0)
})

test('attempts that end during a commit form the next group', async () => {
  const { clock, groups, write, hold } = world()
  const release = hold()
  const first = write(1)
  clock.advance(10)
  const second = write(2)
  clock.advance(10)
  const third = write(3)
  expect(groups).toEqual([[1]])
  release()
  await first
  clock.advance(10)
  await Promise.all([second, third])
  expect(groups.flat()).toEqual([1, 2, 3])
})

test('a full group is written without waiting for the timer', async () => {
  const { clock, groups, write, writer } = world()
  const written = Array.from({ length: 1_200 }, (_, index) => write(index))
  expect(groups).toHaveLength(1)
  await writer.flush()
  await Promise.all(written)
  expect(groups.map(({ length }) => length)).toEqual([512, 512, 176])
  expect(clock.pending).toBe(0)
})

test('an outage rejects the whole group, an invalid attempt only itself', async () => {
  const { write, writer, failWhen } = world()
  failWhen(() => new AppError('STORAGE_UNAVAILABLE', 'The disk is full'))
  const refused = [write(1), write(2)].map(rejectionOf)
  await writer.flush()
  expect(await Promise.all(refused)).toMatchObject([{ code: 'STORAGE_UNAVAILABLE' }, { code: 'STORAGE_UNAVAILABLE' }])
  failWhen((group) => (group.includes(4) ? new Error('broken') : undefined))
  const [good, bad, other] = [write(3), rejectionOf(write(4)), write(5)]
  await writer.stop()
  await Promise.all([good, other])
  expect(await bad).toMatchObject({ message: 'broken' })
})
