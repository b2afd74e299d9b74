import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { hostProblem, hostsCover } from '../../../../src/domain/credential/hosts.ts'

const covers = (hosts: string[], url: string) => hostsCover(hosts, new URL(url))

describe('a credential', () => {
  test('is sent to the hosts it names, over https, at the default port', () => {
    expect(covers(['api.example.com'], 'https://api.example.com/x?y')).toBe(true)
    expect(covers(['other.example', 'API.Example.com'], 'https://api.EXAMPLE.com')).toBe(true)
    expect(covers(['api.example.com'], 'https://api.example.com:443')).toBe(true)
    expect(covers(['api.example.com:443'], 'https://api.example.com')).toBe(true)
    expect(covers(['api.example.com'], 'https://api.example.com.')).toBe(true)
    expect(covers(['bücher.example'], 'https://xn--bcher-kva.example')).toBe(true)
  })

  test.each([
    ['http://api.example.com', 'another scheme'],
    ['https://api.example.com:8443', 'another port'],
    ['https://example.com', 'the name above'],
    ['https://x.api.example.com', 'a name below'],
    ['https://api.example.com.evil.example', 'a longer name'],
    ['https://evilapi.example.com', 'a name that ends alike'],
    ['https://api.example.com@evil.example', 'a host behind user info'],
    ['https://evil.example/api.example.com', 'a path'],
    ['https://evil.example\\@api.example.com', 'a backslash'],
    ['https://evil.example#@api.example.com', 'a fragment'],
    ['https://api%2eexample.com.evil.example', 'an escaped dot'],
    ['ftp://api.example.com', 'a scheme without HTTP'],
  ])('is not sent to %s: %s', (url) => {
    expect(covers(['api.example.com'], url)).toBe(false)
  })

  test('is sent to every name below a wildcard, but not to the name itself', () => {
    const hosts = ['*.example.com']
    expect(covers(hosts, 'https://a.example.com')).toBe(true)
    expect(covers(hosts, 'https://a.b.example.com')).toBe(true)
    expect(covers(hosts, 'https://example.com')).toBe(false)
    expect(covers(hosts, 'https://badexample.com')).toBe(false)
    expect(covers(hosts, 'https://example.com.evil.example')).toBe(false)
    expect(covers(hosts, 'https://.example.com.evil.example')).toBe(false)
    expect(covers(['*.example.com:8443'], 'https://a.example.com:8443')).toBe(true)
  })

  test('goes over http only where an entry says so, and to local addresses', () => {
    expect(covers(['http://api.example.com'], 'http://api.example.com')).toBe(true)
    expect(covers(['http://api.example.com:8080'], 'http://api.example.com:8080')).toBe(true)
    expect(covers(['https://api.example.com'], 'http://api.example.com')).toBe(false)
    for (const host of ['localhost', '127.0.0.1', '[::1]', '10.1.2.3', '192.168.0.9', '172.16.0.1', '[fd00::1]']) {
      expect(covers([`${host}:8080`], `http://${host}:8080`)).toBe(true)
    }
    for (const host of ['11.0.0.1', '172.32.0.1', '192.169.0.1', '[2001:db8::1]', 'localhost.evil.example']) {
      expect(covers([host], `http://${host}`)).toBe(false)
      expect(covers([host], `https://${host}`)).toBe(true)
    }
  })

  test('to be sent to an address is sent to no other one', () => {
    const number = fc.nat(255)
    const address = fc.tuple(number, number, number, number).map((parts) => parts.join('.'))
    fc.assert(
      fc.property(address, address, (named, other) => {
        expect(covers([named], `https://${other}`)).toBe(named === other)
      }),
    )
  })
})

test.each([
  '',
  '*',
  '*.',
  '*.com',
  '*.1.2.3.4',
  'a b',
  'a/b',
  'user@a',
  'a?b',
  'a#b',
  'ftp://a',
  'a:99999',
  'https://',
  'a..*',
])('%s is not a host', (entry) => {
  expect(hostProblem(entry)).toContain('not a valid host')
})
