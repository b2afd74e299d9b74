import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { AnswerHeaders } from '../../src/http/answer-headers.ts'

const names = ['x-request-id', 'x-execution-id', 'content-type', 'x-ratelimit-remaining', 'location']
const anyValues = fc.dictionary(fc.constantFrom(...names), fc.constantFrom('', 'a', 'b', 'c'))

test('each answer has its own headers and none of another one, whatever came before', () => {
  fc.assert(
    fc.property(fc.array(anyValues, { maxLength: 20 }), (answers) => {
      const headers = new AnswerHeaders()
      const made = answers.map((values) => new Response('', { headers: headers.of(values) }))
      for (const [index, values] of answers.entries()) {
        expect(Object.fromEntries(made[index]!.headers)).toEqual({ ...values })
      }
    }),
  )
})

test('nothing of an answer with a header that HTTP cannot carry stands in the next one', () => {
  const headers = new AnswerHeaders()
  const values = { 'x-request-id': 'one', 'content-type': 'text/plain' }
  new Response('', { headers: headers.of(values) })
  expect(() => headers.of({ 'x-request-id': 'two', 'content-type': 'a\nb' })).toThrow()
  expect(Object.fromEntries(new Response('', { headers: headers.of(values) }).headers)).toEqual(values)
})
