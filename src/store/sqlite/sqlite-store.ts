import type { Write } from '../../domain/run/write.ts'
import { onlyProcess } from '../process-store.ts'
import type { Store } from '../store.ts'
import { LocalDebounces } from './local-debounces.ts'
import { LocalPresence } from './local-presence.ts'
import { databasePath, type OpenOptions, type Sync } from './open.ts'
import { Executor } from './thread/executor.ts'
import { type Call, operations, storeOf } from './thread/operations.ts'
import { Thread } from './thread/thread.ts'
import { Checkpoints, walBytesOf, walBytesOfAttempts } from './upkeep/checkpoints.ts'
import { keepReserve } from './upkeep/reserve.ts'
import { ZoneMapSchedule } from './upkeep/zone-map-schedule.ts'

export type SqliteStoreOptions = {
  /** The data directory; created when it does not exist. */
  directory: string
  sync: Sync
  /**
   * `workers`: off the main thread, for the service, which holds the lock of the directory. `direct`: in the caller's
   * thread, for commands on the data directory, also while a service runs on it. Any number of processes may have one
   * database open.
   */
  mode: 'direct' | 'workers'
  /** How long a write waits for another process; 5 s when absent. */
  busyTimeoutMs?: number
  /** Receives a text for each part of an earlier version's journal that could not be imported. */
  onLost?(lost: readonly string[]): void
}

/** Rejects with `AppError` `STORAGE_UNAVAILABLE` when the directory, the file or its schema cannot be used. */
export async function openSqliteStore({
  directory,
  sync,
  mode,
  busyTimeoutMs,
  onLost,
}: SqliteStoreOptions): Promise<Store> {
  const options = { path: databasePath(directory), sync, ...(busyTimeoutMs !== undefined && { busyTimeoutMs }) }
  return mode === 'direct' ? directStore(options, onLost) : await workerStore(options, onLost)
}

type OnLost = SqliteStoreOptions['onLost']

function directStore(options: OpenOptions, onLost: OnLost): Store {
  const executor = new Executor(options, { legacyJournal: 'command' })
  if (executor.losses.length > 0) onLost?.(executor.losses)
  const call: Call = (name, args) => Promise.try(() => executor.run(name, args))
  return storeOf(call, {
    ...new LocalPresence(),
    ...new LocalDebounces(),
    ...onlyProcess,
    retain: (bounds) => Promise.try(() => executor.retain(bounds)),
    probe: async () => executor.probe(),
    close: async () => executor.close(),
  })
}

/**
 * One thread writes, one reads, one searches the log, so that neither a disk flush nor a long query delays a request or
 * another query. The reader and the searcher are started by the first call. (When they were started here without
 * waiting, their first reply was lost now and then, in Bun 1.4.5, while other workers were being terminated.)
 */
async function workerStore(options: OpenOptions, onLost: OnLost): Promise<Store> {
  const writer = await Thread.start({ ...options, manualCheckpoints: true }, { legacyJournal: 'service', onLost })
  const reader = lazy(() => Thread.start(options))
  const searcher = lazy(() => Thread.start(options, { lowPriority: true }))
  const helper = lazy(() => Thread.start(options))
  const checkpoints = new Checkpoints({
    writer,
    helper: () => helper.get(),
    onFailure: () => writer.markUnhealthy(),
  })
  const zoneMaps = new ZoneMapSchedule({
    summarise: (workspaceId) => writer.summarise(workspaceId),
    onWritten: (walBytes) => checkpoints.countBytes(walBytes),
  })
  zoneMaps.start()
  let reserving: Promise<void> | undefined
  const call: Call = (name, args) => {
    const { writes, searches } = operations[name]
    if (writes) return writer.call(name, args).finally(() => checkpoints.count())
    return (searches ? searcher : reader).get().then((thread) => thread.call(name, args))
  }
  return {
    ...storeOf(call, {
      ...new LocalPresence(),
      ...new LocalDebounces(),
      ...onlyProcess,
      retain: async (bounds) => {
        const { walBytes, ...step } = await writer.retain(bounds)
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
        for (const other of [reader, searcher, helper]) {
          const thread = await other.made()?.catch(() => undefined)
          await thread?.close()
        }
        await writer.close()
      },
    }),
    // The start needs these: it asks the writer, so that it does not wait for a second thread.
    lastSequence: () => writer.call('lastSequence', []),
    isInitialised: () => writer.call('isInitialised', []),
    isUnseen: () => writer.call('isUnseen', []),
    sealHeads: (length) => writer.call('sealHeads', [length]),
    sampleSealedDocuments: () => writer.call('sampleSealedDocuments', []),
    pendingSubscriptions: () => writer.call('pendingSubscriptions', []),
    listRateWindows: (at) => writer.call('listRateWindows', [at]),
    listDueSchedules: (limit, after) => writer.call('listDueSchedules', [limit, after]),
    listWaitingSchedules: () => writer.call('listWaitingSchedules', []),
    listDuePolls: (limit, after) => writer.call('listDuePolls', [limit, after]),
    listScheduledJobs: () => writer.call('listScheduledJobs', []),
    // Runs after all groups that were handed over before. So the sum, together with what is counted afterwards, omits
    // no run and counts none twice.
    getUsage: (userId, periodStart) => writer.call('getUsage', [userId, periodStart]),
    async measure() {
      const thread = await reader.get()
      // Counted before this call joins them.
      const searching = (await searcher.made()?.catch(() => undefined))?.callsWaiting ?? 0
      const callsWaiting = { writer: writer.callsWaiting, reader: thread.callsWaiting, searcher: searching }
      return { ...(await thread.call('measure', [])), callsWaiting }
    },
    async endAttempts(attempts) {
      await writer.call('endAttempts', [attempts])
      checkpoints.countBytes(walBytesOfAttempts(attempts))
    },
    async append(writes: readonly Write[]) {
      // Counted first: a large write is gone afterwards.
      const walBytes = walBytesOf(writes)
      const refusals = await writer.append(writes)
      checkpoints.countBytes(walBytes)
      zoneMaps.count(writes)
      return refusals
    },
  }
}

/** Made by the first call; after a failure the next call tries again. */
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
