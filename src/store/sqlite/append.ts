import type { LogRow } from '../../domain/log.ts'
import type { Write } from '../../domain/write.ts'
import type { Sql } from './connection.ts'
import { endAttempt } from './deliveries.ts'
import { endJob, insertJob, insertStep, startJob } from './jobs.ts'
import { appendLogs } from './logs.ts'

/** The hot path: one group. A job's own writes wait for one another, so their order in a group means nothing; nor does that of attempts. */
export function append(sql: Sql, writes: readonly Write[]): void {
  const rows: LogRow[] = []
  for (const write of writes) {
    if (write.kind === 'log') {
      rows.push(write.row)
      if (write.row.createdAt !== null) endJob(sql, write.row.executionId, write.output)
    } else if (write.kind === 'job') insertJob(sql, write.row)
    else if (write.kind === 'job-start') startJob(sql, write.executionId, write.at)
    else if (write.kind === 'job-step') insertStep(sql, write)
    else endAttempt(sql, write)
  }
  if (rows.length > 0) appendLogs(sql, rows)
}
