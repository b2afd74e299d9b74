import { expect, test } from 'bun:test'
import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { TextTap } from '../../src/models/text-tap.ts'

const piece = (delta: object, more: object = {}) => ({
  id: 'c',
  choices: [{ index: 0, delta, finish_reason: null }],
  ...more,
})

const text = fc.string({ unit: 'grapheme', minLength: 1 })
const pieces = text.map((content) => ({
  data: JSON.stringify(piece({ content, role: 'assistant', refusal: null })),
  content,
}))
const others = fc
  .oneof(
    fc.constantFrom(
      '[DONE]',
      '5',
      '{"broken',
      'two\nlines',
      '{"choices":[]}',
      '{"choices":[null]}',
      '{"error":{"message":"no"}}',
    ),
    fc
      .constantFrom(
        piece({ content: '' }),
        piece({ role: 'assistant', content: null }),
        piece({ reasoning_content: 'hm' }),
        piece({ content: 'x', tool_calls: [{ index: 0 }] }),
        piece({ content: 'x' }, { usage: { prompt_tokens: 1 } }),
        { choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] },
        { choices: [{ delta: { content: 'x' } }, { delta: { content: 'y' } }] },
      )
      .map((value) => JSON.stringify(value)),
  )
  .map((data) => ({ data, content: undefined }))

/** What a reader of the stream gets. */
function eventsIn(bytes: readonly Uint8Array[]): string[] {
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  parser.feed(Buffer.concat(bytes).toString())
  return events
}

test('takes the text and leaves every other event as it is, however the stream is cut', () => {
  const stream = fc.array(fc.oneof(pieces, others), { maxLength: 20 })
  fc.assert(
    fc.property(stream, fc.array(fc.nat({ max: 200 })), fc.constantFrom('\n', '\r\n'), (events, cuts, lineEnd) => {
      const written = events.map(({ data }) => `data: ${data.replaceAll('\n', `${lineEnd}data: `)}${lineEnd}${lineEnd}`)
      const bytes = Buffer.from(`: open${lineEnd}${lineEnd}${written.join('')}`)
      const taken: string[] = []
      const rest: Uint8Array[] = []
      const tap = new TextTap((each) => taken.push(each))
      let at = 0
      for (const length of [...cuts, bytes.length]) {
        const left = tap.push(bytes.subarray(at, at + length))
        if (left) rest.push(left)
        at += length
      }
      const waiting = tap.end()
      if (waiting) rest.push(waiting)
      expect(taken).toEqual(events.flatMap(({ content }) => content ?? []))
      expect(eventsIn(rest)).toEqual(events.filter(({ content }) => content === undefined).map(({ data }) => data))
    }),
  )
})

test('keeps events that say nothing back until another one comes', () => {
  const tap = new TextTap(() => {})
  const said = (value: object) => eventsIn([tap.push(Buffer.from(`data: ${JSON.stringify(value)}\n\n`)) ?? Buffer.of()])
  const [opening, call] = [piece({ role: 'assistant', content: '' }), piece({ tool_calls: [{ index: 0 }] })]
  expect(said(opening)).toEqual([])
  expect(said(piece({ content: 'text' }))).toEqual([])
  expect(said(call)).toEqual([JSON.stringify(opening), JSON.stringify(call)])
  expect(tap.end()).toBeUndefined()
})
