import { describe, expect, test } from 'bun:test'
import type { Server } from 'bun'
import { PeerSignatures, peerHeader } from '../../../../src/http/peers/peer-signature.ts'
import { Peers } from '../../../../src/http/peers/peers.ts'
import { ManualClock } from '../../../support/clock.ts'

const clock = new ManualClock(1_800_000_000_000)
const keys = () => [new Uint8Array(32).fill(1)]
const signatures = new PeerSignatures({ keys, clock })

/** `asked`: the other processes were asked for. */
function world() {
  let asked = 0
  const others = () => {
    asked += 1
    return []
  }
  const peers = new Peers({ others, keys, holds: async () => true, clock, logger: { warn: () => undefined } })
  const socket = { requestIP: () => ({ address: '10.0.0.1' }), timeout: () => undefined } as unknown as Server<unknown>
  return { peers, server: peers.seenThrough(socket), asked: () => asked }
}

const request = (header?: string) =>
  new Request('http://flows.example.org/api/jobs/1', header === undefined ? {} : { headers: { [peerHeader]: header } })
const signed = () => request(signatures.sign({ method: 'GET', path: '/api/jobs/1', address: '192.0.2.7' }))
const thing = { kind: 'run', id: '1' } as const

describe('a request of another process', () => {
  test('has the address of its caller, and shows no header of the processes', () => {
    const { peers, server } = world()
    const admitted = signed()
    expect(peers.admit(admitted)).toBeUndefined()
    expect(server.requestIP(admitted)?.address).toBe('192.0.2.7')
    expect([...admitted.headers.keys()]).toEqual([])
    expect(peers.isFromPeer(admitted)).toBe(true)
  })

  test('is not passed on again', async () => {
    const { peers, server, asked } = world()
    const admitted = signed()
    peers.admit(admitted)
    expect(await peers.forward({ request: admitted, server, set: { headers: {} } }, thing)).toBeUndefined()
    expect(asked()).toBe(0)
  })
})

describe('a request of a client', () => {
  test('has the address of its connection', () => {
    const { peers, server } = world()
    const plain = request()
    expect(peers.admit(plain)).toBeUndefined()
    expect(server.requestIP(plain)?.address).toBe('10.0.0.1')
    expect(peers.isFromPeer(plain)).toBe(false)
  })

  test('is refused with 401 when it imitates another process', async () => {
    const { peers, server } = world()
    const forged = request('1800000000000.00000000-0000-0000-0000-000000000000.MTI3LjAuMC4x.00')
    const refused = peers.admit(forged)
    expect(refused?.status).toBe(401)
    expect(await refused?.json()).toMatchObject({ code: 'INVALID_SIGNATURE' })
    expect(server.requestIP(forged)?.address).toBe('10.0.0.1')
  })

  test('with an ID that no object can have is not passed on', async () => {
    const { peers, server, asked } = world()
    const call = { request: request(), server, set: { headers: {} } }
    expect(await peers.forward(call, { ...thing, id: 'x'.repeat(10_000) })).toBeUndefined()
    expect(asked()).toBe(0)
    await peers.forward(call, thing)
    expect(asked()).toBe(1)
  })
})

test('a request whose path looks like the address of another server goes to the process that has the thing', async () => {
  const serve = (status: number) =>
    Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: () => new Response(null, { status }) })
  await using peer = serve(204)
  await using stranger = serve(418)
  const others = () => [{ id: 'peer', url: `http://127.0.0.1:${peer.port}` }]
  const peers = new Peers({ others, keys, holds: async () => false, clock, logger: { warn: () => undefined } })
  // Behind a host of one letter, the router finds `/api/jobs/1` here.
  const misleading = new Request(`http://a//127.0.0.1:${stranger.port}/api/jobs/1`)
  const response = await peers.forward({ request: misleading, server: null, set: { headers: {} } }, thing)
  expect(response?.status).toBe(204)
})
