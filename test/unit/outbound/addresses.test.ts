import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import {
  type AddressKind,
  canonicalAddress,
  canonicalHost,
  isAllowed,
  kindOf,
  parseAllowList,
  refusalOf,
} from '../../../src/outbound/addresses.ts'

const allowing = (...entries: string[]) => {
  const parsed = parseAllowList(entries)
  if (!parsed.ok) throw new Error(parsed.message)
  return parsed.allow
}

describe('the kind of an address', () => {
  const blocks: [kind: AddressKind, first: string, last: string][] = [
    ['reserved', '0.0.0.0', '0.255.255.255'],
    ['private', '10.0.0.0', '10.255.255.255'],
    ['reserved', '100.64.0.0', '100.127.255.255'],
    ['loopback', '127.0.0.0', '127.255.255.255'],
    ['reserved', '168.63.129.16', '168.63.129.16'],
    ['link-local', '169.254.0.0', '169.254.255.255'],
    ['private', '172.16.0.0', '172.31.255.255'],
    ['reserved', '192.0.0.0', '192.0.0.255'],
    ['reserved', '192.0.2.0', '192.0.2.255'],
    ['reserved', '192.88.99.0', '192.88.99.255'],
    ['private', '192.168.0.0', '192.168.255.255'],
    ['reserved', '198.18.0.0', '198.19.255.255'],
    ['reserved', '198.51.100.0', '198.51.100.255'],
    ['reserved', '203.0.113.0', '203.0.113.255'],
    ['reserved', '224.0.0.0', '255.255.255.255'],
  ]
  const numberOf = (address: string) => address.split('.').reduce((sum, part) => sum * 256 + Number(part), 0)
  const addressOf = (number: number) => [24, 16, 8, 0].map((shift) => Math.floor(number / 2 ** shift) % 256).join('.')
  const expectedKind = (number: number) =>
    blocks.find(([, first, last]) => numberOf(first) <= number && number <= numberOf(last))?.[0] ?? 'public'

  test('is known for the first and last address of every IPv4 block, and for those just outside', () => {
    for (const [, first, last] of blocks) {
      for (const number of [numberOf(first) - 1, numberOf(first), numberOf(last), numberOf(last) + 1]) {
        if (number < 0 || number >= 2 ** 32) continue
        expect([addressOf(number), kindOf(addressOf(number))]).toEqual([addressOf(number), expectedKind(number)])
      }
    }
  })

  test('is never public for IPv6 forms that translators turn into an internal IPv4 address', () => {
    const forms = [
      '::ffff:0:7f00:1',
      '::ffff:0:a00:1',
      '::5efe:7f00:1',
      '::5efe:a9fe:a9fe',
      'fe80::5efe:a00:1',
      '::7f00:1',
    ]
    for (const form of [...forms, '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::1', '2001:0:7f00:1::']) {
      expect([form, kindOf(form) === 'public']).toEqual([form, false])
    }
    for (const host of ['[::ffff:0:127.0.0.1]', '[::5efe:127.0.0.1]', '[::ffff:0:169.254.169.254]']) {
      const { hostname } = new URL(`http://${host}/`)
      expect([host, kindOf(hostname.slice(1, -1)) === 'public']).toEqual([host, false])
    }
  })

  test('is known for every IPv4 address, and is the same for the mapped IPv6 form', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: 2 ** 32 - 1 }), (number) => {
        const address = addressOf(number)
        const hex = number.toString(16).padStart(8, '0')
        const mapped = `::ffff:${hex.slice(0, 4)}:${hex.slice(4)}`
        for (const spelling of [
          address,
          `::ffff:${address}`,
          `::FFFF:${address}`,
          mapped,
          `0:0:0:0:0:${mapped.slice(2)}`,
        ])
          expect([spelling, kindOf(spelling)]).toEqual([spelling, expectedKind(number)])
      }),
    )
  })

  test.each([
    ['loopback', ['::1', '0:0:0:0:0:0:0:1', '::0001', '::1%lo']],
    ['private', ['fc00::', 'fdff:ffff::1', 'fd12:3456:789a::1']],
    ['link-local', ['fe80::1', 'fe80::1%eth0', 'febf:ffff::']],
    ['reserved', ['::', '::2', '::127.0.0.1', '::7f00:1', '64:ff9b::', '64:ff9b::7f00:1', '64:ff9b:1::1', '100::1']],
    ['reserved', ['2001::1', '2001:1ff:ffff::', '2001:db8::1', '2002:7f00:1::', '2002:a00:1::1', '3fff::1', '5f00::1']],
    // Outside of 2000::/3, for example what SIIT turns into an IPv4 address.
    ['reserved', ['::ffff:0:127.0.0.1', '1::1:7f00:1', '::5efe:127.0.0.1', '64:ff9c::', '1fff:ffff::1', '4000::1']],
    ['reserved', ['fec0::1', 'feff::', 'ff02::1', 'ff00::', 'ffff::', 'nonsense', '', '127.1', '1.2.3.4.5']],
    [
      'public',
      ['2606:4700:4700::1111', '2001:200::', '2001:4860:4860::8888', '2003::', '2400::', '3ffe::1', '8.8.8.8'],
    ],
  ] as [AddressKind, string[]][])('is %s for %p', (kind, addresses) => {
    for (const address of addresses) expect([address, kindOf(address)]).toEqual([address, kind])
  })
})

test('an address has one spelling', () => {
  expect(canonicalAddress('0:0:0:0:0:FFFF:7F00:1')).toBe('127.0.0.1')
  expect(canonicalAddress('::ffff:1.2.3.4')).toBe('1.2.3.4')
  expect(canonicalAddress('2001:DB8:0:0:0:0:0:1')).toBe('2001:db8::1')
  expect(canonicalAddress('fe80::1%eth0')).toBe('fe80::1')
  expect(canonicalAddress('example.com')).toBeUndefined()
})

