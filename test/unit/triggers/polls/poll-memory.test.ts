import { expect, test } from 'bun:test'
import { hashOfItem } from '../../../../src/domain/poll/item-hash.ts'
import type { ScheduleRule } from '../../../../src/domain/schedule/schedule.ts'
import { divide, memoryOf, stateOf } from '../../../../src/triggers/polls/poll-memory.ts'
import { dueAfterFailure } from '../../../../src/triggers/polls/poll-times.ts'

const items = (...names: string[]) => names.map((item) => ({ hash: hashOfItem(item), item }))
const names = (list: readonly { item: unknown }[]) => list.map(({ item }) => item)
const seen = (...known: string[]) => new Set(known.map(hashOfItem))

test('new items start runs from the last one of the list to the first', () => {
  const { known, starts } = divide(items('d', 'c', 'b', 'a'), seen('b', 'a'), undefined)
  expect(names(starts)).toEqual(['c', 'd'])
  expect(known).toEqual(['a', 'b'].map(hashOfItem))
})

test('the first poll starts nothing, everything, or the newest item', () => {
  const list = items('c', 'b', 'a')
  expect(names(divide(list, seen(), 'skip').starts)).toEqual([])
  expect(divide(list, seen(), 'skip').known).toHaveLength(3)
  expect(names(divide(list, seen(), 'all').starts)).toEqual(['a', 'b', 'c'])
  expect(names(divide(list, seen(), 'latest').starts)).toEqual(['c'])
  // A first poll that was cut short goes on with the rest.
  expect(names(divide(list, seen('a'), 'all').starts)).toEqual(['b', 'c'])
})

test('the state of a poll is read as it was written, and any other text is none', () => {
  const state = stateOf({ etag: '"x"', lastModified: 'yesterday' }, items('a'))
  expect(memoryOf(state)).toEqual({
    validators: { etag: '"x"', lastModified: 'yesterday' },
    listed: expect.any(String),
  })
  expect(memoryOf(stateOf({}, items('b')))?.listed).not.toBe(memoryOf(state)?.listed)
  for (const text of [null, '', '{', 'null', '[]', '{"validators":{}}', '{"listed":"x"}']) {
    expect(memoryOf(text)).toBeUndefined()
  }
})

test('a poll that fails waits longer each time, up to an hour, and as long as the service asks for', () => {
  const rule: ScheduleRule = {
    ...{ cron: null, intervalMs: 60_000, timezone: 'UTC', startAt: null, endAt: null },
    ...({ overlap: 'allow', missed: 'once', missedMax: 1, jitterMs: 0 } as const),
  }
  const after = (failures: number, more: { random?: number; retryAfter?: string } = {}) =>
    dueAfterFailure({ rule, failures }, { now: 0, random: 0.5, retryAfter: undefined, ...more })
  expect([1, 2, 3, 7, 100].map((failures) => after(failures))).toEqual([60_000, 120_000, 240_000, 3_600_000, 3_600_000])
  expect(after(1, { random: 0 })).toBe(45_000)
  expect(after(1, { retryAfter: '7200' })).toBe(7_200_000)
  expect(after(1, { retryAfter: '99999999' })).toBe(86_400_000)
  expect(after(1, { retryAfter: 'nonsense' })).toBe(60_000)
  // A poll that is due once a day is tried again sooner.
  const daily = { ...rule, cron: '0 9 * * *', intervalMs: null }
  expect(dueAfterFailure({ rule: daily, failures: 1 }, { now: 0, random: 0.5, retryAfter: undefined })).toBe(60_000)
  expect(dueAfterFailure({ rule: null, failures: 1 }, { now: 0, random: 0.5, retryAfter: undefined })).toBeNull()
})
