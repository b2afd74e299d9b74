import type { Sql } from '../connection.ts'
import { ChunkWalk, chunkText, type Long, readChunk, type SqlChunk } from './chunk.ts'

/** Reads the long texts of entries, one after the other: neighbours share a chunk, which is opened once. */
export class LongTexts {
  readonly #sql: Sql
  #open: OpenChunk | undefined

  constructor(sql: Sql) {
    this.#sql = sql
  }

  /** Undefined when the sequence was never recorded, or is gone. */
  find(sequence: number): Long | undefined {
    const known = this.#open
    if (known && sequence >= known.first && sequence <= known.last) return known.entries.get(sequence)
    // Release it before reading the next one: a chunk may have megabytes.
    this.#open = undefined
    const row = this.#sql.get<SqlChunk & { first_sequence: number; last_sequence: number }>(selectChunk, sequence)
    if (!row || row.last_sequence < sequence) return undefined
    this.#open = { first: row.first_sequence, last: row.last_sequence, entries: readChunk(chunkText(row)) }
    return this.#open.entries.get(sequence)
  }
}

/** Finds single entries in rising order, without parsing those in between. The same one may be requested again. */
export class LongWalk {
  readonly #sql: Sql
  #open: { last: number; walk: ChunkWalk } | undefined
  #latest: { sequence: number; long: Long | undefined } | undefined

  constructor(sql: Sql) {
    this.#sql = sql
  }

  find(sequence: number): Long | undefined {
    if (this.#latest?.sequence !== sequence) this.#latest = { sequence, long: this.#find(sequence) }
    return this.#latest.long
  }

  #find(sequence: number): Long | undefined {
    if (!this.#open || sequence > this.#open.last) {
      const row = this.#sql.get<SqlChunk & { last_sequence: number }>(selectChunk, sequence)
      if (!row || row.last_sequence < sequence) return undefined
      this.#open = { last: row.last_sequence, walk: new ChunkWalk(chunkText(row)) }
    }
    return this.#open.walk.find(sequence)
  }
}

type OpenChunk = { first: number; last: number; entries: ReadonlyMap<number, Long> }

const selectChunk = `
  SELECT first_sequence, last_sequence, encoding, content FROM log_chunks
  WHERE first_sequence <= ? ORDER BY first_sequence DESC LIMIT 1`
