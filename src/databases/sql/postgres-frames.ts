import type { ByteFilter } from '../byte-meter.ts'

/**
 * Lets only complete messages of PostgreSQL through, and throws for an error or notice without its end: the parser of
 * `pg` would look for that end forever.
 */
export function wholeMessages(bytesMax: number): ByteFilter {
  let chunks: Buffer[] = []
  let size = 0
  let wanted = headerBytes
  return (chunk) => {
    chunks.push(chunk)
    size += chunk.byteLength
    if (size < wanted) return undefined
    const data = chunks.length === 1 ? chunk : Buffer.concat(chunks)
    let at = 0
    wanted = headerBytes
    while (data.byteLength - at >= headerBytes) {
      const end = at + 1 + data.readUInt32BE(at + 1)
      if (end < at + headerBytes || end - at > bytesMax) throw new Error('The length of a message is not valid')
      if (end > data.byteLength) {
        wanted = end - at
        break
      }
      if (hasFields(data[at]!)) assertFields(data, at + headerBytes, end)
      at = end
    }
    chunks = at === data.byteLength ? [] : [data.subarray(at)]
    size = data.byteLength - at
    return at === 0 ? undefined : data.subarray(0, at)
  }
}

/** Errors and notices. */
const hasFields = (type: number) => type === 0x45 || type === 0x4e

/** Each field is a character and a text that ends with a zero; a zero ends the list. */
function assertFields(data: Buffer, from: number, end: number): void {
  let at = from
  while (at < end && data[at] !== 0) {
    const zero = data.indexOf(0, at + 1)
    if (zero === -1 || zero >= end) break
    at = zero + 1
  }
  if (at >= end || data[at] !== 0) throw new Error('An error message has no end')
}

/** The type and the length. */
const headerBytes = 5
