import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { generateKey, hashKey, isKeyShaped, KeyCache } from '../../../src/accounts/keys.ts'
import type { KeyRow } from '../../../src/store/account-store.ts'
import { ManualClock } from '../../support/clock.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const alphabet = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

describe('a key', () => {
  test('has its format, is unique, and is recognised', () => {
    const keys = Array.from({ length: 200 }, () => generateKey())
    for (const { text, hash, lastFour } of keys) {
      expect(text).toMatch(/^mrk_[0-9A-Za-z]{36}$/)
      expect(isKeyShaped(text)).toBe(true)
      expect(lastFour).toBe(text.slice(36))
      expect(hash).toEqual(new Uint8Array(new Bun.CryptoHasher('sha256').update(text).digest()))
    }
    expect(new Set(keys.map(({ text }) => text)).size).toBe(keys.length)
  })

  test('uses every character equally often', () => {
    const counts = new Map<string, number>()
    for (let n = 0; n < 3_000; n += 1) {
      for (const digit of generateKey().text.slice(4, 34)) counts.set(digit, (counts.get(digit) ?? 0) + 1)
    }
    expect(counts.size).toBe(62)
    // 1,452 each, standard deviation 38. Without the limit of 248, the first eight would occur 340 times more often.
    for (const count of counts.values()) expect(Math.abs(count - 1_452)).toBeLessThan(230)
  })

  test('with one character changed, missing, added or swapped is not a key', () => {
    const character = fc.constantFrom(...alphabet)
    fc.assert(
      fc.property(fc.integer({ min: 4, max: 39 }), character, (at, other) => {
        const { text } = generateKey()
        const changed = text.slice(0, at) + other + text.slice(at + 1)
        expect(isKeyShaped(changed)).toBe(changed === text)
        expect(isKeyShaped(text.slice(0, at) + text.slice(at + 1))).toBe(false)
        expect(isKeyShaped(text.slice(0, at) + other + text.slice(at))).toBe(false)
        const swapped = text.slice(0, at - 1) + text[at] + text[at - 1] + text.slice(at + 1)
        expect(at > 4 ? isKeyShaped(swapped) : false).toBe(at > 4 && swapped === text)
      }),
    )
  })

  test('is not confused with other texts', () => {
    fc.assert(fc.property(fc.string({ unit: 'binary' }), (text) => expect(isKeyShaped(text)).toBe(false)))
    const { text } = generateKey()
    for (const other of [` ${text}`, `${text}\n`, text.toUpperCase(), text.replace('mrk_', 'sk__'), '']) {
      expect(isKeyShaped(other)).toBe(false)
    }
  })
})

/** A cache over a table of keys that a test changes like another process. */
function world(options: { entriesMax?: number } = {}) {
  const clock = new ManualClock()
  const rows = new Map<string, KeyRow>()
  const queries: string[] = []
  let gate: PromiseWithResolvers<void> | undefined
  let failure: Error | undefined
  const cache = new KeyCache({
    clock,
    ...options,
    async findKey(hash) {
      const digest = hash.toHex()
      queries.push(digest)
      const found = rows.get(digest)
      await gate?.promise
      if (failure) throw failure
      return found
    },
  })
  return {
    clock,
    queries,
    cache,
    rows,
    add(more: Partial<KeyRow> = {}) {
      const { text, lastFour } = generateKey()
      const row: KeyRow = {
        ...{ id: text.slice(4, 9), lastFour, name: 'k', userId: 'u', workspaceId: null, createdAt: 0, expiresAt: null },
        ...{ revokedAt: null, lastUsedAt: null, roles: {} },
        ...more,
      }
      rows.set(hashKey(text).toHex(), row)
      return { text, row }
    },
    revoke(text: string) {
      const digest = hashKey(text).toHex()
      rows.set(digest, { ...rows.get(digest)!, revokedAt: clock.now() })
    },
    hold() {
      const held = Promise.withResolvers<void>()
      gate = held
      return () => {
        gate = undefined
        held.resolve()
      }
    },
    fail(error: Error | undefined) {
      failure = error
    },
  }
}

