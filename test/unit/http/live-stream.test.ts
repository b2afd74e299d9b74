import { expect, test } from 'bun:test'
import { RunBus } from '../../../src/events/bus.ts'
import { liveStream } from '../../../src/http/streams/live-stream.ts'
import { ManualClock } from '../../support/clock.ts'

function watching(signal: AbortSignal) {
  const bus = new RunBus({ observe: () => false, watchersMax: 10 })
  const clock = new ManualClock()
  const run = { executionId: 'run-1', workspaceId: 'ws' }
  const observer = bus.open(run)
  const watch = (executionId: string) =>
    liveStream({ clock, signal, headers: {}, watch: (watcher) => bus.watch(executionId, watcher) })
  return { bus, clock, observer, watch }
}

test('a reader who leaves, even before the stream starts, is removed from the watchers', async () => {
  const caller = new AbortController()
  const { bus, watch } = watching(caller.signal)
  expect(watch('run-1')).toBeInstanceOf(Response)
  expect(bus.watchers).toBe(1)
  caller.abort()
  expect(bus.watchers).toBe(0)
  watch('run-1')
  expect(bus.watchers).toBe(0)
})

test('a request for a run that is not in flight leaves nothing behind', () => {
  const { bus, clock, watch } = watching(new AbortController().signal)
  expect(watch('run-2')).toBeUndefined()
  expect([bus.watchers, clock.pending]).toEqual([0, 0])
})

test('the stream ends when the run ends', async () => {
  const { bus, clock, observer, watch } = watching(new AbortController().signal)
  const response = watch('run-1')
  observer.lost?.('The disk is full')
  expect(await response?.text()).toEndWith('data: [DONE]\n\n')
  expect([bus.watchers, bus.channels, clock.pending]).toEqual([0, 0, 0])
})
