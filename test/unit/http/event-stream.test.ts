import { expect, test } from 'bun:test'
import { EventStream } from '../../../src/http/streams/event-stream.ts'
import { ManualClock } from '../../support/clock.ts'

function streamOf(bytesWaitingMax = 1_000) {
  const clock = new ManualClock()
  let overflows = 0
  const stream = new EventStream({ clock, bytesWaitingMax, onOverflow: () => (overflows += 1) })
  return { clock, stream, body: stream, overflows: () => overflows }
}

test('waiting messages are sent together, in order, followed by the end', async () => {
  const { stream, body, clock } = streamOf()
  stream.message('{"a":1}')
  expect((await body.next()).value).toBe(': open\n\ndata: {"a":1}\n\n')
  const next = body.next()
  stream.message('[DONE]')
  stream.end()
  stream.message('too late')
  expect((await next).value).toBe('data: [DONE]\n\n')
  expect((await body.next()).done).toBe(true)
  expect(clock.pending).toBe(0)
})

test('a comment every 15 seconds keeps a silent connection open', async () => {
  const { stream, body, clock } = streamOf()
  await body.next()
  clock.advance(14_999)
  const next = body.next()
  clock.advance(1)
  expect((await next).value).toBe(': ping\n\n')
  clock.advance(30_000)
  expect((await body.next()).value).toBe(': ping\n\n: ping\n\n')
  stream.end()
  expect(clock.pending).toBe(0)
})

test('a reader that is too slow is reported once, and no message is kept for it', async () => {
  const { stream, body, clock, overflows } = streamOf(100)
  await body.next()
  stream.message('x'.repeat(80))
  expect(stream.isOverflown).toBe(false)
  stream.message('y'.repeat(80))
  stream.message('z')
  expect(stream.isOverflown).toBe(true)
  expect(overflows()).toBe(1)
  expect(clock.pending).toBe(0)
  // The terminator would claim that the stream was complete.
  expect(
    await body.next().then(
      () => 'more',
      () => 'broken',
    ),
  ).toBe('broken')
})

test('a message above the limit on waiting text reaches a reader for whom nothing else waits', async () => {
  const { stream, body, overflows } = streamOf(100)
  stream.message('x'.repeat(500))
  expect((await body.next()).value).toBe(`: open\n\ndata: ${'x'.repeat(500)}\n\n`)
  stream.message('y'.repeat(500))
  expect(stream.isOverflown).toBe(false)
  stream.message('z')
  expect([stream.isOverflown, overflows()]).toEqual([true, 1])
})

test('messages sent at the same time reach a fast reader as one chunk, whatever their size', async () => {
  const { stream, body, overflows } = streamOf(100)
  stream.message('a'.repeat(80))
  stream.message('b'.repeat(80))
  const early = await body.next()
  expect(early.value).toBe(`: open\n\ndata: ${'a'.repeat(80)}\n\ndata: ${'b'.repeat(80)}\n\n`)
  const next = body.next()
  stream.message('c'.repeat(80))
  stream.message('d'.repeat(80))
  expect((await next).value).toBe(`data: ${'c'.repeat(80)}\n\ndata: ${'d'.repeat(80)}\n\n`)
  // The reader has received one message and has not asked for another.
  stream.message('e'.repeat(80))
  stream.message('f'.repeat(80))
  expect([stream.isOverflown, overflows()]).toEqual([true, 1])
})

test('the last messages are accepted above the limit, and end the stream', async () => {
  const { stream, body, clock, overflows } = streamOf(100)
  stream.message('x'.repeat(80))
  stream.end('y'.repeat(500), '[DONE]')
  expect((await body.next()).value).toEndWith(`data: ${'y'.repeat(500)}\n\ndata: [DONE]\n\n`)
  expect((await body.next()).done).toBe(true)
  expect([stream.isOverflown, overflows(), clock.pending]).toEqual([false, 0, 0])
})

test('a reader who leaves does not count as slow', async () => {
  const { stream, body, clock, overflows } = streamOf(100)
  await body.next()
  await body.return()
  stream.message('x'.repeat(200))
  expect(stream.isOverflown).toBe(false)
  expect(overflows()).toBe(0)
  expect(clock.pending).toBe(0)
})

test('a reader with a limit on waiting messages gets a final message in their place', async () => {
  const clock = new ManualClock()
  let overflows = 0
  const onOverflow = () => (overflows += 1)
  const stream = new EventStream({
    clock,
    bytesWaitingMax: 1_000,
    messagesWaitingMax: 3,
    farewell: '"bye"',
    onOverflow,
  })
  const body = stream
  await body.next()
  for (const each of ['1', '2', '3']) stream.message(each)
  expect(stream.isOverflown).toBe(false)
  stream.message('4')
  stream.message('5')
  expect([stream.isOverflown, overflows]).toEqual([true, 1])
  expect((await body.next()).value).toBe('data: "bye"\n\n')
  expect((await body.next()).done).toBe(true)
  expect(clock.pending).toBe(0)
})
