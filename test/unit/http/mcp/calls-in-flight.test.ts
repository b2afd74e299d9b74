import { describe, expect, test } from 'bun:test'
import { CallsInFlight, callIdOf, questionsMax } from '../../../../src/http/routes/mcp/calls-in-flight.ts'
import type { Elicited } from '../../../../src/http/routes/mcp/elicitation.ts'

const key = { keyId: 'k1', session: 's1', id: 1, workspaceId: 'w1' }
const yes: Elicited = { action: 'accept', content: {} }

describe('calls in flight', () => {
  test('are cancelled by their key, session and ID', async () => {
    const calls = new CallsInFlight(4)
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
    const calls = new CallsInFlight(4)
    const id = callIdOf(key)
    const asking = calls.run(key, async ({ answerTo }) => await answerTo('q'))
    const no: Elicited = { action: 'decline', content: {} }
    expect(calls.answer(id, { keyId: 'k2', question: 'q', given: no })).toBe(false)
    expect(calls.answer(id, { keyId: 'k1', question: 'other', given: no })).toBe(true)
    expect(calls.answer(id, { keyId: 'k1', question: 'q', given: yes })).toBe(true)
    expect(calls.answer(id, { keyId: 'k1', question: 'q', given: no })).toBe(true)
    expect(await asking).toEqual(yes)
  })

  test('wait for a limited number of answers at a time, of which each workspace has a fair share', async () => {
    const calls = new CallsInFlight(4)
    const ended = Promise.withResolvers<void>()
    let asked = 0
    const ask = (workspaceId: string) =>
      calls.run({ ...key, workspaceId, session: `s${asked++}` }, async ({ answerTo }) => {
        const answer = answerTo('q')
        await ended.promise
        return answer !== undefined
      })
    const many = Array.from({ length: questionsMax }, () => ask('w1'))
    const others = Array.from({ length: 20 }, () => ask('w2'))
    const newcomer = ask('w3')
    ended.resolve()
    const taken = (await Promise.all(many)).filter(Boolean)
    expect(taken).toHaveLength(400)
    expect([await newcomer, ...(await Promise.all(others))]).toEqual(Array.from({ length: 21 }, () => true))
    // The questions of ended calls do not count any more.
    const later = await Promise.all(Array.from({ length: questionsMax }, () => ask('w2')))
    expect(later.filter(Boolean)).toHaveLength(400)
  })

  test('give their place to others once they have an answer', async () => {
    const calls = new CallsInFlight(4)
    let free = 0
    await calls.run(key, async ({ id, answerTo }) => {
      while (answerTo(free)) free += 1
      expect(calls.answer(id, { keyId: 'k1', question: 0, given: yes })).toBe(true)
      expect([answerTo('more') !== undefined, answerTo('too many')]).toEqual([true, undefined])
    })
    expect(free).toBe(400)
  })
})
