import { describe, expect, test } from 'bun:test'
import { PeerSignatures } from '../../../../src/http/peers/peer-signature.ts'
import { ManualClock } from '../../../support/clock.ts'

const clock = new ManualClock(1_800_000_000_000)
const [one, two, foreign] = [1, 2, 3].map((byte) => new Uint8Array(32).fill(byte)) as [
  Uint8Array,
  Uint8Array,
  Uint8Array,
]
const withKeys = (...keys: Uint8Array[]) => new PeerSignatures({ keys: () => keys, clock })
const request = { method: 'GET', path: '/api/jobs/1?x=2', address: '192.0.2.7' }

describe('a signed request', () => {
  test('is recognised by a process with the same key, and tells the address of the caller', () => {
    expect(withKeys(one).verify(withKeys(one).sign(request), request)).toEqual({ address: '192.0.2.7' })
  })

  test('is recognised while a key is being replaced, in both directions', () => {
    expect(withKeys(one, two).verify(withKeys(two, one).sign(request), request)).toBeDefined()
    expect(withKeys(two, one).verify(withKeys(one, two).sign(request), request)).toBeDefined()
    expect(withKeys(one).verify(withKeys(two, one).sign(request), request)).toBeUndefined()
  })

  test('is accepted once', () => {
    const receiver = withKeys(one)
    const header = withKeys(one).sign(request)
    expect(receiver.verify(header, request)).toBeDefined()
    expect(receiver.verify(header, request)).toBeUndefined()
    clock.advance(59_000)
    expect(receiver.verify(header, request)).toBeUndefined()
  })

  test('is accepted for a minute, by a clock that is at most a minute off', () => {
    const header = withKeys(one).sign(request)
    clock.advance(60_000)
    expect(withKeys(one).verify(header, request)).toBeDefined()
    clock.advance(1)
    expect(withKeys(one).verify(header, request)).toBeUndefined()
    const ahead = new ManualClock(clock.now() + 60_001)
    const fromAhead = new PeerSignatures({ keys: () => [one], clock: ahead }).sign(request)
    expect(withKeys(one).verify(fromAhead, request)).toBeUndefined()
  })

  test('is refused with another method, path, query, address, time or nonce', () => {
    const header = withKeys(one).sign(request)
    const refused = (text: string, as = request) => withKeys(one).verify(text, as) === undefined
    expect(refused(header, { ...request, method: 'POST' })).toBe(true)
    expect(refused(header, { ...request, path: '/api/jobs/1?x=3' })).toBe(true)
    expect(refused(header, { ...request, path: '/api/jobs/2?x=2' })).toBe(true)
    const [time, nonce, address, signature] = header.split('.') as [string, string, string, string]
    expect(refused([Number(time) + 1, nonce, address, signature].join('.'))).toBe(true)
    expect(refused([time, crypto.randomUUID(), address, signature].join('.'))).toBe(true)
    const other = Buffer.from('192.0.2.8').toString('base64url')
    expect(refused([time, nonce, other, signature].join('.'))).toBe(true)
    expect(refused(header)).toBe(false)
  })

  test('is refused with a foreign key, without a key, and as junk', () => {
    expect(withKeys(one).verify(withKeys(foreign).sign(request), request)).toBeUndefined()
    expect(withKeys().verify(withKeys(one).sign(request), request)).toBeUndefined()
    for (const junk of ['', '.', '...', 'x'.repeat(100_000), `${withKeys(one).sign(request)}.`, '1.2.3.4']) {
      expect(withKeys(one).verify(junk, request)).toBeUndefined()
    }
  })
})
