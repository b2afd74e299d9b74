import { describe, expect, test } from 'bun:test'
import { CallsInFlight, callIdOf, questionsMax } from '../../../../src/http/routes/mcp/calls-in-flight.ts'
import type { Elicited } from '../../../../src/http/routes/mcp/elicitation.ts'

const key = { keyId: 'k1', session: 's1', id: 1 }
const yes: Elicited = { action: 'accept', content: {} }

describe('calls in flight', () => {
  test('are cancelled by their key, session and ID', async () => {
    const calls = new CallsInFlight()
    const ended = Promise.withResolvers<void>()
    const running = calls.run(key, async ({ signal }) => {
      await ended.promise
      return signal.aborted
    })
    for (const other of [{ keyId: 'k2' }, { session: 's2' }, { id: '1' }]) {
      expect(calls.cancel(callIdOf({ ...key, ...other }))).toBe(false)
    }
    expect(calls.cancel(callIdOf(key))).toBe(true)
    ended.resolve()
    expect([await running, calls.has(callIdOf(key))]).toEqual([true, false])
  })

  test('take the first answer to a question, of their own key', async () => {
    const calls = new CallsInFlight()
    const id = callIdOf(key)
    const asking = calls.run(key, async ({ answerTo }) => await answerTo('q'))
    const no: Elicited = { action: 'decline', content: {} }
    expect(calls.answer(id, { keyId: 'k2', question: 'q', given: no })).toBe(false)
    expect(calls.answer(id, { keyId: 'k1', question: 'other', given: no })).toBe(true)
    expect(calls.answer(id, { keyId: 'k1', question: 'q', given: yes })).toBe(true)
    expect(calls.answer(id, { keyId: 'k1', question: 'q', given: no })).toBe(true)
    expect(await asking).toEqual(yes)
  })

  test('ask a limited number of questions at a time', async () => {
    const calls = new CallsInFlight()
    const ended = Promise.withResolvers<void>()
    const ask = (session: string) =>
      calls.run({ ...key, session }, async ({ answerTo }) => {
        const answer = answerTo('q')
        await ended.promise
        return answer !== undefined
      })
    const asking = Array.from({ length: questionsMax + 1 }, (_, n) => ask(`s${n}`))
    const late = asking.at(-1)
    ended.resolve()
    expect([await asking[0], await late]).toEqual([true, false])
    // The questions of ended calls do not count any more.
    expect(await ask('later')).toBe(true)
  })
})
