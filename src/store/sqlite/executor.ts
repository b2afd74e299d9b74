import type { Write } from '../../domain/write.ts'
import type { RetentionBounds, RetentionStep } from '../store.ts'
import { walBytesOf } from './checkpoints.ts'
import type { Connection } from './connection.ts'
import { failureOf, isIncomplete, unavailable } from './failures.ts'
import { Intake, type Taken } from './intake.ts'
import type { JournalRecord } from './journal-file.ts'
import { lastSequence } from './logs.ts'
import { type OpenOptions, openConnection, synchronousOf } from './open.ts'
import { type Arguments, type Operation, type OperationName, operations, type Result } from './operations.ts'
import { packChunks } from './pack.ts'
import { releaseReserve } from './reserve.ts'
import { retainLogs, type Swept } from './retention.ts'
import { abandon, drop, tryCommit } from './trial.ts'
import { ZoneMaker } from './zones.ts'

/**
 * Runs operations on one connection, in whatever thread it is in, and keeps the connection trustworthy.
 *
 * A connection is good until the disk or the file fails under it; then it is closed and the executor is suspect: after a
 * failed fsync the kernel counts the lost pages as written, so a later commit that succeeds could build on frames that
 * are nowhere. Reads go on with a new connection. The first write (or probe) opens one, moves all of the WAL into the
 * database, and makes a trial commit; only when all of that worked are writes accepted again. A full disk is milder: the
 * transaction was rolled back, nothing was lost, and the next write may simply try.
 *
 * With a `journal` it takes in what that holds before it does anything that depends on it: operations find the runs that
 * were acknowledged before them.
 */
export class Executor {
  readonly #options: OpenOptions
  readonly #monotonic: () => number
  readonly #zones = new ZoneMaker()
  readonly #intake: Intake | undefined
  #connection: Connection | undefined
  #suspect = false
  /** As much as the last write, so that a disk with room for less does not count as well again. */
  #trialBytes = trialBytesMin
  /** What a damaged database did not take: a trial commit may well pass by the damage. */
  #refused: readonly Write[] | undefined

  constructor(
    options: OpenOptions,
    { journal, monotonic = () => performance.now() }: { journal?: JournalSource; monotonic?: () => number } = {},
  ) {
    this.#options = options
    this.#monotonic = monotonic
    this.#connection = openConnection(options)
    if (journal) {
      const write = (connection: Connection, run: () => void) => this.#writeUnflushed(connection, run)
      this.#intake = new Intake({ databasePath: options.path, write, ...journal })
      this.#takeInIfPossible()
      if (this.#intake.refusal) throw this.#intake.refusal
    }
  }

  /** Throws `AppError`, `STORAGE_UNAVAILABLE` among them, or whatever else the operation threw. */
  run<Name extends OperationName>(name: Name, args: Arguments<Name>): Result<Name> {
    const operation: Operation<Name> = operations[name]
    return operation.writes ? this.#write(name, operation, args) : this.#read(operation, args)
  }

  /** Records that were put into the journal: they are taken in before whatever is asked next. */
  hold(records: readonly JournalRecord[]): void {
    this.#intake?.hold(records)
  }

  /** Takes in what the journal holds, and says what came of it since the last time. */
  takeIn(): Taken {
    this.#takeInAll()
    return this.#intake?.report() ?? { walBytes: 0, lost: [] }
  }

  /** The same, and when it returns all of it is on disk without the journal. */
  takeInFlushed(): Taken {
    const taken = this.takeIn()
    this.#guarded((connection) => connection.write(() => this.#intake?.touch(connection)))
    return taken
  }

  /** Takes in all that is left of earlier generations, and expects the records of a new one. Answers the last sequence. */
  beginJournal(generation: number): number {
    this.#takeInAll()
    return this.#guarded((connection) => {
      connection.write(() => this.#intake!.begin(connection, generation))
      this.#intake!.begun(generation)
      return lastSequence(connection)
    })
  }

