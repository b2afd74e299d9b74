import { connect } from 'node:net'

/** The bytes received over a socket until the server closed it or the expected response was complete. */
export type RawResponse = { status: number; head: string; body: string; closed: boolean }

/**
 * Sends exactly these bytes, which no HTTP client would, and reads the first response. `parts` are sent in turn. With
 * `hangUp`, the connection is closed after the last part instead of waiting for a response.
 */
export async function sendRaw(port: number, parts: (string | Uint8Array)[], hangUp = false): Promise<RawResponse> {
  const socket = connect(port, '127.0.0.1')
  let received = ''
  let closed = false
  const responded = Promise.withResolvers<void>()
  socket.on('data', (data) => {
    received += data.toString('latin1')
    if (isWhole(received)) responded.resolve()
  })
  socket.on('close', () => {
    closed = true
    responded.resolve()
  })
  // A server that refuses may close the connection before everything is sent.
  socket.on('error', () => responded.resolve())
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  for (const part of parts) {
    if (closed) break
    await new Promise<void>((resolve) => socket.write(part, () => resolve()))
  }
  if (hangUp) socket.destroy()
  await responded.promise
  socket.destroy()
  const final = received.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '')
  const [head = '', ...rest] = final.split('\r\n\r\n')
  return { status: Number(/^HTTP\/1\.\d (\d{3})/.exec(head)?.[1] ?? 0), head, body: rest.join('\r\n\r\n'), closed }
}

function isWhole(received: string): boolean {
  const final = received.replace(/^HTTP\/1\.1 100 [^\r]*\r\n\r\n/, '')
  const end = final.indexOf('\r\n\r\n')
  if (end === -1) return false
  const length = /content-length: (\d+)/i.exec(final.slice(0, end))?.[1]
  return length !== undefined && final.length >= end + 4 + Number(length)
}

/** One chunk of a body without a length. */
export function chunk(data: string | Uint8Array): Uint8Array {
  const bytes = Buffer.from(data)
  return Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')])
}
