import { describe, expect, test } from 'bun:test'
import { tcpTargets } from '../../../src/outbound/tcp-target.ts'
import { allowList } from '../../support/outbound/peers.ts'
import { spellings } from './spellings.ts'

const signal = new AbortController().signal
const noLookup = async (): Promise<string[]> => {
  throw new Error('It looked the name up')
}

describe('a server', () => {
  test('is given with the addresses that its name had when they were checked', async () => {
    const answers = [['192.0.43.10', '2606:2800:220::1', '10.0.0.1'], ['127.0.0.1']]
    const resolveTcp = tcpTargets({ allow: allowList([]), lookup: async () => answers.shift()! })
    expect(await resolveTcp({ host: ' DB.Example.com. ', port: 5432 }, signal)).toEqual({
      host: 'db.example.com',
      port: 5432,
      serverName: 'db.example.com',
      addresses: ['192.0.43.10', '2606:2800:220::1'],
    })
    // The name leads to this machine the second time.
    const again = resolveTcp({ host: 'db.example.com', port: 5432 }, signal)
    await expect(again).rejects.toMatchObject({
      code: 'ADDRESS_REFUSED',
      message: expect.stringContaining('adds db.example.com:5432 to MILLRACE_OUTBOUND_ALLOW'),
    })
  })

  test('may be written as an address, which is not looked up and has no name for its certificate', async () => {
    const resolveTcp = tcpTargets({ allow: allowList([]), lookup: noLookup })
    for (const [host, address] of [
      ['192.0.43.10', '192.0.43.10'],
      ['2606:2800:220:0::1', '2606:2800:220::1'],
      ['[2606:2800:220::1]', '2606:2800:220::1'],
    ] as const)
      expect(await resolveTcp({ host, port: 6379 }, signal)).toMatchObject({
        serverName: undefined,
        addresses: [address],
      })
  })

  // A host that is not part of a URL has no percent escapes.
  test.each(spellings.filter((host) => !host.includes('%')))(
    'on this machine is refused in the spelling %p',
    async (host) => {
      const lookup = async () => ['127.0.0.1']
      const resolveTcp = tcpTargets({ allow: allowList([]), lookup })
      await expect(resolveTcp({ host, port: 5432 }, signal)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
      const allowed = tcpTargets({ allow: allowList(['loopback', 'private', '0.0.0.0/8', '::/0']), lookup })
      expect((await allowed({ host, port: 5432 }, signal)).addresses.length).toBeGreaterThan(0)
    },
  )

  test('is allowed by exactly its host and port', async () => {
    const resolveTcp = tcpTargets({ allow: allowList(['db.internal:5432']), lookup: async () => ['10.1.2.3'] })
    expect((await resolveTcp({ host: 'DB.internal', port: 5432 }, signal)).addresses).toEqual(['10.1.2.3'])
    for (const server of [
      { host: 'db.internal', port: 5433 },
      { host: 'x.db.internal', port: 5432 },
      { host: '10.1.2.3', port: 5432 },
    ])
      await expect(resolveTcp(server, signal)).rejects.toMatchObject({ code: 'ADDRESS_REFUSED' })
  })

  test('has a host and a port, and nothing else', async () => {
    const resolveTcp = tcpTargets({ allow: allowList(['loopback']), lookup: noLookup })
    for (const host of [
      '',
      '/run/postgresql',
      'user@localhost',
      'localhost/db',
      'localhost:1',
      'a b',
      '*',
      '\\\\x',
      '%31',
    ])
      await expect(resolveTcp({ host, port: 5432 }, signal)).rejects.toMatchObject({ code: 'INVALID_URL' })
    for (const port of [0, -1, 65_536, 1.5, Number.NaN])
      await expect(resolveTcp({ host: 'localhost', port }, signal)).rejects.toMatchObject({ code: 'INVALID_URL' })
  })

  test('is looked up no longer than its caller waits', async () => {
    const resolveTcp = tcpTargets({ allow: allowList([]), lookup: () => new Promise(() => {}) })
    const caller = new AbortController()
    const waiting = resolveTcp({ host: 'db.example.com', port: 5432 }, caller.signal)
    const reason = new Error('The run was cancelled')
    caller.abort(reason)
    await expect(waiting).rejects.toBe(reason)
    await expect(resolveTcp({ host: '192.0.43.10', port: 1 }, caller.signal)).rejects.toBe(reason)
  })
})
