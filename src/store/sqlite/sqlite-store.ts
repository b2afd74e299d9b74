import { AppError } from '../../domain/errors.ts'
import type { Write } from '../../domain/write.ts'
import type { Store } from '../store.ts'
import { Checkpoints, walBytesOfAttempts } from './checkpoints.ts'
import { Executor } from './executor.ts'
import { isIncomplete, unavailable } from './failures.ts'
import type { Taken } from './intake.ts'
import { Journal } from './journal.ts'
import { databasePath, type OpenOptions, type Sync } from './open.ts'
import { type Call, operations, storeOf } from './operations.ts'
import { keepReserve } from './reserve.ts'
import { Thread } from './thread.ts'
import { Zoning } from './zoning.ts'

export type SqliteStoreOptions = {
  /** The data directory; made when it is not there. */
  directory: string
  sync: Sync
  /**
   * `workers`: off the main thread, for the service. `direct`: in the caller's thread, for commands on the data directory,
   * also while a service runs on it. Any number of processes may have one database open.
   */
  mode: 'direct' | 'workers'
  /** With `workers`: whether ended runs may go to the journal, in the caller's thread, while the disk is fast. */
  journal?: boolean
  /** With `workers`: a clock in milliseconds, by which it learns how fast the disk is. */
  monotonic?(): number
  /** How long a write waits for another process; 5 s when absent. */
  busyTimeoutMs?: number
  /** Told of acknowledged runs that the database would not take in: a fault of the program. */
  onLost?(runs: readonly string[]): void
  /** Told of what an operator should look at. */
  onTrouble?(what: string): void
}

/** Rejects with `AppError` `STORAGE_UNAVAILABLE` when the directory, the file or its schema cannot be used. */
export async function openSqliteStore({
  directory,
  sync,
  mode,
  busyTimeoutMs,
  journal: useJournal = true,
  monotonic = () => performance.now(),
  onLost = () => {},
  onTrouble = () => {},
}: SqliteStoreOptions): Promise<Store> {
  const options = { path: databasePath(directory), sync, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) }
  return mode === 'direct'
    ? directStore(options)
    : await workerStore(options, { useJournal, monotonic, onLost, onTrouble })
}

function directStore(options: OpenOptions): Store {
  const executor = new Executor(options, { journal: { own: false } })
  const call: Call = (name, args) => Promise.try(() => executor.run(name, args))
  return storeOf(call, {
    retain: (bounds) => Promise.try(() => executor.retain(bounds)),
    probe: async () => executor.probe(),
    close: async () => executor.close(),
  })
}

/**
 * One thread writes, one reads, one searches the log, so that neither a disk flush nor a long query holds up a request,
 * or one another. The reader and the searcher are started by the first call. (Starting it here without waiting for it lost its first answer now and then, in
 * Bun 1.4.5, when workers were being terminated at the same time.)
 */
