import { closeSync, existsSync, openSync, readSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * The journal: two files beside the database, written in turns from their start. A record is a group as `encodeGroup`
 * writes it, behind a header; records have positions without gaps, and belong to a generation (`JournalMark`).
 *
 *     0  magic   4  CRC-32 of all that follows   8  generation   16  position   24  bytes of the text   28  zero   32  text
 *
 * Numbers are little-endian; generation and position are doubles. What follows the last record of a file is zeros, a record
 * that was cut off, or one of an earlier lap or generation: its check sum, its position or its generation is not the next.
 */
export const halves = [0, 1] as const
export type Half = (typeof halves)[number]

export const halfBytes = 4_194_304
const headerBytes = 32
const magic = 0x6c4a724d

export type JournalRecord = { position: number; text: string }

export function journalPath(databasePath: string, half: Half): string {
  return join(dirname(databasePath), `millrace.journal-${half === 0 ? 'a' : 'b'}`)
}

export function hasJournal(databasePath: string): boolean {
  return halves.some((half) => existsSync(journalPath(databasePath, half)))
}

/** The most that a record of so many characters can take. */
export function recordBytesMax(chars: number): number {
  return headerBytes + 3 * chars
}

/** Writes a record to the start of a buffer; how many bytes it has. */
export function writeRecord(buffer: Buffer, generation: number, { position, text }: JournalRecord): number {
  const length = buffer.write(text, headerBytes)
  buffer.writeUInt32LE(magic, 0)
  buffer.writeDoubleLE(generation, 8)
  buffer.writeDoubleLE(position, 16)
  buffer.writeUInt32LE(length, 24)
  buffer.writeUInt32LE(0, 28)
  buffer.writeUInt32LE(crc32(buffer.subarray(8, headerBytes + length)), 4)
  return headerBytes + length
}

type Found = JournalRecord & { end: number }

/** The record at `at`, when it is a whole one of this generation. */
function recordIn(bytes: Buffer, at: number, generation: number): Found | undefined {
  if (at + headerBytes > bytes.length || bytes.readUInt32LE(at) !== magic) return undefined
  const end = at + headerBytes + bytes.readUInt32LE(at + 24)
  if (end > bytes.length || bytes.readDoubleLE(at + 8) !== generation) return undefined
  if (crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return undefined
  return { position: bytes.readDoubleLE(at + 16), text: bytes.toString('utf8', at + headerBytes, end), end }
}

/** All records of a generation behind a position, up to the first gap: what a start finds after a crash. */
export function recordsBehind(databasePath: string, generation: number, position: number): JournalRecord[] {
  const found = halves
    .map((half) => recordsOf(journalPath(databasePath, half), generation))
    .filter((records) => records.length > 0)
    .sort(([a], [b]) => a!.position - b!.position)
    .flat()
    .filter((record) => record.position > position)
  const gap = found.findIndex((record, index) => record.position !== position + 1 + index)
  return gap < 0 ? found : found.slice(0, gap)
}

function recordsOf(path: string, generation: number): JournalRecord[] {
  if (!existsSync(path)) return []
  const file = openSync(path, 'r')
  try {
    const bytes = readAt(file, 0, halfBytes)
    const records: JournalRecord[] = []
    let record = recordIn(bytes, 0, generation)
    while (record && (records.length === 0 || record.position === records.at(-1)!.position + 1)) {
      records.push(record)
      record = recordIn(bytes, record.end, generation)
    }
    return records
  } finally {
    closeSync(file)
  }
}

function readAt(file: number, at: number, length: number): Buffer {
  const bytes = Buffer.allocUnsafe(Math.min(length, halfBytes))
  let read = 0
  while (read < bytes.length) {
    const count = readSync(file, bytes, read, bytes.length - read, at + read)
    if (count === 0) break
    read += count
  }
  return bytes.subarray(0, read)
}

/**
 * Makes both files as large as they will ever be, so that writing to them takes no space, and a flush has only the record to
 * write and nothing about the file: 0.13 ms instead of 0.19 (measured). What they hold already stays.
 */
export async function makeJournal(databasePath: string): Promise<void> {
  let isNew = false
  for (const half of halves) {
    const file = await openOrMake(journalPath(databasePath, half))
    try {
      const { size } = await file.stat()
      if (size === halfBytes) continue
      isNew = true
      const zeros = new Uint8Array(1_048_576)
      for (let at = 0; at < halfBytes; ) at += (await file.write(zeros, 0, zeros.length, at)).bytesWritten
      await file.sync()
    } finally {
      await file.close()
    }
  }
  if (isNew) await syncFolder(dirname(databasePath))
}

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch {
    return await open(path, 'wx+', 0o600)
  }
}

/** A file that a power cut leaves without a name is lost. */
async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } catch (error) {
    // Some file systems of networks cannot, and keep names in their own way. SQLite passes over it as well.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    await folder.close()
  }
}
