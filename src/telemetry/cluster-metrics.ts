import type { Metrics } from './metrics.ts'

/** This process among those that serve the installation. The counts are since its start. */
export type ClusterFacts = {
  isLeader: boolean
  isDraining: boolean
  /** The other processes. */
  peers: number
  counters: { checkIns: number; failures: number; claimsLost: number; adoptions: number }
}

export function addClusterMetrics(metrics: Metrics, read: () => ClusterFacts): void {
  const gauge = (name: string, help: string, of: (facts: ClusterFacts) => number) =>
    metrics.gauge(name, help, () => of(read()))
  const count = (name: string, help: string, of: (counters: ClusterFacts['counters']) => number) =>
    metrics.reading({ name, help, type: 'counter', labels: [] }, () => [{ labels: [], value: of(read().counters) }])
  gauge('millrace_peers', 'Other processes that serve the installation.', ({ peers }) => peers)
  gauge('millrace_leader', '1 if this process runs schedules and retention, else 0.', ({ isLeader }) =>
    Number(isLeader),
  )
  gauge('millrace_draining', '1 while this process takes no more work, else 0.', ({ isDraining }) => Number(isDraining))
  count('millrace_check_ins_total', 'Check-ins with the database that keep the claims on work.', (c) => c.checkIns)
  count('millrace_check_in_failures_total', 'Check-ins that failed.', ({ failures }) => failures)
  count(
    'millrace_claims_lost_total',
    'Times that others took over the work of this process, because it did not check in for too long.',
    ({ claimsLost }) => claimsLost,
  )
  count('millrace_adoptions_total', 'Takeovers of deliveries of processes that were gone.', (c) => c.adoptions)
}
