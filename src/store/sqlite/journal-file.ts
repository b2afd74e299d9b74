import { closeSync, existsSync, fsyncSync, openSync, readdirSync, readSync, renameSync, statSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'

/**
 * The journal: two files beside the database, written in turns from their start. A record is a group as `encodeGroup`
 * writes it, behind a header; records have positions without gaps, and belong to a generation (`JournalMark`).
 *
 *     0  magic   4  CRC-32 of all that follows   8  generation   16  position   24  bytes of the text   28  form   32  text
 *
 * Numbers are little-endian; generation and position are doubles. What follows the last record of a file is zeros, a record
 * that was cut off, or one of an earlier lap or generation: its check sum, its position or its generation is not the next.
 *
 * `form` says how the text is to be read. It is raised when `encodeGroup` changes; the header stays as it is, so that a program
 * knows what it cannot read.
 */
export const halves = [0, 1] as const
export type Half = (typeof halves)[number]

export const halfBytes = 4_194_304
const headerBytes = 32
/** More than both files can hold. */
const recordsMax = (2 * halfBytes) / headerBytes
const magic = 0x6c4a724d
const magicBytes = Buffer.from(new Uint32Array([magic]).buffer)

/** Of what this program writes. It reads 0 in the same way. */
export const journalForm = 1

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
export function writeRecord(
  buffer: Buffer,
  generation: number,
  { position, text }: JournalRecord,
  form = journalForm,
): number {
  const length = buffer.write(text, headerBytes)
  buffer.writeUInt32LE(magic, 0)
  buffer.writeDoubleLE(generation, 8)
  buffer.writeDoubleLE(position, 16)
  buffer.writeUInt32LE(length, 24)
  buffer.writeUInt32LE(form, 28)
  buffer.writeUInt32LE(crc32(buffer.subarray(8, headerBytes + length)), 4)
  return headerBytes + length
}

/** What the files hold of a generation behind a position. */
export type JournalContent = {
  /** All that can be read, in order. */
  records: JournalRecord[]
  /** Stretches of positions between or behind them that cannot: of whole records that were damaged. */
  missing: { from: number; to: number }[]
  /** Neither the record at the position nor one behind it is there. */
  isGone: boolean
  /** The highest that a record has. */
  form: number
}

/**
 * Looks for records everywhere, also behind what cannot be read. The last one may have been cut off while it was written, so
 * that was not acknowledged and is not missed. While another process writes, what seems to be missing may only have moved.
 */
export function readJournal(databasePath: string, generation: number, position: number): JournalContent {
  const read = halves.map((half) => recordsOf(journalPath(databasePath, half), generation))
  const found = read.flatMap(({ records }) => records).sort((a, b) => a.position - b.position)
  const records = found.filter((record) => record.position > position)
  const missing: JournalContent['missing'] = []
  let last = position
  for (const record of records) {
    if (record.position > last + 1) missing.push({ from: last + 1, to: record.position - 1 })
    last = record.position
  }
  const broken = read.flatMap(({ broken }) => broken).filter((at) => at > last && at <= last + recordsMax)
  // One may be the last, cut off. Nobody writes another behind it.
  if (new Set(broken).size > 1) missing.push({ from: last + 1, to: Math.max(...broken) })
  return {
    records,
    missing,
    isGone: records.length === 0 && position > 0 && !found.some((record) => record.position === position),
    form: Math.max(0, ...records.map(({ form }) => form)),
  }
}

type Found = JournalRecord & { form: number; end: number }

/** The records of a generation in a file, and the positions that damaged ones seem to have. */
function recordsOf(path: string, generation: number): { records: Found[]; broken: number[] } {
  const records: Found[] = []
  const broken: number[] = []
  if (!existsSync(path)) return { records, broken }
  const file = openSync(path, 'r')
  try {
    const bytes = readAt(file, 0, halfBytes)
    for (let at = bytes.indexOf(magicBytes); at >= 0 && at + headerBytes <= bytes.length; ) {
      const record = bytes.readDoubleLE(at + 8) === generation ? recordIn(bytes, at) : undefined
      if (record === 'broken') broken.push(bytes.readDoubleLE(at + 16))
      else if (record) records.push(record)
      at = bytes.indexOf(magicBytes, typeof record === 'object' ? record.end : at + 1)
    }
    return { records, broken: broken.filter(Number.isInteger) }
  } finally {
    closeSync(file)
  }
}

function recordIn(bytes: Buffer, at: number): Found | 'broken' {
  const end = at + headerBytes + bytes.readUInt32LE(at + 24)
  if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return 'broken'
  const text = bytes.toString('utf8', at + headerBytes, end)
  return { position: bytes.readDoubleLE(at + 16), form: bytes.readUInt32LE(at + 28), text, end }
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
  if (isNew) syncFolder(dirname(databasePath))
}

async function openOrMake(path: string): Promise<FileHandle> {
  try {
    return await open(path, 'r+')
  } catch {
    return await open(path, 'wx+', 0o600)
  }
}

/**
 * Gives the files other names, for whoever can make something of them, and says which. The folder is flushed: they must not
 * come back under their own names when the database does not go by them any more.
 */
export function setJournalAside(databasePath: string, generation: number): string[] {
  const kept = halves
    .map((half) => journalPath(databasePath, half))
    .filter((path) => (statSync(path, { throwIfNoEntry: false })?.size ?? 0) > 0)
    .map((path) => {
      const aside = `${path}${asideEnding}${generation.toString(36)}`
      renameSync(path, aside)
      return aside
    })
  if (kept.length > 0) syncFolder(dirname(databasePath))
  return kept
}

/** Names of files in the data directory that were set aside. */
export function journalsAside(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('millrace.journal-') && name.includes(asideEnding))
}

const asideEnding = '.damaged-'

/** A file that a power cut leaves without a name is lost. */
function syncFolder(path: string): void {
  const folder = openSync(path, 'r')
  try {
    fsyncSync(folder)
  } catch (error) {
    // Some file systems of networks cannot, and keep names in their own way. SQLite passes over it as well.
    if ((error as NodeJS.ErrnoException).code !== 'EINVAL') throw error
  } finally {
    closeSync(folder)
  }
}
