import type { Metrics } from './metrics.ts'

/** Where to look for what is simply there. */
export type Watched = {
  runsInFlight(): number
  runsMax: number
  /** Asynchronous runs that have not ended. */
  jobs(): { queued: number; running: number }
  writer(): { healthy: boolean; rowsWaiting: number }
  outbound(): { running: number; waiting: number }
  sandbox(): { workers: number; waiting: number }
  /** Readers who watch runs live. */
  watchers(): number
  /** Attempts to deliver webhooks. */
  webhooks(): { inFlight: number }
  /** Since the start; the time of the last round is undefined before the first. */
  retention(): { entries: number; bytesFreed: number; heldMsMax: number; lastRoundAt: number | undefined }
  store(): Promise<StoreSizes>
}

export type StoreSizes = {
  databaseBytes: number
  freeBytes: number
  walBytes: number
  diskFreeBytes: number
  deliveries: { pending: number; oldestDueAt: number | null }
  callsWaiting: { writer: number; reader: number; searcher: number }
}

export function addServiceGauges(metrics: Metrics, watched: Watched): void {
  const { runsInFlight, runsMax, jobs, writer, outbound, sandbox, watchers, webhooks } = watched
  metrics.gauge('millrace_runs_in_flight', 'Runs that have started and whose entry is not written.', runsInFlight)
  metrics.gauge('millrace_runs_in_flight_max', 'Synchronous runs at once, at most.', () => runsMax)
  metrics.reading(
    { name: 'millrace_jobs', help: 'Asynchronous runs that have not ended.', type: 'gauge', labels: ['status'] },
    () => {
      const { queued, running } = jobs()
      return [
        { labels: ['queued'], value: queued },
        { labels: ['processing'], value: running },
      ]
    },
  )
  metrics.gauge(
    'millrace_log_entries_waiting',
    'Runs that ended and whose log entries are not on disk.',
    () => writer().rowsWaiting,
  )
  metrics.gauge('millrace_storage_healthy', '1 while log entries can be written, else 0.', () =>
    writer().healthy ? 1 : 0,
  )
  metrics.gauge(
    'millrace_outbound_requests_in_flight',
    'Requests of workflows that are on their way.',
    () => outbound().running,
  )
  metrics.gauge(
    'millrace_outbound_requests_waiting',
    'Requests of workflows that wait for a place, in all or to their host.',
    () => outbound().waiting,
  )
  metrics.gauge('millrace_watchers', 'Readers who watch runs live.', watchers)
  metrics.gauge(
    'millrace_webhooks_in_flight',
    'Attempts to deliver webhooks that are on their way.',
    () => webhooks().inFlight,
  )
  metrics.gauge('millrace_sandbox_workers', 'Threads that run the code of workflows.', () => sandbox().workers)
  metrics.gauge('millrace_sandbox_runs_waiting', 'Runs of code that wait for a thread.', () => sandbox().waiting)
}

export function addStoreGauges(metrics: Metrics, read: () => Promise<StoreSizes>): void {
  const size = (name: string, help: string, of: (sizes: StoreSizes) => number) =>
    metrics.gauge(name, help, async () => of(await read()))
  size('millrace_database_bytes', 'Size of the database file.', ({ databaseBytes }) => databaseBytes)
  size('millrace_database_free_bytes', 'Of the database file, what nothing uses.', ({ freeBytes }) => freeBytes)
  size('millrace_wal_bytes', 'Size of the file of commits beside the database.', ({ walBytes }) => walBytes)
  size('millrace_disk_free_bytes', 'Left on the disk that holds the database.', ({ diskFreeBytes }) => diskFreeBytes)
  size(
    'millrace_webhooks_pending',
    'Webhooks that are to be delivered: now, or again after a failure.',
    ({ deliveries }) => deliveries.pending,
  )
  metrics.gauge(
    'millrace_webhooks_oldest_due_timestamp_seconds',
    'When the webhook that waits longest was due, or will be, in Unix time.',
    async () => {
      const { oldestDueAt } = (await read()).deliveries
      return oldestDueAt === null ? undefined : oldestDueAt / 1000
    },
  )
  metrics.reading(
    {
      name: 'millrace_storage_calls_waiting',
      help: 'Calls that wait for a thread of the store.',
      type: 'gauge',
      labels: ['thread'],
    },
    async () => {
      const { callsWaiting } = await read()
      return Object.entries(callsWaiting).map(([thread, value]) => ({ labels: [thread], value }))
    },
  )
}

/** What deleting old log entries has done. */
export function addRetentionCounts(metrics: Metrics, read: Watched['retention']): void {
  const count = (name: string, help: string, of: (done: ReturnType<Watched['retention']>) => number) =>
    metrics.reading({ name, help, type: 'counter', labels: [] }, () => [{ labels: [], value: of(read()) }])
  count('millrace_retention_entries_total', 'Old log entries deleted.', ({ entries }) => entries)
  count('millrace_retention_bytes_total', 'Bytes given back to the disk.', ({ bytesFreed }) => bytesFreed)
  metrics.gauge(
    'millrace_retention_step_seconds_max',
    'The longest time since the start that deleting old log entries kept other writes waiting.',
    () => read().heldMsMax / 1000,
  )
  metrics.gauge(
    'millrace_retention_last_round_timestamp_seconds',
    'When old log entries were last looked for, in Unix time.',
    () => {
      const { lastRoundAt } = read()
      return lastRoundAt === undefined ? undefined : lastRoundAt / 1000
    },
  )
}
