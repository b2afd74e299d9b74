import { closeSync, openSync, readSync } from 'node:fs'
import type { FormatFile } from '../../domain/format/format-work.ts'
import { documentTooLarge, type FormatError, invalidDocument } from '../format-error.ts'

/** One file of an archive, as the directory at the end of the archive describes it. */
export type ZipEntry = {
  name: string
  size: number
  compressedSize: number
  method: number
  crc: number
  isEncrypted: boolean
  modifiedAt: string | null
  /** Where its header is. */
  offset: number
}

/** An archive that is read in place: only its directory, and the entries that are wanted. */
export class ZipArchive implements Disposable {
  readonly entries: readonly ZipEntry[]
  readonly #handle: number
  readonly #size: number

  constructor({ path, size }: Pick<FormatFile, 'path' | 'size'>) {
    this.#handle = openSync(path, 'r')
    this.#size = size
    try {
      this.entries = this.#readDirectory()
    } catch (error) {
      closeSync(this.#handle)
      throw error
    }
  }

  [Symbol.dispose](): void {
    closeSync(this.#handle)
  }

  /** The compressed bytes of an entry, one piece after the other. A piece is valid until the next one is read. */
  *piecesOf({ name, offset, compressedSize, isEncrypted }: ZipEntry): Generator<Uint8Array, void> {
    if (isEncrypted) throw invalidDocument(`"${name}" is encrypted. Encrypted archives cannot be read.`)
    const header = this.#read(offset, localHeaderBytes)
    const isHeader = header.length === localHeaderBytes && header.readUInt32LE(0) === localSignature
    if (!isHeader) throw invalidDocument(`The archive is broken: "${name}" is not where its directory says.`)
    let at = offset + localHeaderBytes + header.readUInt16LE(26) + header.readUInt16LE(28)
    const end = at + compressedSize
    while (at < end) {
      const piece = this.#read(at, Math.min(pieceBytes, end - at))
      if (piece.length === 0) throw invalidDocument(`The archive ends within "${name}".`)
      yield piece
      at += piece.length
    }
  }

  #readDirectory(): ZipEntry[] {
    const { count, start, bytes } = this.#findDirectory()
    if (count > entriesMax) throw documentTooLarge(`The archive has more than ${entriesMax} files.`)
    if (bytes > directoryBytesMax) throw documentTooLarge('The directory of the archive is too large.')
    const directory = this.#read(start, bytes)
    if (directory.length < bytes) throw broken()
    const entries: ZipEntry[] = []
    let at = 0
    for (let index = 0; index < count; index++) {
      if (at + entryBytes > directory.length || directory.readUInt32LE(at) !== entrySignature) throw broken()
      const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((part) =>
        directory.readUInt16LE(at + part),
      ) as Three
      const end = at + entryBytes + nameBytes + extraBytes + commentBytes
      if (end > directory.length) throw broken()
      entries.push(entryAt(directory, at))
      at = end
    }
    checkOverlaps(entries)
    return entries
  }

  #findDirectory(): { count: number; start: number; bytes: number } {
    const tailBytes = Math.min(this.#size, endBytes + commentBytesMax)
    const tail = this.#read(this.#size - tailBytes, tailBytes)
    let at = tail.length - endBytes
    while (at >= 0 && tail.readUInt32LE(at) !== endSignature) at--
    if (at < 0) throw invalidDocument('This is not a ZIP archive.')
    const disks = tail.readUInt16LE(at + 4)
    if (disks !== 0 && disks !== 0xffff) throw invalidDocument('The archive has several parts, which cannot be read.')
    const found = {
      count: tail.readUInt16LE(at + 10),
      bytes: tail.readUInt32LE(at + 12),
      start: tail.readUInt32LE(at + 16),
    }
    const isLarge = found.count === 0xffff || found.bytes === 0xffffffff || found.start === 0xffffffff
    return isLarge ? (this.#findLargeDirectory(tail, at - locatorBytes) ?? found) : found
  }

  /** The directory of an archive of more than 4 GB or 65,535 files (ZIP64). */
  #findLargeDirectory(tail: Buffer, at: number): { count: number; start: number; bytes: number } | undefined {
    if (at < 0 || tail.readUInt32LE(at) !== locatorSignature) return undefined
    const end = this.#read(safe(tail.readBigUInt64LE(at + 8)), largeEndBytes)
    if (end.length < largeEndBytes || end.readUInt32LE(0) !== largeEndSignature) throw broken()
    const [count, bytes, start] = [32, 40, 48].map((part) => safe(end.readBigUInt64LE(part))) as Three
    return { count, bytes, start }
  }

  #read(at: number, length: number): Buffer {
    if (at < 0 || at > this.#size) throw broken()
    const buffer = Buffer.alloc(Math.min(length, this.#size - at))
    let filled = 0
    while (filled < buffer.length) {
      const count = readSync(this.#handle, buffer, filled, buffer.length - filled, at + filled)
      if (count === 0) break
      filled += count
    }
    return buffer.subarray(0, filled)
  }
}

type Three = [number, number, number]

function entryAt(directory: Buffer, at: number): ZipEntry {
  const flags = directory.readUInt16LE(at + 8)
  const [nameBytes, extraBytes] = [directory.readUInt16LE(at + 28), directory.readUInt16LE(at + 30)]
  const nameAt = at + entryBytes
  const name = directory.subarray(nameAt, nameAt + nameBytes)
  const sizes = largeSizes(directory.subarray(nameAt + nameBytes, nameAt + nameBytes + extraBytes), [
    directory.readUInt32LE(at + 24),
    directory.readUInt32LE(at + 20),
    directory.readUInt32LE(at + 42),
  ])
  return {
    // Archives of old programs are in other encodings, but then their names are mostly ASCII.
    name: name.toString('utf8').toWellFormed().replaceAll('\0', ''),
    isEncrypted: (flags & 1) !== 0,
    method: directory.readUInt16LE(at + 10),
    crc: directory.readUInt32LE(at + 16),
    size: sizes[0],
    compressedSize: sizes[1],
    offset: sizes[2],
    modifiedAt: timeOf(directory.readUInt16LE(at + 14), directory.readUInt16LE(at + 12)),
  }
}

/** The sizes and the offset. Those that 32 bits cannot hold are in an extra field. */
function largeSizes(extra: Buffer, sizes: Three): Three {
  if (!sizes.includes(0xffffffff)) return sizes
  for (let at = 0; at + 4 <= extra.length; at += 4 + extra.readUInt16LE(at + 2)) {
    if (extra.readUInt16LE(at) !== 1) continue
    let part = at + 4
    return sizes.map((size) => {
      if (size !== 0xffffffff) return size
      if (part + 8 > extra.length) throw broken()
      part += 8
      return safe(extra.readBigUInt64LE(part - 8))
    }) as Three
  }
  return sizes
}

/** Entries that share bytes make a small archive extremely large. */
function checkOverlaps(entries: readonly ZipEntry[]): void {
  const inOrder = entries.toSorted((a, b) => a.offset - b.offset)
  let end = 0
  for (const { offset, compressedSize, name } of inOrder) {
    if (offset < end) throw invalidDocument(`The archive is broken: "${name.slice(0, 200)}" overlaps another file.`)
    end = offset + localHeaderBytes + compressedSize
  }
}

/** A local time without a zone. */
function timeOf(date: number, time: number): string | null {
  const [year, month, day] = [1980 + (date >> 9), (date >> 5) & 15, date & 31]
  const [hour, minute, second] = [time >> 11, (time >> 5) & 63, (time & 31) * 2]
  if (month < 1 || month > 12 || day < 1 || hour > 23 || minute > 59 || second > 59) return null
  const two = (part: number) => String(part).padStart(2, '0')
  return `${year}-${two(month)}-${two(day)}T${two(hour)}:${two(minute)}:${two(second)}`
}

function safe(value: bigint): number {
  if (value > BigInt(Number.MAX_SAFE_INTEGER)) throw broken()
  return Number(value)
}

function broken(): FormatError {
  return invalidDocument('The archive is broken: its directory is damaged.')
}

export const entriesMax = 65_536
const directoryBytesMax = 33_554_432
const pieceBytes = 65_536
const localSignature = 0x04034b50
const entrySignature = 0x02014b50
const endSignature = 0x06054b50
const locatorSignature = 0x07064b50
const largeEndSignature = 0x06064b50
const localHeaderBytes = 30
const entryBytes = 46
const endBytes = 22
const locatorBytes = 20
const largeEndBytes = 56
const commentBytesMax = 65_535
