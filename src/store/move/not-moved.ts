/**
 * Tables and columns that `millrace move` leaves out, and why. Every other column of a store is in `tables.ts`, or is
 * read and written together with the log (`logColumns`).
 */
export type NotMoved = Readonly<Record<string, string>>

const leaseReason = 'held by a process that refreshes a token'

export const notMovedFromSqlite: NotMoved = {
  log_zones: 'made from the log',
  log_zone_facets: 'made from the log',
  run_hours: 'made from the log',
  last_runs: 'made from the log',
  model_set_names: 'made from model_sets',
  owing_runs: 'read as deliveries',
  audiences: 'read as deliveries',
  audience_members: 'read as deliveries',
  probes: 'always empty',
  'credentials.lease_owner': leaseReason,
  'credentials.lease_until': leaseReason,
}

export const notMovedFromPostgres: NotMoved = {
  logs_default: 'a partition of logs',
  editors: 'announced again by the people who have a workflow open',
  draft_notes: 'announced again with the next save',
  processes: 'the processes that run',
  changes: 'read by the processes that run',
  requests_under_way: 'held by the processes that run',
  debounces: 'used by running processes only',
  start_groups: 'used by running processes only',
  'credentials.lease_owner': leaseReason,
  'credentials.lease_until': leaseReason,
  'alert_cursors.commit_order': 'found by the sequence beside it',
  'jobs.owner': 'one of the processes that run',
  'deliveries.owner': 'one of the processes that run',
  migrations: 'the schema itself',
}
