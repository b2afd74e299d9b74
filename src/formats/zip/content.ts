import { crc32 } from 'node:zlib'
import { Inflate } from 'fflate'
import { documentTooLarge, invalidDocument } from '../format-error.ts'
import type { ZipArchive, ZipEntry } from './directory.ts'

/**
 * The content of an entry, one piece after the other. Never more than its directory says, and never more than
 * `bytesMax`: a small archive can hold terabytes of zeros.
 */
export function* contentOf(archive: ZipArchive, entry: ZipEntry, bytesMax: number): Generator<Uint8Array, void> {
  const { name, size, method, crc } = entry
  if (method !== stored && method !== deflated) {
    throw invalidDocument(`"${name}" is compressed with the method ${method}, which cannot be read.`)
  }
  let bytes = 0
  let sum = 0
  for (const piece of method === stored ? archive.piecesOf(entry) : inflated(archive, entry)) {
    bytes += piece.length
    if (bytes > bytesMax) throw documentTooLarge(`"${name}" has more than ${bytesMax} bytes.`)
    if (bytes > size) throw invalidDocument(`The archive is broken: "${name}" is larger than its directory says.`)
    sum = crc32(piece, sum)
    yield piece
  }
  if (bytes < size) throw invalidDocument(`The archive is broken: "${name}" is shorter than its directory says.`)
  if (sum !== crc) throw invalidDocument(`The archive is broken: the checksum of "${name}" is wrong.`)
}

function* inflated(archive: ZipArchive, entry: ZipEntry): Generator<Uint8Array, void> {
  const pieces: Uint8Array[] = []
  const inflate = new Inflate((piece) => pieces.push(piece))
  for (const compressed of archive.piecesOf(entry)) {
    // 1 KB of zeros inflates to 1 MB: so a small portion at a time.
    for (let at = 0; at < compressed.length; at += portionBytes) {
      try {
        inflate.push(compressed.subarray(at, at + portionBytes))
      } catch {
        throw invalidDocument(`The archive is broken: "${entry.name}" cannot be decompressed.`)
      }
      yield* pieces.splice(0)
    }
  }
}

const portionBytes = 8_192
const stored = 0
const deflated = 8
