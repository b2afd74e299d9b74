import { expect, test } from 'bun:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { EventData } from '../../src/models/event-data.ts'

/** What another's reader makes of it. */
function expected(text: string): string[] {
  const events: string[] = []
  createParser({ onEvent: ({ data }) => void events.push(data) }).feed(text)
  return events
}

test('reads an event stream as others do, however it is cut', () => {
  const line = fc.constantFrom(
    'data: a',
    'data:b',
    'data:  ü€😀',
    'data',
    'data:',
    'event: x',
    ': c',
    'id: 1',
    'date: d',
    '',
    '',
  )
  const end = fc.constantFrom('\n', '\r\n', '\r')
  const stream = fc.array(
    fc.tuple(line, end).map((parts) => parts.join('')),
    { maxLength: 30 },
  )
  fc.assert(
    fc.property(stream, fc.constantFrom('', '\ufeff'), fc.array(fc.nat({ max: 9 })), (lines, mark, cuts) => {
      // A CR at the very end may have its LF still to come: readers differ in whether they wait for it.
      const text = `${lines.join('')}: end\n`
      const bytes = Buffer.from(mark + text)
      const seen: string[] = []
      const events = new EventData((data) => seen.push(data))
      let at = 0
      for (const length of [...cuts, bytes.length]) {
        events.push(bytes.subarray(at, at + length))
        at += length
      }
      expect(seen).toEqual(expected(text))
    }),
    { numRuns: 500 },
  )
})

test('takes a line of 10 MB that comes in 10,000 pieces, and is not all day about it', () => {
  const piece = Buffer.from('0123456789'.repeat(100))
  let seen = ''
  const events = new EventData((data) => {
    seen = data
  })
  events.push(Buffer.from('data: '))
  for (let n = 0; n < 10_000; n += 1) events.push(piece)
  expect(seen).toBe('')
  events.push(Buffer.from('\n\n'))
  expect(seen === piece.toString().repeat(10_000)).toBe(true)
})
