import { expect, test } from 'bun:test'
import { EventNotes } from '../../../src/alerts/event-notes.ts'
import type { NewEvent } from '../../../src/store/alerts/alert-store.ts'
import { ManualClock } from '../../support/clock.ts'

test('refused starts of a workflow are one event a minute, and a failure to note one is reported', async () => {
  const clock = new ManualClock()
  const noted: Partial<NewEvent>[] = []
  const failures: unknown[] = []
  let isDown = false
  const noteEvent = async (event: Partial<NewEvent>) => {
    if (isDown) throw new Error('down')
    noted.push(event)
  }
  const store = { noteEvent, noteEventEverywhere: noteEvent }
  const events = new EventNotes({ store, clock, onFailure: (cause) => failures.push(cause) })
  for (let count = 0; count < 100; count += 1) {
    events.limitReached('a')
    events.limitReached('b')
  }
  expect(noted.map(({ workflowId }) => workflowId)).toEqual(['a', 'b'])
  await clock.advance(60_000)
  events.limitReached('a')
  events.backupFailed()
  expect(noted.map(({ type }) => type).slice(2)).toEqual(['limit.reached', 'backup.overdue'])
  isDown = true
  events.backupFailed()
  await events.settled()
  expect(failures).toHaveLength(1)
})

test('refused starts are one event a minute, and those that an event has caused are another one', async () => {
  const clock = new ManualClock(1_000_000)
  const noted: NewEvent[] = []
  const notes = new EventNotes({
    store: { noteEvent: async (event) => void noted.push(event), noteEventEverywhere: async () => {} },
    clock,
    onFailure: (cause) => {
      throw cause
    },
  })
  for (const executionId of ['first', 'second', undefined, undefined]) notes.limitReached('orders', executionId)
  clock.advance(60_000)
  notes.limitReached('orders', 'third')
  await notes.settled()
  expect(noted.map(({ executionId }) => executionId)).toEqual(['first', undefined, 'third'])
})
