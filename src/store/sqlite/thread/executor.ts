import type { Write } from '../../../domain/run/write.ts'
import type { RetentionBounds, RetentionStep } from '../../store.ts'
import type { Connection } from '../connection.ts'
import { failureOf, unavailable } from '../failures.ts'
import { importLegacyJournal, type JournalImporter } from '../legacy-journal/import.ts'
import { ZoneMapMaker } from '../logs/zone-maps.ts'
import { type OpenOptions, openConnection, synchronousOf } from '../open.ts'
import { walBytesOf } from '../upkeep/checkpoints.ts'
import { compactChunks } from '../upkeep/compaction.ts'
import { releaseReserve } from '../upkeep/reserve.ts'
import { type RetentionResult, retainLogs } from '../upkeep/retention.ts'
import { type Arguments, type Operation, type OperationName, operations, type Result } from './operations.ts'
import { abandon, drop, probeWrite } from './probe-write.ts'

export type ExecutorOptions = {
  /**
   * Imports the journal of an earlier version, if there is one, as the service or as a command. Absent: ignores such a
   * journal.
   */
  legacyJournal?: JournalImporter | undefined
  /** A clock in milliseconds. */
  monotonic?: () => number
}

/**
 * Runs operations on one connection, in the thread that calls it, and replaces the connection when it can no longer be
 * trusted.
 *
 * A connection is healthy until the disk or the file fails under it. Then the executor closes it and is unhealthy:
 * after a failed fsync the kernel counts the lost pages as written, so a later commit that succeeds could build on
 * frames that exist nowhere. Reads continue with a new connection. The first write (or probe) opens one, moves all of
 * the WAL into the database, and makes a probe write; only when all of that has worked does the executor accept writes
 * again. A full disk is milder: the transaction was rolled back, nothing was lost, and the next write may simply try.
 */
export class Executor {
  readonly #options: OpenOptions
  readonly #monotonic: () => number
  readonly #zones = new ZoneMapMaker()
  #connection: Connection | undefined
  #unhealthy = false
  /** As large as the last write, so that a disk with room for less does not count as healthy. */
  #probeBytes = probeBytesMin
  /** The writes that a damaged database did not accept. A probe write may miss the damage. */
  #refused: readonly Write[] | undefined
  /** Messages about records that could not be imported from the journal of an earlier version. */
  readonly losses: readonly string[] = []

  constructor(options: OpenOptions, { legacyJournal, monotonic = () => performance.now() }: ExecutorOptions = {}) {
    this.#options = options
    this.#monotonic = monotonic
    this.#connection = openConnection(options)
    if (!legacyJournal) return
    const importOptions = { databasePath: options.path, isService: legacyJournal === 'service' }
    try {
      this.losses = this.#guarded((connection) => importLegacyJournal(connection, importOptions))
    } catch (error) {
      this.close()
      throw error
    }
  }

  /** Throws `AppError`, `STORAGE_UNAVAILABLE` among them, or whatever else the operation threw. */
  run<Name extends OperationName>(name: Name, args: Arguments<Name>): Result<Name> {
    const operation: Operation<Name> = operations[name]
    if (operation.writes) return this.#write(name, operation, args)
    return this.#guarded((connection) => connection.read(() => operation.run(connection, ...args)), 'read')
  }

