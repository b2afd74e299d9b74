import { describe, expect, test } from 'bun:test'
import { clientAddress } from '../../../../src/http/access/client-address.ts'
import { parseNetworks } from '../../../../src/outbound/addresses.ts'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

function proxies(...entries: string[]): (address: string) => boolean {
  const outcome = parseNetworks(entries, 'SETTING')
  if (!outcome.ok) throw new Error(outcome.message)
  return outcome.has
}

describe('the address of a caller', () => {
  const isProxy = proxies('10.0.0.0/8', '192.0.2.9', '2001:db8:f::/48')

  test.each<[what: string, peer: string, forwarded: string | null, caller: string]>([
    ['is what the connection says when nobody stands in between', '198.51.100.1', null, '198.51.100.1'],
    ['is not what a caller claims without a proxy', '198.51.100.1', '203.0.113.5', '198.51.100.1'],
    ['is what a proxy says', '10.1.2.3', '203.0.113.5', '203.0.113.5'],
    ['is not what a caller has put in front', '10.1.2.3', '1.1.1.1, 203.0.113.5', '203.0.113.5'],
    ['is seen through several proxies', '::ffff:10.1.2.3', '203.0.113.5, 192.0.2.9,10.9.9.9', '203.0.113.5'],
    ['may have a port', '10.1.2.3', '203.0.113.5:4711', '203.0.113.5'],
    ['may be of IPv6', '2001:db8:f::1', '[2001:DB8:1:0::5]:443', '2001:db8:1::5'],
    ['is the last that is known when a proxy does not say', '10.1.2.3', 'unknown, 10.4.4.4', '10.4.4.4'],
    ['is the proxy when it calls itself', '10.1.2.3', '', '10.1.2.3'],
  ])('%s', (_what, peer, forwarded, caller) => {
    expect(clientAddress(peer, forwarded, isProxy)).toBe(caller)
  })

  test('is matched against a list of addresses, networks and keywords', () => {
    const isOurs = proxies('loopback', 'private', '2001:db8::1')
    for (const address of ['127.0.0.1', '::1', '192.168.1.1', 'fd00::1', '2001:db8:0::1'])
      expect(isOurs(address)).toBe(true)
    for (const address of ['198.51.100.1', '2001:db8::2', 'unknown', '']) expect(isOurs(address)).toBe(false)
    const wrong = parseNetworks(['proxy.local'], 'MILLRACE_TRUSTED_PROXIES')
    expect(wrong).toMatchObject({ ok: false, message: expect.stringContaining('"proxy.local"') })
  })
})

test('callers without a key are limited individually behind a trusted proxy, and together behind an untrusted one', async () => {
  const refusedAfter = async (flags: Record<string, string>) => {
    const world = await ExecutionWorld.open(flags)
    try {
      await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'hook' })] }))
      const guess = async (caller: string) => {
        const headers = { 'x-forwarded-for': caller }
        return (await world.call('/api/webhooks/trigger/nobody', { text: '{}', key: null, headers })).status
      }
      for (let n = 0; n < 61; n += 1) await guess('203.0.113.1')
      return [await guess('203.0.113.1'), await guess('203.0.113.2')]
    } finally {
      await world.close()
    }
  }
  expect(await refusedAfter({ 'trusted-proxies': 'loopback' })).toEqual([429, 404])
  expect(await refusedAfter({})).toEqual([429, 429])
})
