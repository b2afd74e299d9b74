import { expect, test } from 'bun:test'
import { RunBus } from '../../../src/events/bus.ts'
import { liveStream } from '../../../src/http/streams/live-stream.ts'
import { ManualClock } from '../../support/clock.ts'

function watching(signal: AbortSignal, mayWatch = async () => true) {
  const bus = new RunBus({ observe: () => false, watchersMax: 10, shareFactor: 4 })
  const clock = new ManualClock()
  const run = { executionId: 'run-1', workspaceId: 'ws' }
  const observer = bus.open(run)
  const watch = (executionId: string) =>
    liveStream({ clock, signal, headers: {}, mayWatch, watch: (watcher) => bus.watch(executionId, watcher) })
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

test('the stream breaks off within seconds after the reader lost the right to watch', async () => {
  let answer: () => Promise<boolean> = async () => true
  const { bus, clock, watch } = watching(new AbortController().signal, () => answer())
  const text = watch('run-1')?.text()
  const pass = async (ms: number) => {
    for (let passed = 0; passed < ms; passed += 2_000) {
      clock.advance(2_000)
      await Bun.sleep(0)
    }
  }
  await pass(60_000)
  expect(bus.watchers).toBe(1)
  answer = () => Promise.reject(new Error('The disk is busy'))
  await pass(10_000)
  expect(bus.watchers).toBe(1)
  answer = async () => false
  await pass(2_000)
  expect(await text).not.toContain('[DONE]')
  expect([bus.watchers, clock.pending]).toEqual([0, 0])
})

test('a reader who leaves leaves no timer behind', async () => {
  const caller = new AbortController()
  const { clock, watch } = watching(caller.signal)
  const reader = watch('run-1')?.body?.getReader()
  caller.abort()
  await reader?.cancel()
  expect(clock.pending).toBe(0)
})
