import type { ProcessRow } from '../../process-store.ts'
import type { Sql } from '../connection.ts'
import { leaderOf } from './check-in.ts'

/** The processes that serve the installation, oldest first. */
export async function listProcesses(sql: Sql): Promise<ProcessRow[]> {
  const rows = await sql.all<SqlProcess>(selectProcesses)
  const leader = leaderOf(rows)
  return rows.map(({ number, runs, jobs, deliveries, schedules, leaseMs, ...row }) => ({
    ...row,
    isGone: leaseMs < 0,
    isLeader: number === leader,
    holds: { runs, jobs, deliveries, schedules: number === leader ? schedules : 0 },
  }))
}

/** Asks a process to take no more work. False when there is no such process. */
export async function drainProcess(sql: Sql, id: string): Promise<boolean> {
  return (await sql.run('UPDATE millrace.processes SET draining = true WHERE id = $1', id)) > 0
}

type SqlProcess = Omit<ProcessRow, 'isGone' | 'isLeader' | 'holds'> &
  ProcessRow['holds'] & { number: number; leaseMs: number }

const selectProcesses = `
  SELECT p.number, p.id, p.url, p.host, p.pid, p.version, p.draining AS "isDraining", p.key_heads[1] AS "keyHead", p.runs,
    floor(extract(epoch FROM p.started_at) * 1000)::bigint AS "startedAt",
    floor(extract(epoch FROM p.heartbeat_at) * 1000)::bigint AS "heartbeatAt",
    (extract(epoch FROM p.lease_until - now()) * 1000)::double precision AS "leaseMs",
    (SELECT count(*) FROM millrace.jobs j WHERE j.owner = p.number AND j.owner > 0) AS jobs,
    (SELECT count(*) FROM millrace.deliveries d WHERE d.owner = p.number AND d.due_at IS NOT NULL) AS deliveries,
    (SELECT count(*) FROM millrace.schedules) AS schedules
  FROM millrace.processes p ORDER BY p.number`
