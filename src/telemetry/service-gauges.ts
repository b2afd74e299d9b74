import { addClusterMetrics, type ClusterFacts } from './cluster-metrics.ts'
import type { Metrics } from './metrics.ts'

/** The sources of current values. */
export type Watched = {
  runsInFlight(): number
  runsMax: number
  /** The values that large runs hold, in bytes. */
  runsBytes(): number
  /** Asynchronous runs that have not ended. */
  jobs(): { queued: number; running: number }
  writer(): { healthy: boolean; rowsWaiting: number }
  outbound(): { running: number; waiting: number }
  sandbox(): { workers: number; waiting: number }
  /** Clients that follow runs live. */
  watchers(): number
  /** Webhook delivery attempts. */
  webhooks(): { inFlight: number }
  /** Counted since the start. The time of the last round is undefined before the first. */
  retention(): { entries: number; bytesFreed: number; heldMsMax: number; lastRoundAt: number | undefined }
  store(): Promise<StoreSizes>
  cluster(): ClusterFacts
}

export type StoreSizes = {
  databaseBytes: number
  freeBytes: number
  walBytes: number
  diskFreeBytes: number | null
  deliveries: { pending: number; oldestDueAt: number | null }
  callsWaiting: Readonly<Record<string, number>>
  connections: { busy: number; idle: number; waiting: number } | null
}

export function addServiceGauges(metrics: Metrics, watched: Watched): void {
  const { runsInFlight, runsMax, runsBytes, jobs, writer, outbound, sandbox, watchers, webhooks } = watched
  metrics.gauge(
    'millrace_runs_in_flight',
    'Runs that have started and whose log entry is not written yet.',
    runsInFlight,
  )
  metrics.gauge('millrace_runs_in_flight_max', 'Maximum number of concurrent synchronous runs.', () => runsMax)
  metrics.gauge('millrace_runs_bytes', 'Values that runs with more than 1 MB hold, in bytes.', runsBytes)
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
    'Ended runs whose log entries are not on disk yet.',
    () => writer().rowsWaiting,
  )
  metrics.gauge('millrace_storage_healthy', '1 while log entries can be written, else 0.', () =>
    writer().healthy ? 1 : 0,
  )
  metrics.gauge('millrace_outbound_requests_in_flight', 'Requests of workflows in flight.', () => outbound().running)
  metrics.gauge(
    'millrace_outbound_requests_waiting',
    'Requests of workflows that wait for a slot, overall or for their host.',
    () => outbound().waiting,
  )
  metrics.gauge('millrace_watchers', 'Clients that follow runs live.', watchers)
  metrics.gauge('millrace_webhooks_in_flight', 'Webhook delivery attempts in flight.', () => webhooks().inFlight)
  metrics.gauge('millrace_sandbox_workers', 'Threads that run user code.', () => sandbox().workers)
  metrics.gauge(
    'millrace_sandbox_runs_waiting',
    'Executions of user code that wait for a thread.',
    () => sandbox().waiting,
  )
  addClusterMetrics(metrics, watched.cluster)
}

export function addStoreGauges(metrics: Metrics, read: () => Promise<StoreSizes>): void {
  const size = (name: string, help: string, of: (sizes: StoreSizes) => number | null) =>
    metrics.gauge(name, help, async () => of(await read()) ?? undefined)
  size('millrace_database_bytes', 'Size of the database file.', ({ databaseBytes }) => databaseBytes)
  size('millrace_database_free_bytes', 'Unused space in the database file.', ({ freeBytes }) => freeBytes)
  size('millrace_wal_bytes', 'Size of the write-ahead log file.', ({ walBytes }) => walBytes)
  size(
    'millrace_disk_free_bytes',
    'Free space on the disk that holds the database.',
    ({ diskFreeBytes }) => diskFreeBytes,
  )
  size(
    'millrace_webhooks_pending',
    'Pending webhook deliveries: due now, or to be retried.',
    ({ deliveries }) => deliveries.pending,
  )
  metrics.gauge(
    'millrace_webhooks_oldest_due_timestamp_seconds',
    'When the oldest pending webhook delivery was or will be due, in Unix time.',
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
  metrics.reading(
    {
      name: 'millrace_database_connections',
      help: 'Connections of this process to PostgreSQL.',
      type: 'gauge',
      labels: ['state'],
    },
    async () => {
      const { connections } = await read()
      if (!connections) return []
      return [
        { labels: ['busy'], value: connections.busy },
        { labels: ['idle'], value: connections.idle },
      ]
    },
  )
  size(
    'millrace_database_calls_waiting',
    'Calls of this process that wait for a connection to PostgreSQL.',
    ({ connections }) => connections?.waiting ?? null,
  )
}

/** Scheduled backups since the start, and the last good one, which may be older. */
export type BackupCounts = { last: { at: number; bytes: number } | undefined; succeeded: number; failed: number }

export function addBackupMetrics(metrics: Metrics, read: () => BackupCounts): void {
  const help = 'Scheduled backups since the start, by outcome.'
  metrics.reading({ name: 'millrace_backups_total', help, type: 'counter', labels: ['outcome'] }, () => {
    const { succeeded, failed } = read()
    return [
      { labels: ['succeeded'], value: succeeded },
      { labels: ['failed'], value: failed },
    ]
  })
  metrics.gauge(
    'millrace_backup_last_success_timestamp_seconds',
    'When the last good scheduled backup began, in Unix time.',
    () => {
      const { last } = read()
      return last && last.at / 1000
    },
  )
  metrics.gauge('millrace_backup_bytes', 'Size of the last good scheduled backup.', () => read().last?.bytes)
}

/** Adds the metrics of log retention. */
export function addRetentionCounts(metrics: Metrics, read: Watched['retention']): void {
  const count = (name: string, help: string, of: (done: ReturnType<Watched['retention']>) => number) =>
    metrics.reading({ name, help, type: 'counter', labels: [] }, () => [{ labels: [], value: of(read()) }])
  count('millrace_retention_entries_total', 'Old log entries deleted.', ({ entries }) => entries)
  count('millrace_retention_bytes_total', 'Bytes returned to the disk.', ({ bytesFreed }) => bytesFreed)
  metrics.gauge(
    'millrace_retention_step_seconds_max',
    'Longest time since the start that deleting old log entries delayed other writes.',
    () => read().heldMsMax / 1000,
  )
  metrics.gauge(
    'millrace_retention_last_round_timestamp_seconds',
    'When old log entries were last deleted or searched for, in Unix time.',
    () => {
      const { lastRoundAt } = read()
      return lastRoundAt === undefined ? undefined : lastRoundAt / 1000
    },
  )
}
