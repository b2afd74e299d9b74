import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../src/domain/errors.ts'
import { BodyBudget } from '../../../src/http/requests/body-budget.ts'

const limit = { max: 1_000, setting: 'MILLRACE_BODIES_BYTES_MAX' }
const request = () => new Request('http://localhost/')

describe('the memory for bodies', () => {
  test('is refused with a time to try again when other bodies fill it, and is free again after they end', () => {
    const budget = new BodyBudget(limit)
    const [first, second] = [request(), request()]
    budget.add(first, 900)
    let refusal: unknown
    try {
      budget.add(second, 200)
    } catch (error) {
      refusal = error
    }
    expect(refusal).toMatchObject({ code: 'OVERLOADED', retryAfterS: 2 })
    expect((refusal as AppError).message).toContain(limit.setting)
    budget.release(first)
    budget.add(second, 200)
    expect(budget.bytes).toBe(200)
  })

  test('never refuses the only body, because its own limits apply', () => {
    const budget = new BodyBudget(limit)
    const only = request()
    budget.add(only, 800)
    budget.add(only, 800)
    expect(budget.bytes).toBe(1_600)
  })

  test('counts values, because they cost more than their text', () => {
    const budget = new BodyBudget({ ...limit, max: 10_000 })
    const [first, second] = [request(), request()]
    budget.add(first, 100)
    budget.addValues(first, 80)
    budget.add(second, 100)
    expect(() => budget.addValues(second, 80)).toThrow(limit.setting)
  })

  test('is never filled by one visitor: others always find as much as the visitor holds', () => {
    const budget = new BodyBudget(limit)
    const send = (visitor?: string) => budget.add(request(), 100, visitor)
    for (let body = 0; body < 5; body += 1) send('10.0.0.1')
    expect(() => send('10.0.0.1')).toThrow(limit.setting)
    send('10.0.0.2')
    for (let body = 0; body < 4; body += 1) send()
    expect(() => send()).toThrow(limit.setting)
  })

  test('gives a visitor room again when a body ends, and tells how much is free', () => {
    const released: number[] = []
    const budget = new BodyBudget(limit, (bytes) => released.push(bytes))
    const bodies = Array.from({ length: 5 }, request)
    for (const body of bodies) budget.add(body, 100, '10.0.0.1')
    budget.release(bodies[0]!)
    budget.add(request(), 100, '10.0.0.1')
    expect(released).toEqual([100])
  })

  test('is never exceeded by several bodies, and is empty when all have ended', () => {
    const step = fc.record({ body: fc.nat(4), bytes: fc.integer({ min: 1, max: 600 }), ends: fc.boolean() })
    fc.assert(
      fc.property(fc.array(step), (steps) => {
        const budget = new BodyBudget(limit)
        const bodies = Array.from({ length: 5 }, request)
        const held: Record<number, number> = {}
        let largest = 0
        for (const { body, bytes, ends } of steps) {
          const wasEmpty = budget.bytes === 0
          held[body] ??= 0
          const isAlone = wasEmpty || budget.bytes === held[body]
          try {
            budget.add(bodies[body]!, bytes)
            held[body] += bytes
          } catch (error) {
            if (!(error instanceof AppError)) throw error
          }
          if (!isAlone) expect(budget.bytes).toBeLessThanOrEqual(Math.max(limit.max, largest))
          largest = Math.max(largest, budget.bytes)
          if (ends) held[body] = 0
          if (ends) budget.release(bodies[body]!)
        }
        for (const body of bodies) budget.release(body)
        expect(budget.bytes).toBe(0)
      }),
    )
  })
})
