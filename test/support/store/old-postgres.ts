/**
 * A stand-in for a PostgreSQL server of an old version, which Debian does not have: it accepts every user and answers
 * every query with the facts about itself. It is not a PostgreSQL server.
 */
export function oldPostgres(version: number): { url: string } & Disposable {
  const listener = Bun.listen<{ received: Buffer; isStarted: boolean }>({
    hostname: '127.0.0.1',
    port: 0,
    socket: {
      open: (socket) => {
        socket.data = { received: Buffer.alloc(0), isStarted: false }
      },
      data: (socket, chunk) => {
        socket.data.received = Buffer.concat([socket.data.received, chunk])
        for (;;) {
          const { received, isStarted } = socket.data
          const headBytes = isStarted ? 1 : 0
          if (received.length < headBytes + 4) return
          const bytes = headBytes + received.readInt32BE(headBytes)
          if (received.length < bytes) return
          socket.data.received = received.subarray(bytes)
          socket.write(isStarted ? factsOf(version) : Buffer.concat([message('R', int32(0)), ready]))
          socket.data.isStarted = true
        }
      },
    },
  })
  return {
    url: `postgres://u@127.0.0.1:${listener.port}/old?sslmode=disable`,
    [Symbol.dispose]: () => listener.stop(true),
  }
}

/** One row, as in "Message Formats" of PostgreSQL's documentation. */
function factsOf(version: number): Buffer {
  const facts = { version: String(version), encoding: 'UTF8', database: 'old', user: 'u', mayCreate: 't' }
  const columns = Object.keys(facts).map((name) => {
    const type = name === 'version' ? int4 : textType
    return Buffer.concat([text(name), int32(0), int16(0), int32(type), int16(-1), int32(-1), int16(0)])
  })
  const values = Object.values(facts).map((value) => Buffer.concat([int32(value.length), Buffer.from(value)]))
  return Buffer.concat([
    message('T', int16(columns.length), ...columns),
    message('D', int16(values.length), ...values),
    message('C', text('SELECT 1')),
    ready,
  ])
}

function message(type: string, ...parts: Buffer[]): Buffer {
  const body = Buffer.concat(parts)
  return Buffer.concat([Buffer.from(type), int32(body.length + 4), body])
}

function int16(value: number): Buffer {
  const bytes = Buffer.alloc(2)
  bytes.writeInt16BE(value)
  return bytes
}

function int32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeInt32BE(value)
  return bytes
}

const text = (value: string) => Buffer.from(`${value}\0`)
const ready = message('Z', Buffer.from('I'))
const int4 = 23
const textType = 25
