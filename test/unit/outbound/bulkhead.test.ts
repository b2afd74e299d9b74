import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Bulkhead, type Concurrency, type Route, type Slot } from '../../../src/outbound/bulkhead.ts'

const never = new AbortController().signal

/** Lets everything that is ready continue. */
const settle = () => new Promise((resolve) => setImmediate(resolve))

/** A bulkhead of which one workspace may take `total` slots: the last one is always left to others. */
function bulkheadOf({ total, perOrigin, waiting }: Omit<Concurrency, 'shareFactor'>): Bulkhead {
  return new Bulkhead({ total: total + 1, perOrigin, waiting, shareFactor: 1000 })
}

/** A request of one workspace to the only origin of a host. */
const to = (host: string): Route => ({ workspace: 'w', host, origin: `https://${host}` })

/** Requests a slot and records the order in which slots are given. */
function line(bulkhead: Bulkhead) {
  const order: string[] = []
  const places = new Map<string, Slot>()
  const enter = (name: string, host: string) => {
    void bulkhead.acquire(to(host), never).then((place) => {
      order.push(name)
      places.set(name, place)
    })
  }
  return { order, places, enter }
}

describe('the bulkhead', () => {
  test('gives a free slot at once, up to the limit per host and the total limit', async () => {
    const bulkhead = bulkheadOf({ total: 3, perOrigin: 2, waiting: 10 })
    const { order, enter } = line(bulkhead)
    for (const [name, host] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['a3', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
    ] as const)
      enter(name, host)
    await settle()
    expect(order).toEqual(['a1', 'a2', 'b1'])
    expect([bulkhead.running, bulkhead.waiting]).toEqual([3, 2])
  })

  test('gives a free slot to the next host in turn, however many requests wait for another', async () => {
    const bulkhead = bulkheadOf({ total: 1, perOrigin: 1, waiting: 1000 })
    const { order, places, enter } = line(bulkhead)
    for (let index = 0; index < 300; index++) enter(`slow${index}`, 'slow')
    enter('other0', 'other')
    enter('other1', 'other')
    enter('third0', 'third')
    await settle()
    for (let step = 0; step < 6; step++) {
      places.get(order.at(-1)!)?.release()
      await settle()
    }
    expect(order).toEqual(['slow0', 'other0', 'third0', 'slow1', 'other1', 'slow2', 'slow3'])
  })

  test('skips a host that is at its own limit', async () => {
    const bulkhead = bulkheadOf({ total: 2, perOrigin: 1, waiting: 10 })
    const { order, places, enter } = line(bulkhead)
    for (const [name, host] of [
      ['a1', 'a'],
      ['a2', 'a'],
      ['b1', 'b'],
      ['c1', 'c'],
    ] as const)
      enter(name, host)
    await settle()
    places.get('b1')?.release()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'c1'])
    places.get('a1')?.release()
    await settle()
    expect(order).toEqual(['a1', 'b1', 'c1', 'a2'])
  })

  test('refuses requests above the limit of waiting ones, with a message', async () => {
    const bulkhead = bulkheadOf({ total: 1, perOrigin: 1, waiting: 1 })
    const { enter } = line(bulkhead)
    enter('a1', 'a')
    enter('a2', 'a')
    const refused = bulkhead.acquire(to('b'), never)
    expect(refused).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining('b was not called'),
    })
  })

  test('removes a waiting request that is cancelled, and continues with the next', async () => {
    const bulkhead = bulkheadOf({ total: 1, perOrigin: 1, waiting: 10 })
    const { order, places, enter } = line(bulkhead)
    enter('a1', 'a')
    const giving = new AbortController()
    const given = bulkhead.acquire(to('b'), giving.signal)
    enter('b2', 'b')
    const reason = new Error('enough')
    giving.abort(reason)
    expect(given).rejects.toBe(reason)
    expect(bulkhead.acquire(to('b'), giving.signal)).rejects.toBe(reason)
    await settle()
    places.get('a1')?.release()
    await settle()
    expect(order).toEqual(['a1', 'b2'])
  })

  test('counts a slot that is released twice only once', async () => {
    const bulkhead = bulkheadOf({ total: 1, perOrigin: 1, waiting: 10 })
    const place = await bulkhead.acquire(to('a'), never)
    place.release()
    place.release()
    expect(bulkhead.running).toBe(0)
    await bulkhead.acquire(to('a'), never)
    const { order, enter } = line(bulkhead)
    enter('late', 'b')
    await settle()
    expect(order).toEqual([])
  })

  test('keeps its limits, leaves no slot unused and serves every request, in any order of events', async () => {
    const steps = fc.array(
      fc.oneof(
        fc.record({ kind: fc.constant('enter' as const), host: fc.constantFrom('a', 'b', 'c', 'd') }),
        fc.record({ kind: fc.constant('leave' as const), pick: fc.nat() }),
        fc.record({ kind: fc.constant('give up' as const), pick: fc.nat() }),
      ),
      { maxLength: 80 },
    )
    await fc.assert(
      fc.asyncProperty(
        steps,
        fc.integer({ min: 1, max: 5 }),
        fc.integer({ min: 1, max: 3 }),
        async (list, total, perOrigin) => {
          const bulkhead = bulkheadOf({ total, perOrigin, waiting: 1000 })
          const inside: { host: string; place: Slot }[] = []
          const outside: { host: string; giving: AbortController }[] = []
          const check = () => {
            const of = (host: string) => inside.filter((one) => one.host === host).length
            expect(bulkhead.running).toBe(inside.length)
            expect(bulkhead.waiting).toBe(outside.length)
            expect(inside.length).toBeLessThanOrEqual(total)
            for (const host of ['a', 'b', 'c', 'd']) expect(of(host)).toBeLessThanOrEqual(perOrigin)
            // A slot is free only when no waiting request may have it.
            if (inside.length < total) for (const { host } of outside) expect(of(host)).toBe(perOrigin)
          }
          for (const step of list) {
            if (step.kind === 'enter') {
              const waiting = { host: step.host, giving: new AbortController() }
              outside.push(waiting)
              const out = () => outside.splice(outside.indexOf(waiting), 1)
              bulkhead.acquire(to(step.host), waiting.giving.signal).then(
                (place) => inside.push({ host: step.host, place }) && out(),
                () => out(),
              )
            } else if (step.kind === 'leave' && inside.length > 0) {
              inside.splice(step.pick % inside.length, 1)[0]?.place.release()
            } else if (step.kind === 'give up' && outside.length > 0)
              outside[step.pick % outside.length]?.giving.abort()
            await settle()
            check()
          }
          while (inside.length > 0) {
            inside.pop()?.place.release()
            await settle()
          }
          expect([bulkhead.running, bulkhead.waiting, bulkhead.workspaces, outside.length]).toEqual([0, 0, 0, 0])
        },
      ),
      { numRuns: 60 },
    )
  })

  test('gives a host name at most four times the slots of an origin, and each origin its own', async () => {
    const bulkhead = bulkheadOf({ total: 100, perOrigin: 2, waiting: 100 })
    const taken = Array.from({ length: 6 }, (_, port) => {
      const route = { workspace: 'w', host: 'a', origin: `http://a:${port}` }
      return [1, 2, 3].filter(() => bulkhead.take(route)).length
    })
    expect(taken).toEqual([2, 2, 2, 2, 0, 0])
    expect(bulkhead.take(to('b'))).toBeDefined()
  })

  test('a workspace that fills its share delays nobody else, and a free slot goes to the next workspace', async () => {
    const bulkhead = new Bulkhead({ total: 10, perOrigin: 10, waiting: 1000, shareFactor: 4 })
    const { order, places, enter } = line(bulkhead)
    for (let index = 0; index < 100; index++) enter(`w${index}`, `host${index}`)
    await settle()
    expect([bulkhead.running, bulkhead.waiting]).toEqual([8, 92])
    const other = { workspace: 'other', host: 'host0', origin: 'https://host0' }
    expect(bulkhead.take(other)).toBeDefined()
    const second = bulkhead.acquire(other, never)
    places.get('w0')?.release()
    expect(await second).toBeDefined()
    expect([bulkhead.running, bulkhead.waiting, order.length]).toEqual([9, 92, 8])
  })

  test('one workspace cannot take all the places for waiting requests', async () => {
    const bulkhead = new Bulkhead({ total: 1, perOrigin: 1, waiting: 10, shareFactor: 4 })
    const waits = Array.from({ length: 20 }, () => bulkhead.acquire(to('a'), never).catch(({ code }) => code))
    const other = bulkhead.acquire({ workspace: 'other', host: 'b', origin: 'https://b' }, never)
    expect(await Promise.race([other, Bun.sleep(20)])).toBeUndefined()
    expect(bulkhead.waiting).toBe(9)
    expect(await Promise.all(waits.slice(9))).toEqual(Array.from({ length: 11 }, () => 'CONNECTION_FAILED'))
  })
})

test('a lent slot goes to the next request, and as many slots are lent as there are', async () => {
  const bulkhead = bulkheadOf({ total: 1, perOrigin: 1, waiting: 10 })
  const { order, places, enter } = line(bulkhead)
  for (const name of ['a', 'b', 'c', 'd']) enter(name, 'host')
  await settle()
  for (const [name, next] of [
    ['a', 'b'],
    ['b', 'c'],
  ] as const) {
    places.get(name)?.lend()
    places.get(name)?.lend()
    await settle()
    expect(order.at(-1)).toBe(next)
  }
  // Two slots exist, and two are lent.
  places.get('c')?.lend()
  await settle()
  expect(order.at(-1)).toBe('c')
  places.get('a')?.release()
  places.get('a')?.release()
  places.get('c')?.lend()
  await settle()
  expect(order.at(-1)).toBe('d')
  for (const slot of places.values()) slot.release()
  expect([bulkhead.running, bulkhead.waiting, bulkhead.workspaces]).toEqual([0, 0, 0])
})