  /** Whether a commit works now. */
  probe(): boolean {
    try {
      this.#guarded((connection) => {
        if (this.#suspect) this.#mend(connection)
        else tryCommit(connection, this.#trialBytes)
        this.#intake?.take(connection)
        if (this.#refused) this.#tryRefused(connection, this.#refused)
      })
      return true
    } catch {
      return false
    }
  }

  /** One step of retention; `walBytes` is what it added to the WAL, an estimate. */
  retain(bounds: RetentionBounds): RetentionStep & { walBytes: number } {
    this.#takeInIfPossible()
    const startedAt = this.#monotonic()
    const swept = this.#guarded((connection) => {
      if (this.#suspect) this.#mend(connection)
      try {
        const swept = this.#retainStep(connection, bounds)
        // On a full disk what pending deliveries hold goes too; a step that deletes nothing writes nothing, and meets no full disk.
        if (swept.done && swept.entries === 0 && swept.heldTo > 0) tryCommit(connection, trialBytesMin)
        return swept
      } catch (error) {
        if (failureOf(error, this.#options.path)?.kind !== 'full') throw error
        return this.#retainOnFullDisk(connection, bounds)
      }
    })
    return { ...swept, heldMs: this.#monotonic() - startedAt }
  }

  /** Puts together what was written in small pieces since the last time. */
  pack(): void {
    if (this.#suspect) return
    this.#guarded((connection) => this.#writeUnflushed(connection, () => packChunks(connection)))
  }

  /**
   * Moves the WAL into the database, as far as no reader needs it. Answers how much it had to leave, in bytes; undefined
   * when nothing could be moved: the disk is full, or broken and not mended yet.
   */
  checkpoint(): number | undefined {
    if (this.#suspect) return undefined
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
    if (this.#suspect) return false
    return this.#guarded((connection) => {
      this.#intake?.take(connection)
      return this.#writeUnflushed(connection, () => this.#zones.step(connection, workspaceId))
    })
  }

  /** For an error of the disk, met by a write here or by another handle on the same file. */
  distrust(): void {
    // Taking in flushes nothing: before the handle goes, readers get all that was acknowledged.
    this.#takeInIfPossible()
    this.#giveUp()
  }

  close(): void {
    if (this.#takeInIfPossible()) this.#endJournal()
    this.#connection?.close()
    this.#connection = undefined
  }

  #giveUp(): void {
    this.#suspect = true
    if (this.#connection) abandon(this.#connection)
    this.#connection = undefined
  }

  #read<Name extends OperationName>(operation: Operation<Name>, args: Arguments<Name>): Result<Name> {
    if (operation.complete === true && this.#intake?.isDue) this.#takeInAll()
    const isComplete = this.#takeInIfPossible()
    const result = this.#guarded((connection) => connection.read(() => operation.run(connection, ...args)), 'read')
    if (operation.complete === 'absence' && !isComplete && result === undefined) throw unavailable(isIncomplete)
    return result
  }

  #write<Name extends OperationName>(name: Name, operation: Operation<Name>, args: Arguments<Name>): Result<Name> {
    const writes = name === 'append' ? (args[0] as readonly Write[]) : []
    return this.#guarded((connection) => {
      if (this.#suspect) this.#mend(connection)
      this.#intake?.take(connection)
      this.#trialBytes = Math.max(trialBytesMin, Math.min(walBytesOf(writes), trialBytesMax))
      const run = () => operation.run(connection, ...args)
      try {
        return operation.flushed === false ? this.#writeUnflushed(connection, run) : connection.write(run)
      } catch (error) {
        if (writes.length > 0 && failureOf(error, this.#options.path)?.kind === 'unusable') this.#refused = writes
        throw error
      }
    })
  }

  /** Throws while the storage refuses it still. Nothing of it stays: its callers were told that it was not recorded. */
  #tryRefused(connection: Connection, writes: readonly Write[]): void {
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
      if (failure?.kind === 'io' && kind === 'write') this.#giveUp()
      // Opened again by the next call, so that a file that was put right is taken up without a restart.
      else if (failure?.kind === 'io' || failure?.kind === 'unusable') this.#drop()
      throw failure ? unavailable(failure.message, error) : error
    }
  }

  #takeInAll(): void {
    this.#guarded((connection) => {
      if (this.#suspect) this.#mend(connection)
      this.#intake?.take(connection)
    })
  }

  /** False when something of it is left: the next call tries again. */
  #takeInIfPossible(): boolean {
    if (!this.#intake?.isDue) return true
    if (this.#suspect) return false
    try {
      this.#guarded((connection) => this.#intake!.take(connection))
      return true
    } catch {
      return false
    }
  }

  #endJournal(): void {
    try {
      if (this.#connection && !this.#suspect) this.#intake?.end(this.#connection)
    } catch {
      // Then the next start looks for records, and finds none that it does not have.
    }
  }

  #retainStep(connection: Connection, bounds: RetentionBounds, holds = true): Swept {
    return this.#writeUnflushed(connection, () => retainLogs(connection, bounds, this.#monotonic, holds))
  }

  /** A WAL that was moved is written again from its start, which takes no space; moving it may take the reserve. */
  #retainOnFullDisk(connection: Connection, bounds: RetentionBounds): Swept {
    const released = releaseReserve(this.#options.path)
    connection.get('PRAGMA wal_checkpoint(PASSIVE)')
    // Much at once, while nobody else can write: pages that become free now are what runs that come will fill.
    // What pending deliveries hold goes as well: a service that can write nothing delivers nothing.
    return this.#retainStep(connection, { ...bounds, after: 0, workMs: released ? releasedWorkMs : 0 }, false)
  }

  /**
   * For work in the background and what else is done again when a power cut takes it back: it reaches the disk with the next
   * commit that is flushed, so no commit waits for a flush of its own.
   */
  #writeUnflushed<T>(connection: Connection, run: () => T): T {
    // As a script: this pragma acts when it is compiled, so a statement that is kept would do it only once.
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

  #mend(connection: Connection): void {
    const result = connection.get<{ busy: number }>('PRAGMA wal_checkpoint(TRUNCATE)')
    if (result?.busy !== 0) {
      throw unavailable(`A reader keeps ${this.#options.path} from being checked after an error of the disk.`)
    }
    tryCommit(connection, this.#trialBytes)
    this.#suspect = false
  }
}

/** `own`: as `IntakeOptions` has it. */
export type JournalSource = { own: boolean }

const releasedWorkMs = 25
/** A page in the WAL. */
const frameBytes = 4_096 + 24
const trialBytesMin = 65_536
const trialBytesMax = 16_777_216