async function workerStore(
  options: OpenOptions,
  { useJournal, monotonic, onLost, onTrouble }: WorkerOptions,
): Promise<Store> {
  const writer = await Thread.start({ ...options, manualCheckpoints: true }, { journal: { own: true } })
  const reader = lazy(() => Thread.start(options))
  const searcher = lazy(() => Thread.start(options, { yields: true }))
  const helper = lazy(() => Thread.start(options))
  const journal = new Journal({
    databasePath: options.path,
    sync: options.sync,
    writer,
    monotonic,
    onTaken: (taken) => learnTaken(taken),
    onTrouble,
  })
  writer.precede(() => journal.untold())
  /** Hears of a disk that failed under the thread before the next run could be acknowledged here. */
  const heard = <Result>(writing: Promise<Result>): Promise<Result> =>
    writing.catch((error: unknown) => {
      if (error instanceof AppError && error.code === 'STORAGE_UNAVAILABLE') journal.distrust()
      throw error
    })
  const checkpoints = new Checkpoints({
    writer,
    helper: () => helper.get(),
    onFailure() {
      journal.distrust()
      writer.distrust()
    },
  })
  const zoning = new Zoning({
    summarise: (workspaceId) => heard(writer.summarise(workspaceId)),
    onWritten: (walBytes) => checkpoints.countBytes(walBytes),
  })
  zoning.start()
  let losses = 0
  const learnTaken = ({ walBytes, lost }: Taken) => {
    checkpoints.countBytes(walBytes)
    losses += lost.length
    if (lost.length > 0) onLost(lost)
  }
  // What came of what an earlier process had left. A failure shows in the writes that follow.
  writer.takeIn().then(learnTaken, () => {})
  /** Groups on their way through the thread: what comes behind them must not overtake them. */
  let committing = 0
  const commit = async (writes: readonly Write[]) => {
    committing += 1
    try {
      const refusals = await heard(writer.append(writes))
      journal.learn(writes)
      checkpoints.count(writes)
      zoning.count(writes)
      return refusals
    } finally {
      committing -= 1
    }
  }
  let reserving: Promise<void> | undefined
  const counted = <Result>(writing: Promise<Result>): Promise<Result> => {
    return heard(writing).finally(() => checkpoints.count())
  }
  const call: Call = (name, args) => {
    const { writes, searches, complete } = operations[name]
    if (writes) return counted(writer.call(name, args))
    const read = () => (searches ? searcher : reader).get().then((thread) => thread.call(name, args))
    const behind = journal.caughtUp()
    if (!behind) return read()
    return behind.then((isComplete) => {
      if (isComplete || complete === undefined) return read()
      if (complete === true) throw unavailable(isIncomplete)
      return read().then(present)
    })
  }
  return {
    ...storeOf(call, {
      retain: async (bounds) => {
        const { walBytes, ...step } = await heard(writer.retain(bounds))
        checkpoints.countBytes(walBytes)
        if (step.done) {
          reserving ??= keepReserve(options.path).finally(() => {
            reserving = undefined
          })
        }
        return step
      },
      probe: () => writer.probe(),
      // The writer last: closing the last handle moves the WAL into the database.
      close: async () => {
        await Promise.all([checkpoints.stop(), reserving])
        await journal.close()
        for (const other of [reader, searcher, helper]) {
          const thread = await other.made()?.catch(() => undefined)
          await thread?.close()
        }
        await writer.close()
      },
    }),
    // Needed to start: asked of the writer, so that no start waits for a second thread.
    lastSequence: () => writer.call('lastSequence', []),
    isInitialised: () => writer.call('isInitialised', []),
    isUnseen: () => writer.call('isUnseen', []),
    sealHeads: (length) => writer.call('sealHeads', [length]),
    pendingSubscriptions: () => writer.call('pendingSubscriptions', []),
    listRateWindows: (at) => writer.call('listRateWindows', [at]),
    listDueSchedules: (limit, after) => writer.call('listDueSchedules', [limit, after]),
    listWaitingSchedules: () => writer.call('listWaitingSchedules', []),
    listScheduledJobs: () => writer.call('listScheduledJobs', []),
    // Behind every group that was handed over before: the sum, and what is counted along since, leave out no run and
    // count none twice.
    getUsage: (userId, periodStart) => writer.call('getUsage', [userId, periodStart]),
    async measure() {
      const thread = await reader.get()
      // Counted before this call joins them.
      const searching = (await searcher.made()?.catch(() => undefined))?.callsWaiting ?? 0
      const callsWaiting = { writer: writer.callsWaiting, reader: thread.callsWaiting, searcher: searching }
      const waiting = { waitingBytes: journal.bytesWaiting, lost: losses }
      return { ...(await thread.call('measure', [])), journal: waiting, callsWaiting }
    },
    // Not through the journal, and nothing has to come behind them: nobody waits for it whom they could hold up.
    async endAttempts(attempts) {
      await heard(writer.endAttempts(attempts))
      checkpoints.countBytes(walBytesOfAttempts(attempts))
    },
    append(writes) {
      try {
        if (!useJournal || committing > 0 || !journal.append(writes)) return commit(writes)
        zoning.count(writes)
        return done
      } catch (error) {
        return Promise.reject(error)
      }
    },
  }
}

function present<Result>(result: Result): Result {
  if (result === undefined) throw unavailable(isIncomplete)
  return result
}

type WorkerOptions = { useJournal: boolean } & Required<Pick<SqliteStoreOptions, 'monotonic' | 'onLost' | 'onTrouble'>>

const done = Promise.resolve(undefined)

/** Made when it is first asked for; a failure is forgotten, so that the next call tries again. */
function lazy<Made>(make: () => Promise<Made>): { get(): Promise<Made>; made(): Promise<Made> | undefined } {
  let making: Promise<Made> | undefined
  const get = () => {
    making ??= make().catch((error: unknown) => {
      making = undefined
      throw error
    })
    return making
  }
  return { get, made: () => making }
}
