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
    fc.constantFrom('5', '{"broken', 'two\nlines', '{"error":{"message":"no"}}'),
    fc
      .constantFrom(
        piece({ reasoning_content: 'hm' }),
        piece({ content: 'x', tool_calls: [{ index: 0 }] }),
        piece({ content: 'x' }, { usage: { prompt_tokens: 1 } }),
        { choices: [{ delta: { content: 'x' }, finish_reason: 'stop' }] },
        { choices: [{ delta: { content: 'x' } }, { delta: { content: 'y' } }] },
      )
      .map((value) => JSON.stringify(value)),
  )
  .map((data) => ({ data, content: undefined }))

const silent = fc
  .constantFrom(
    { choices: [] },
    { choices: [null] },
    piece({ content: '' }),
    piece({ role: 'assistant', content: null, tool_calls: null }),
  )
  .map((value) => ({ data: JSON.stringify(value), content: '' }))

/** What a reader of the stream gets. */
function eventsIn(bytes: readonly Uint8Array[]): string[] {
  const events: string[] = []
  const parser = createParser({ onEvent: ({ data }) => void events.push(data) })
  parser.feed(Buffer.concat(bytes).toString())
  return events
}

test('takes the text, leaves out what says nothing, and leaves every other event as it is, however the stream is cut', () => {
  const stream = fc.array(fc.oneof(pieces, others, silent), { maxLength: 20 })
  fc.assert(
    fc.property(
      stream,
      fc.array(fc.nat({ max: 200 })),
      fc.constantFrom('\n', '\r\n', '\r'),
      (events, cuts, lineEnd) => {
        const written = events.map(
          ({ data }) => `data: ${data.replaceAll('\n', `${lineEnd}data: `)}${lineEnd}${lineEnd}`,
        )
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
        const leftWithText = events.findIndex(({ data, content }) => content === undefined && data.includes('"x"'))
        const last = leftWithText < 0 ? events.length : leftWithText
        const isTaken = events.map(({ content }, index) => content !== undefined && index < last)
        expect(taken).toEqual(events.flatMap(({ content }, index) => (isTaken[index] && content) || []))
        expect(eventsIn(rest)).toEqual(events.filter((_, index) => !isTaken[index]).map(({ data }) => data))
      },
    ),
  )
})

test('of an answer that says it is done nothing more is taken, and what it told of tokens is known', () => {
  const events = [
    JSON.stringify(piece({ content: 'all' }, { usage: { prompt_tokens: 1, completion_tokens: 1 } })),
    JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 2, prompt_tokens_details: null } }),
    '[DONE]',
    JSON.stringify(piece({ content: 'more' })),
  ]
  const taken: string[] = []
  const tap = new TextTap((each) => taken.push(each))
  const left = tap.push(Buffer.from(events.map((data) => `data: ${data}\n\n`).join('')))
  expect(tap).toMatchObject({ isDone: true, tokens: { prompt: 3, cached: 0, completion: 2 } })
  expect(taken).toEqual([])
  expect(eventsIn(left ? [left] : [])).toEqual(events.slice(0, 2))
})
