import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { TestDatabases } from '../../support/databases/clients.ts'
import { HostileServer, sendForever } from '../../support/databases/hostile-server.ts'

type Peer = Bun.Socket<{ packets: number }>

function databases(port: string, tls = 'off') {
  const fields = { engine: 'mysql', host: '127.0.0.1', port, user: 'u', tls }
  return new TestDatabases({ db: { fields, secrets: { password: 'secret-password' } } })
}

/** A packet of the protocol. */
function packet(number: number, ...parts: (string | Uint8Array | readonly number[])[]): Buffer {
  const body = Buffer.concat(parts.map((part) => Buffer.from(part as Uint8Array)))
  return Buffer.concat([Buffer.from([body.length & 255, body.length >> 8, body.length >> 16, number]), body])
}

function greeting(plugin = 'mysql_native_password'): Buffer {
  const capabilities = [0xff, 0xf7 & ~8, 45, 2, 0, 0xff, 0x81]
  const start = [10, ...Buffer.from('8.0.0\0'), 1, 0, 0, 0, ...Buffer.from('12345678'), 0]
  return packet(0, [...start, ...capabilities, 21, ...Array<number>(10).fill(0)], '123456789012\0', `${plugin}\0`)
}

const ok = (number: number) => packet(number, [0, 0, 0, 2, 0, 0, 0])
const column = (number: number) =>
  packet(number, [3, ...Buffer.from('def'), 0, 0, 0, 1, 97, 0, 12, 45, 0, 255, 0, 0, 0, 253, 0, 0, 0, 0, 0])
const eof = (number: number) => packet(number, [0xfe, 0, 0, 2, 0])

/** Accepts the user and the settings of the session, then answers the statement that is prepared, and its execution. */
function server(answers: readonly ((socket: Peer) => void)[]): HostileServer {
  return new HostileServer((number, socket) => {
    if (number === -1) socket.write(greeting())
    else if (number === 0) socket.write(ok(2))
    else if (number <= 2) socket.write(ok(1))
    else answers[number - 3]?.(socket)
  })
}

const prepared = (socket: Peer) =>
  void socket.write(Buffer.concat([packet(1, [0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0]), column(2), eof(3)]))

describe('a server that calls itself MySQL', () => {
  test('and asks for a file of this machine gets nothing', async () => {
    for (const answers of [
      [prepared, (socket: Peer) => void socket.write(packet(1, [0xfb], '/etc/passwd'))],
      [(socket: Peer) => void socket.write(packet(1, [0xfb], '/etc/passwd'))],
    ]) {
      const received: string[] = []
      using hostile = new HostileServer((number, socket, bytes) => {
        received.push(Buffer.from(bytes).toString('latin1'))
        if (number === -1) socket.write(greeting())
        else if (number === 0) socket.write(ok(2))
        else if (number <= 2) socket.write(ok(1))
        else answers[number - 3]?.(socket)
      })
      await using db = databases(hostile.port)
      await db.sql('SELECT 1', { timeoutMs: 500 }).catch((error) => expect(error.name).toBe('DatabaseError'))
      expect(received.length).toBeGreaterThan(3)
      expect(received.join('')).not.toContain('root:')
    }
    // Also in answer to the first command, which is not prepared.
    const sent: string[] = []
    using early = new HostileServer((number, socket, bytes) => {
      sent.push(Buffer.from(bytes).toString('latin1'))
      if (number === -1) socket.write(greeting())
      else if (number === 0) socket.write(ok(2))
      else socket.write(packet(1, [0xfb], '/etc/passwd'))
    })
    await using db = databases(early.port)
    await expect(db.sql('SELECT 1', { timeoutMs: 500 })).rejects.toMatchObject({ name: 'DatabaseError' })
    expect(sent.join('')).not.toContain('root:')
  })

  test('and asks for the password as it is gets none without TLS', async () => {
    const received: string[] = []
    using hostile = new HostileServer((number, socket, bytes) => {
      received.push(Buffer.from(bytes).toString('latin1'))
      if (number === -1) socket.write(greeting('mysql_clear_password'))
      else socket.write(packet(2, [0xfe], 'mysql_clear_password\0'))
    })
    await using db = databases(hostile.port)
    await expect(db.sql('SELECT 1', { timeoutMs: 500 })).rejects.toMatchObject({ name: 'DatabaseError' })
    expect(received.join('')).not.toContain('secret-password')
    // A server without TLS does not learn the user when TLS is required.
    await using strict = databases(hostile.port, 'verify')
    received.length = 0
    await expect(strict.sql('SELECT 1', { timeoutMs: 500 })).rejects.toMatchObject({
      message: expect.stringContaining('offers no TLS'),
    })
    expect(received.join('')).toBe('')
  })

  test('and sends rows without end is cut off', async () => {
    const rows = (socket: Peer) => {
      socket.write(Buffer.concat([packet(1, [1]), column(2), eof(3)]))
      let number = 3
      const many = Array.from({ length: 256 }, () => {
        number = (number + 1) % 256
        return packet(number, [0, 0, 250], 'x'.repeat(250))
      })
      sendForever(socket, Buffer.concat(many))
    }
    using hostile = server([prepared, rows])
    await using db = databases(hostile.port)
    await expect(db.sql('SELECT 1')).rejects.toMatchObject({
      code: 'CONNECTION_FAILED',
      message: expect.stringContaining('sent more than is accepted'),
    })
  })

  test('and never answers keeps nobody longer than the timeout', async () => {
    for (const answers of [[], [prepared]]) {
      using hostile = server(answers)
      await using db = databases(hostile.port)
      await expect(db.sql('SELECT 1', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    }
    using silent = new HostileServer(() => {})
    await using db = databases(silent.port)
    await expect(db.sql('SELECT 1', { timeoutMs: 200 })).rejects.toMatchObject({ code: 'TIMEOUT' })
  })

  test('and sends nonsense at any moment fails the query, and nothing else', async () => {
    const body = fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc
        .tuple(fc.constantFrom(0, 1, 2, 0xfb, 0xfc, 0xfd, 0xfe, 0xff), fc.uint8Array({ maxLength: 20 }))
        .map(([first, rest]) => Uint8Array.from([first, ...rest])),
    )
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.tuple(fc.integer({ min: 0, max: 8 }), body).map(([number, bytes]) => packet(number, bytes)),
      fc.constantFrom(
        greeting(),
        ok(1),
        ok(2),
        column(2),
        eof(3),
        packet(1, [1]),
        packet(1, [0xfe, 255, 255, 255, 255, 255, 255, 0, 0]),
      ),
    )
    await fc.assert(
      fc.asyncProperty(fc.integer({ min: -1, max: 4 }), fc.array(piece, { maxLength: 6 }), async (moment, pieces) => {
        using hostile = new HostileServer((number, socket) => {
          if (number === moment) socket.end(Buffer.concat(pieces))
          else if (number === -1) socket.write(greeting())
          else if (number === 0) socket.write(ok(2))
          else if (number <= 2) socket.write(ok(1))
          else if (number === 3) prepared(socket)
        })
        await using db = databases(hostile.port)
        const outcome = await db.sql('SELECT 1', { timeoutMs: 100 }).catch((error) => error)
        if (outcome instanceof Error) expect(outcome.name).toBe('DatabaseError')
      }),
      { numRuns: 300 },
    )
  }, 60_000)
})