test('a valid host has one spelling, and an invalid one has none', () => {
  expect(canonicalHost('ExAmple.COM..')).toBe('example.com')
  expect(canonicalHost('127.1..')).toBe('127.0.0.1')
  expect(canonicalHost('[::ffff:10.0.0.1]')).toBe('10.0.0.1')
  expect(canonicalHost('bücher.example')).toBe('xn--bcher-kva.example')
  for (const wrong of ['', '.', '..', 'a b', '[::1', '1.2.3.256']) expect(canonicalHost(wrong)).toBeUndefined()
})

describe('the allow list', () => {
  const refusedByDefault = [
    '127.0.0.1',
    '::1',
    '10.0.0.1',
    '192.168.1.1',
    '169.254.169.254',
    'fd00::1',
    '0.0.0.0',
    '::',
  ]

  test('allows only public addresses when it is empty', () => {
    const allow = allowing()
    for (const address of refusedByDefault) expect(isAllowed(allow, 'name.example', 80, address)).toBe(false)
    expect(isAllowed(allow, 'name.example', 80, '93.184.216.34')).toBe(true)
  })

  test('`loopback` and `private` allow those blocks in every spelling, and nothing else', () => {
    const opened = (allow: ReturnType<typeof allowing>) =>
      [...refusedByDefault, '::ffff:127.9.9.9', '::ffff:10.0.0.1'].filter((it) => isAllowed(allow, 'n.example', 80, it))
    expect(opened(allowing('loopback'))).toEqual(['127.0.0.1', '::1', '::ffff:127.9.9.9'])
    expect(opened(allowing('Private'))).toEqual(['10.0.0.1', '192.168.1.1', 'fd00::1', '::ffff:10.0.0.1'])
  })

  test('a CIDR block allows its addresses for every name and port', () => {
    const allow = allowing('10.1.0.0/16', 'fd00:1::/32', '::ffff:172.16.0.0/112', '169.254.169.254/32')
    for (const inside of ['10.1.255.255', 'fd00:1:2::3', '172.16.255.255', '::ffff:10.1.0.0', '169.254.169.254'])
      expect([inside, isAllowed(allow, 'n.example', 8080, inside)]).toEqual([inside, true])
    for (const outside of ['10.2.0.0', 'fd00:2::', '172.17.0.0', '169.254.169.253', '127.0.0.1'])
      expect([outside, isAllowed(allow, 'n.example', 8080, outside)]).toEqual([outside, false])
  })

  test('a host allows the addresses of exactly that host on every port, host:port only on that port', () => {
    const allow = allowing('internal.example', 'Db.example.:5432', '[fd00::1]:8080', '127.0.0.1:9000', '２.example')
    const opens = (host: string, port: number) => isAllowed(allow, host, port, '10.0.0.1')
    expect(opens('internal.example', 80)).toBe(true)
    expect(opens('internal.example', 9999)).toBe(true)
    expect(opens('db.example', 5432)).toBe(true)
    expect(opens('db.example', 5433)).toBe(false)
    expect(opens('x.internal.example', 80)).toBe(false)
    expect(opens('example', 80)).toBe(false)
    expect(opens('2.example', 80)).toBe(true)
    expect(isAllowed(allow, '[fd00::1]', 8080, 'fd00::1')).toBe(true)
    expect(isAllowed(allow, '[fd00::1]', 80, 'fd00::1')).toBe(false)
    expect(isAllowed(allow, '127.0.0.1', 9000, '127.0.0.1')).toBe(true)
    expect(isAllowed(allow, '127.0.0.1', 9001, '127.0.0.1')).toBe(false)
    expect(isAllowed(allow, 'other.example', 9000, '127.0.0.1')).toBe(false)
  })

  test('the message for an invalid entry names the entry and the valid forms', () => {
    const wrong = [
      '10.0.0.0/33',
      '10.0.0/8',
      'http://x.example',
      'x.example/path',
      '*.x.example',
      'x:0',
      'x:65536',
      'a b',
    ]
    for (const entry of [...wrong, '::1', '[::1', 'x:http', 'fd00::/129', '::ffff:1.2.3.4/95', '@x', '/8']) {
      const parsed = parseAllowList(['loopback', entry])
      if (parsed.ok) throw new Error(`${entry} was taken`)
      expect(parsed.message).toContain('MILLRACE_OUTBOUND_ALLOW')
      expect(parsed.message).toContain(`"${entry}"`)
    }
    expect(parseAllowList(['::1'])).toMatchObject({ message: expect.stringContaining('in brackets: [::1]') })
    expect(parseAllowList(['', ' '])).toMatchObject({ ok: true })
  })

  test('a refusal names the setting and the entries that allow the address, and each of them does', () => {
    for (const [host, address] of [
      ['localhost', '127.0.0.1'],
      ['nas.example', '10.0.0.1'],
      ['[fe80::1]', 'fe80::1'],
    ] as const) {
      const message = refusalOf(host, 8080, kindOf(address))
      const entry = /adds (\S+) to MILLRACE_OUTBOUND_ALLOW/.exec(message)?.[1]
      expect(isAllowed(allowing(entry!), host, 8080, address)).toBe(true)
      const wide = /\(or (\w+), for all/.exec(message)?.[1]
      expect(wide).toBe(({ localhost: 'loopback', 'nas.example': 'private' } as Record<string, string>)[host])
      if (wide) expect(isAllowed(allowing(wide), host, 8080, address)).toBe(true)
    }
  })
})