  /** Whether a commit works now. */
  probe(): boolean {
    try {
      this.#guarded((connection) => {
        if (this.#unhealthy) this.#recover(connection)
        else probeWrite(connection, this.#probeBytes)
        if (this.#refused) this.#retryRefused(connection, this.#refused)
      })
      return true
    } catch {
      return false
    }
  }

  /** One step of retention; `walBytes` is what it added to the WAL, an estimate. */
  retain(bounds: RetentionBounds): RetentionStep & { walBytes: number } {
    const startedAt = this.#monotonic()
    const result = this.#guarded((connection) => {
      if (this.#unhealthy) this.#recover(connection)
      try {
        const result = this.#retainStep(connection, bounds)
        // On a full disk, entries held for pending deliveries go too. A step that deletes nothing writes nothing, so it
        // would not notice the full disk.
        if (result.done && result.entries === 0 && result.heldTo > 0) probeWrite(connection, probeBytesMin)
        return result
      } catch (error) {
        if (failureOf(error, this.#options.path)?.kind !== 'full') throw error
        return this.#retainOnFullDisk(connection, bounds)
      }
    })
    return { ...result, heldMs: this.#monotonic() - startedAt }
  }

  /** Merges the small chunks of log entries that were written since the last time. */
  compact(): void {
    if (this.#unhealthy) return
    this.#guarded((connection) => this.#writeUnflushed(connection, () => compactChunks(connection)))
  }

  /**
   * Moves the WAL into the database, as far as no reader needs it. Returns how many bytes it had to leave; undefined
   * when nothing could be moved: the disk is full, or broken and not recovered yet.
   */
  checkpoint(): number | undefined {
    if (this.#unhealthy) return undefined
    return this.#guarded((connection) => {
      try {
        const moved = connection.get<{ log: number; checkpointed: number }>('PRAGMA wal_checkpoint(PASSIVE)')!
        return (moved.log - moved.checkpointed) * frameBytes
      } catch (error) {
        if (failureOf(error, this.#options.path)?.kind === 'full') return undefined
        throw error
      }
    })
  }

  /** One step of summarising log entries; false when there is nothing more to do, or it cannot be done now. */
  summarise(workspaceId: string | undefined): boolean {
    if (this.#unhealthy) return false
    return this.#guarded((connection) =>
      this.#writeUnflushed(connection, () => this.#zones.step(connection, workspaceId)),
    )
  }

  /** Call this after a disk error on this or another handle of the same file. The next write recovers first. */
  markUnhealthy(): void {
    this.#unhealthy = true
    if (this.#connection) abandon(this.#connection)
    this.#connection = undefined
  }

  close(): void {
    this.#connection?.close()
    this.#connection = undefined
  }

  #write<Name extends OperationName>(name: Name, operation: Operation<Name>, args: Arguments<Name>): Result<Name> {
    const writes = name === 'append' ? (args[0] as readonly Write[]) : []
    return this.#guarded((connection) => {
      if (this.#unhealthy) this.#recover(connection)
      this.#probeBytes = Math.max(probeBytesMin, Math.min(walBytesOf(writes), probeBytesMax))
      const run = () => operation.run(connection, ...args)
      try {
        return operation.flushed === false ? this.#writeUnflushed(connection, run) : connection.write(run)
      } catch (error) {
        if (writes.length > 0 && failureOf(error, this.#options.path)?.kind === 'unusable') this.#refused = writes
        throw error
      }
    })
  }

  /** Throws while the storage still refuses the writes. Always rolls back: their callers already got an error. */
  #retryRefused(connection: Connection, writes: readonly Write[]): void {
    try {
      connection.rehearse(() => operations.append.run(connection, writes))
    } catch (error) {
      if (failureOf(error, this.#options.path)) throw error
    }
    this.#refused = undefined
  }

  #guarded<T>(run: (connection: Connection) => T, kind: 'read' | 'write' = 'write'): T {
    const { path } = this.#options
    try {
      this.#connection ??= openConnection(this.#options)
      return run(this.#connection)
    } catch (error) {
      const failure = failureOf(error, path)
      if (failure?.kind === 'io' && kind === 'write') this.markUnhealthy()
      // The next call opens the file again, so a repaired file works without a restart.
      else if (failure?.kind === 'io' || failure?.kind === 'unusable') this.#drop()
      throw failure ? unavailable(failure.message, error) : error
    }
  }

  #retainStep(connection: Connection, bounds: RetentionBounds, holds = true): RetentionResult {
    return this.#writeUnflushed(connection, () => retainLogs(connection, bounds, this.#monotonic, holds))
  }

  /**
   * After a checkpoint the WAL is written again from its start, which takes no space; the checkpoint may take the
   * reserve.
   */
  #retainOnFullDisk(connection: Connection, bounds: RetentionBounds): RetentionResult {
    const released = releaseReserve(this.#options.path)
    connection.get('PRAGMA wal_checkpoint(PASSIVE)')
    // Deletes many entries at once, because no other write is possible now. The next runs fill the freed pages.
    // Entries held for pending deliveries go as well: a service that can write nothing delivers nothing.
    return this.#retainStep(connection, { ...bounds, after: 0, workMs: released ? releasedWorkMs : 0 }, false)
  }

  /**
   * For background work and for writes that are repeated after a power cut. They reach the disk with the next flushed
   * commit, so they need no flush of their own.
   */
  #writeUnflushed<T>(connection: Connection, run: () => T): T {
    // As a script: this pragma acts when it is compiled, so a cached statement would do it only once.
    connection.script('PRAGMA synchronous = NORMAL')
    try {
      return connection.write(run)
    } finally {
      connection.script(synchronousOf(this.#options.sync))
    }
  }

  #drop(): void {
    if (this.#connection) drop(this.#connection)
    this.#connection = undefined
  }

  #recover(connection: Connection): void {
    const result = connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')
    if (result?.busy !== 0) {
      throw unavailable(
        `${this.#options.path} cannot be checked after a disk error because another process is reading it.`,
      )
    }
    probeWrite(connection, this.#probeBytes)
    this.#unhealthy = false
  }
}

const releasedWorkMs = 25
/** A page in the WAL. */
const frameBytes = 4_096 + 24
const probeBytesMin = 65_536
const probeBytesMax = 16_777_216