describe('looking up a key', () => {
  test('queries once, then returns immediately', async () => {
    const { cache, add, queries } = world()
    const { text, row } = add()
    expect(await cache.lookUp(text)).toEqual(row)
    expect(cache.lookUp(text)).toEqual(row)
    expect(queries).toHaveLength(1)
  })

  test('finds nothing for an unknown, revoked or expired key', async () => {
    const { cache, clock, add } = world()
    expect(await cache.lookUp(generateKey().text)).toBeUndefined()
    expect(await cache.lookUp(add({ revokedAt: 1 }).text)).toBeUndefined()
    const { text, row } = add({ expiresAt: clock.now() + 1_000 })
    expect(await cache.lookUp(text)).toEqual(row)
    clock.advance(999)
    expect(cache.lookUp(text)).toEqual(row)
    clock.advance(1)
    expect(cache.lookUp(text)).toBeUndefined()
  })

  test('does not query for a wrong checksum or any other text', () => {
    const { cache, queries } = world()
    const { text } = generateKey()
    const typo = `${text.slice(0, -1)}${text.endsWith('x') ? 'y' : 'x'}`
    for (const garbage of ['', 'hello', typo, 'x'.repeat(40), 'x'.repeat(10_000)]) {
      expect(cache.lookUp(garbage)).toBe('malformed')
    }
    expect(queries).toHaveLength(0)
  })

  test('shares one query between concurrent callers', async () => {
    const { cache, add, queries, hold } = world()
    const { text, row } = add()
    const release = hold()
    const responses = Array.from({ length: 50 }, () => cache.lookUp(text))
    release()
    expect(await Promise.all(responses)).toEqual(Array.from({ length: 50 }, () => row))
    expect(queries).toHaveLength(1)
  })

  test('fails within 5 s of a revocation by another process, whether busy or idle', async () => {
    const step = fc.integer({ min: 1, max: 2_500 })
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), fc.nat(20), async (steps, revokedAfter) => {
        const { cache, clock, add, revoke } = world()
        const { text } = add()
        let revokedAt: number | undefined
        for (const [index, ms] of [...steps, 100, 4_900].entries()) {
          clock.advance(ms)
          if (index === Math.min(revokedAfter, steps.length)) {
            revoke(text)
            revokedAt = clock.monotonic()
          }
          const response = await cache.lookUp(text)
          if (revokedAt === undefined) expect(response).toBeDefined()
          else if (clock.monotonic() - revokedAt >= 5_000) expect(response).toBeUndefined()
        }
        expect(await cache.lookUp(text)).toBeUndefined()
      }),
    )
  })

  test('never waits for the store while the key is in use', async () => {
    const { cache, clock, add, queries } = world()
    const { text, row } = add()
    await cache.lookUp(text)
    for (let n = 0; n < 100; n += 1) {
      clock.advance(500)
      expect(cache.lookUp(text)).toEqual(row)
      await Promise.resolve()
      await new Promise((resolve) => setImmediate(resolve))
    }
    expect(queries.length).toBeGreaterThan(10)
    expect(queries.length).toBeLessThan(25)
  })

  test('survives a short failure of the store, and reports a longer one', async () => {
    const { cache, clock, add, fail } = world()
    const { text, row } = add()
    await cache.lookUp(text)
    fail(new Error('The disk failed'))
    clock.advance(4_000)
    expect(cache.lookUp(text)).toEqual(row)
    await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
    expect(await rejectionOf(Promise.resolve(cache.lookUp(text)))).toMatchObject({ message: 'The disk failed' })
    fail(undefined)
    expect(await cache.lookUp(text)).toEqual(row)
  })

  test('queries an unknown key at most once a second', async () => {
    const { cache, clock, queries } = world()
    const { text } = generateKey()
    for (let n = 0; n < 100; n += 1) expect(await cache.lookUp(text)).toBeUndefined()
    expect(queries).toHaveLength(1)
    clock.advance(1_000)
    await cache.lookUp(text)
    expect(queries).toHaveLength(2)
  })

  test('remembers a limited number, and keeps keys in use longest', async () => {
    const { cache, clock, add, queries } = world({ entriesMax: 3 })
    const keys = Array.from({ length: 4 }, () => add())
    for (const { text } of keys) await cache.lookUp(text)
    expect(queries).toHaveLength(4)
    expect(cache.lookUp(keys[3]!.text)).toEqual(keys[3]!.row)
    expect(await cache.lookUp(keys[0]!.text)).toEqual(keys[0]!.row)
    expect(queries).toHaveLength(5)
    clock.advance(1)
    // Unknown texts evict unknown texts, not keys.
    for (let n = 0; n < 10; n += 1) await cache.lookUp(generateKey().text)
    expect(cache.lookUp(keys[3]!.text)).toEqual(keys[3]!.row)
  })

  test('is rejected when too many are pending', async () => {
    const { cache, hold } = world()
    const release = hold()
    const asked = Array.from({ length: 1_000 }, () => cache.lookUp(generateKey().text))
    const error = await rejectionOf(Promise.resolve(cache.lookUp(generateKey().text)))
    expect(error).toMatchObject({ code: 'OVERLOADED' })
    release()
    await Promise.all(asked)
    expect(await cache.lookUp(generateKey().text)).toBeUndefined()
  })
})
