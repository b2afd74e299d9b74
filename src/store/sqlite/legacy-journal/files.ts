import {
  closeSync,
  copyFileSync,
  existsSync,
  fsyncSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import { crc32 } from 'node:zlib'
import { syncFolderSync } from '../../../sync-folder.ts'

// Legacy: see import.ts.

/**
 * A journal consisted of two files next to the database. They were filled in turns, each from its start. Records have
 * consecutive positions and belong to a generation:
 *
 *     0  magic   4  CRC-32 of the rest   8  generation   16  position   24  bytes of the text   28  format   32  text
 *
 * Numbers are little-endian; generation and position are doubles. The last record of a file is followed by zeros, by an
 * incomplete record, or by records of an earlier lap or generation.
 */
const halves = ['a', 'b'] as const
const headerBytes = 32
const halfBytes = 4_194_304
/** More records than both files can hold. */
const recordsMax = (2 * halfBytes) / headerBytes
const magic = Buffer.from(new Uint32Array([0x6c4a724d]).buffer)
/** The newest format of the text; format 0 is read in the same way. */
export const legacyFormat = 1

export type LegacyRecord = { position: number; text: string }

export function legacyJournalPaths(databasePath: string): string[] {
  return halves.map((half) => join(dirname(databasePath), `millrace.journal-${half}`))
}

export function hasLegacyJournal(databasePath: string): boolean {
  return legacyJournalPaths(databasePath).some((path) => existsSync(path))
}

/** The records of one generation after a position. */
export type LegacyContent = {
  /** The records that can be read, in order. */
  records: LegacyRecord[]
  /** Ranges of positions whose records are damaged. */
  missing: { from: number; to: number }[]
  /** Neither the record at the position nor a later one exists. */
  isGone: boolean
  /** The highest format of a record. */
  format: number
}

/**
 * Looks for records in the whole file, also after damaged bytes. The last record may be incomplete: it was never
 * acknowledged, so it does not count as missing.
 */
export function readLegacyJournal(databasePath: string, generation: number, position: number): LegacyContent {
  const read = legacyJournalPaths(databasePath).map((path) => recordsOf(path, generation))
  const found = read.flatMap(({ records }) => records).sort((a, b) => a.position - b.position)
  const records = found.filter((record) => record.position > position)
  const missing: LegacyContent['missing'] = []
  let last = position
  for (const record of records) {
    if (record.position > last + 1) missing.push({ from: last + 1, to: record.position - 1 })
    last = record.position
  }
  const broken = read.flatMap(({ broken }) => broken).filter((at) => at > last && at <= last + recordsMax)
  // A single broken record may be an incomplete last one. Nothing was written after such a record.
  if (new Set(broken).size > 1) missing.push({ from: last + 1, to: Math.max(...broken) })
  return {
    records,
    missing,
    isGone: records.length === 0 && position > 0 && !found.some((record) => record.position === position),
    format: Math.max(0, ...records.map(({ format }) => format)),
  }
}

type Found = LegacyRecord & { format: number; end: number }

/** The readable records of a generation in a file, and the positions in the headers of damaged ones. */
function recordsOf(path: string, generation: number): { records: Found[]; broken: number[] } {
  const records: Found[] = []
  const broken: number[] = []
  if (!existsSync(path)) return { records, broken }
  const bytes = readFileSync(path)
  for (let at = bytes.indexOf(magic); at >= 0 && at + headerBytes <= bytes.length; ) {
    const record = bytes.readDoubleLE(at + 8) === generation ? recordIn(bytes, at) : undefined
    if (record === 'broken') broken.push(bytes.readDoubleLE(at + 16))
    else if (record) records.push(record)
    at = bytes.indexOf(magic, typeof record === 'object' ? record.end : at + 1)
  }
  return { records, broken: broken.filter(Number.isInteger) }
}

function recordIn(bytes: Buffer, at: number): Found | 'broken' {
  const end = at + headerBytes + bytes.readUInt32LE(at + 24)
  if (end > bytes.length || crc32(bytes.subarray(at + 8, end)) !== bytes.readUInt32LE(at + 4)) return 'broken'
  const text = bytes.toString('utf8', at + headerBytes, end)
  return { position: bytes.readDoubleLE(at + 16), format: bytes.readUInt32LE(at + 28), text, end }
}

export function removeLegacyJournal(databasePath: string): void {
  for (const path of legacyJournalPaths(databasePath)) rmSync(path, { force: true })
}

/** Copies the files of a damaged journal and returns the paths of the copies, which are on disk by then. */
export function keepLegacyJournal(databasePath: string, generation: number): string[] {
  const copies: string[] = []
  for (const path of legacyJournalPaths(databasePath)) {
    if ((statSync(path, { throwIfNoEntry: false })?.size ?? 0) === 0) continue
    const copy = `${path}${damagedEnding}${generation.toString(36)}`
    copyFileSync(path, copy)
    const file = openSync(copy, 'r+')
    try {
      fsyncSync(file)
    } finally {
      closeSync(file)
    }
    copies.push(copy)
  }
  if (copies.length > 0) syncFolderSync(dirname(databasePath))
  return copies
}

/** Names of the copies of damaged journals in the data directory. */
export function keptLegacyJournals(directory: string): string[] {
  return readdirSync(directory).filter((name) => name.startsWith('millrace.journal-') && name.includes(damagedEnding))
}

const damagedEnding = '.damaged-'
