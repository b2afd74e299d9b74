import { createSocket } from 'node:dgram'
import { getServers, setServers } from 'node:dns'

export type NameAnswer = readonly string[] | 'NXDOMAIN' | 'SERVFAIL' | 'silence'

/**
 * A DNS server on loopback that the whole process asks until it is disposed of. `response` gives the addresses of a
 * name (none of family 6). They expire at once, so that every look-up comes here.
 */
export async function nameServer(
  response: (name: string, family: 4 | 6) => NameAnswer,
): Promise<{ asked: string[] } & Disposable> {
  const asked: string[] = []
  const socket = createSocket('udp4')
  socket.on('message', (query, { address, port }) => {
    const { name, type, end } = readQuestion(query)
    if (type === typeA) asked.push(name)
    const given = response(name, type === typeA ? 4 : 6)
    if (given !== 'silence') socket.send(reply(query, end, given), port, address)
  })
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  const before = getServers()
  setServers([`127.0.0.1:${socket.address().port}`])
  return {
    asked,
    [Symbol.dispose]() {
      setServers(before)
      socket.close()
    },
  }
}

const typeA = 1
const headerBytes = 12
const codes = { NXDOMAIN: 3, SERVFAIL: 2 }

function readQuestion(query: Buffer): { name: string; type: number; end: number } {
  const labels: string[] = []
  let at = headerBytes
  for (let length = query[at]!; length > 0; length = query[at]!) {
    labels.push(query.toString('latin1', at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join('.'), type: query.readUInt16BE(at + 1), end: at + 5 }
}

function reply(query: Buffer, questionEnd: number, given: Exclude<NameAnswer, 'silence'>): Buffer {
  const addresses = typeof given === 'string' ? [] : given
  const header = Buffer.from(query.subarray(0, headerBytes))
  header.writeUInt16BE(0x8180 | (typeof given === 'string' ? codes[given] : 0), 2)
  header.writeUInt16BE(addresses.length, 6)
  header.writeUInt32BE(0, 8)
  const records = addresses.map((address) =>
    Buffer.from([0xc0, headerBytes, 0, typeA, 0, 1, 0, 0, 0, 0, 0, 4, ...address.split('.').map(Number)]),
  )
  return Buffer.concat([header, query.subarray(headerBytes, questionEnd), ...records])
}
