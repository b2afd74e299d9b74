import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TestDatabases } from '../../support/databases/clients.ts'
import { HostileServer, sendForever } from '../../support/databases/hostile-server.ts'

function databases(port: string) {
  const fields = { engine: 'postgres', host: '127.0.0.1', port, user: 'u', tls: 'off' }
  return new TestDatabases({ db: { fields, secrets: { password: 'secret' } } })
}

/** A message of the protocol. */
function message(type: string, ...parts: (number | string | Uint8Array)[]): Uint8Array {
  const body = Buffer.concat(parts.map((part) => (typeof part === 'number' ? int(part) : Buffer.from(part))))
  return Buffer.concat([Buffer.from(type), int(body.length + 4), body])
}

function int(value: number, bytes = 4): Buffer {
  const buffer = Buffer.alloc(bytes)
  buffer.writeIntBE(value, 0, bytes)
  return buffer
}

const ready = message('Z', 'I')
const welcome = Buffer.concat([message('R', 0), message('K', 1, 2), ready])
const described = Buffer.concat([
  message('1'),
  message('2'),
  message('T', int(1, 2), 'a\0', 0, int(0, 2), 25, int(-1, 2), -1, int(0, 2)),
])
const row = message('D', int(1, 2), 100, 'x'.repeat(100))

/** Accepts the connection and its settings, then answers the query. */
function server(answer: (socket: Bun.Socket<{ packets: number }>) => void): HostileServer {
  return new HostileServer((packet, socket) => {
    if (packet === 0) socket.write(welcome)
    else if (packet === 1) socket.write(Buffer.concat([message('C', 'SET\0'), ready]))
    else if (packet === 2) answer(socket)
  })
}

describe('a server that calls itself PostgreSQL', () => {
  test('and sends rows without end is cut off', async () => {
    using hostile = server((socket) => {
      socket.write(described)
      sendForever(socket, Buffer.concat(Array<Uint8Array>(1_000).fill(row)))
    })
    await using db = databases(hostile.port)
    await expect(db.sql('SELECT 1')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining('sent more than is accepted'),
    })
  })

  test('and announces a message of 1 GB, or sends notices without end, is cut off', async () => {
    for (const attack of [
      Buffer.concat([Buffer.from('D'), int(1_000_000_000), Buffer.alloc(60_000)]),
      message('N', `SNOTICE\0Mx${'x'.repeat(10_000)}\0\0`),
    ]) {
      using hostile = server((socket) => {
        socket.write(described)
        sendForever(socket, attack)
      })
      await using db = databases(hostile.port)
      await expect(db.sql('SELECT 1')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    }
  })

  test('and sends notices without end before it accepts the password is cut off', async () => {
    using hostile = new HostileServer((packet, socket) => {
      if (packet === 0) sendForever(socket, message('N', `SNOTICE\0Mx${'x'.repeat(10_000)}\0\0`))
    })
    await using db = databases(hostile.port)
    await expect(db.sql('SELECT 1')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  })

  test('and answers one byte at a time, or never, keeps nobody longer than the timeout', async () => {
    for (const answer of [
      (_: number, socket: Bun.Socket<{ packets: number }>) => void setInterval(() => socket.write('N'), 5).unref(),
      () => {},
    ]) {
      using hostile = new HostileServer(answer)
      await using db = databases(hostile.port)
      await expect(db.sql('SELECT 1', { timeoutMs: 300 })).rejects.toMatchObject({
        code: expect.stringMatching(/TIMEOUT|CONNECTION_FAILED/),
      })
    }
    using silent = server(() => {})
    await using db = databases(silent.port)
    const startedAt = performance.now()
    await expect(db.sql('SELECT 1', { timeoutMs: 300 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    expect(performance.now() - startedAt).toBeLessThan(3_000)
  })

  test('and asks for millions of rounds of hashing gets no proof', async () => {
    using hostile = new HostileServer((packet, socket, bytes) => {
      if (packet === 0) socket.write(message('R', 10, 'SCRAM-SHA-256\0\0'))
      if (packet !== 1) return
      const nonce = /r=([^,]+)/.exec(Buffer.from(bytes).toString('latin1'))?.[1]
      socket.write(message('R', 11, `r=${nonce}x,s=c2FsdA==,i=2000000000`))
    })
    await using db = databases(hostile.port)
    await expect(db.sql('SELECT 1')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
  })

  test('and sends nonsense at any moment fails the query, and nothing else', async () => {
    const messages = ['R', 'K', 'S', 'Z', 'T', 'D', 'C', 'E', 'N', '1', '2', 's', 'n', 'G', 'd', 'A', 'V'] as const
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom(...messages), fc.uint8Array({ maxLength: 12 }))
        .map(([type, body]) => message(type, body)),
      fc.constantFrom(described, row, ready, welcome, message('C', 'SELECT 1\0')),
      fc
        .integer({ min: -10, max: 100 })
        .map((length) => Buffer.concat([Buffer.from('D'), int(length), row.subarray(5)])),
    )
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(-1, 0, 1, 2), fc.array(piece, { maxLength: 6 }), async (moment, pieces) => {
        using hostile = new HostileServer((packet, socket) => {
          if (packet === moment) socket.end(Buffer.concat(pieces))
          else if (packet === 0) socket.write(welcome)
          else if (packet === 1) socket.write(Buffer.concat([message('C', 'SET\0'), ready]))
        })
        await using db = databases(hostile.port)
        const outcome = await db.sql('SELECT 1', { timeoutMs: 100 }).catch((error) => error)
        if (outcome instanceof Error) expect(outcome.name).toBe('DatabaseError')
      }),
      { numRuns: 300 },
    )
  }, 60_000)
})
