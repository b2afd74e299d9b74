import type { Level, LogRow } from '../../domain/log.ts'
import type { TriggerKind } from '../../domain/workflow.ts'

/**
 * A group of rows as one string, for the way to the writer's thread. Measured for 32 rows of 1 kB: posting an array of
 * objects costs the main thread 45 µs, a flat array of values 17 µs, one string 0.4 µs (strings cross without a copy).
 *
 * Each row is a line of numbers (its own, then the lengths of its texts) and the texts, one after the other.
 */
export function encodeGroup(rows: readonly LogRow[]): string {
  let text = ''
  for (const row of rows) {
    const models = row.models.length === 0 ? '' : JSON.stringify(row.models)
    text +=
      `${row.sequence} ${row.version} ${row.level} ${row.trigger} ${row.createdAt ?? ''} ${row.startedAt} ${row.endedAt} ${row.durationMs} ` +
      `${row.costTotal} ${models.length} ${row.executionId.length} ${row.workflowId.length} ${row.workspaceId.length} ` +
      `${row.cost === null ? -1 : row.cost.length} ${row.finalOutput.length} ${row.rawOutput === null ? -1 : row.rawOutput.length} ${row.traceSpans.length}\n` +
      models +
      row.executionId +
      row.workflowId +
      row.workspaceId +
      (row.cost ?? '') +
      row.finalOutput +
      (row.rawOutput ?? '') +
      row.traceSpans
  }
  return text
}

export function decodeGroup(text: string): LogRow[] {
  const rows: LogRow[] = []
  let at = 0
  const take = (length: string | undefined): string => {
    const start = at
    at += Number(length)
    return text.slice(start, at)
  }
  while (at < text.length) {
    const end = text.indexOf('\n', at)
    const head = text.slice(at, end).split(' ')
    at = end + 1
    rows.push({
      sequence: Number(head[0]),
      version: Number(head[1]),
      level: head[2] as Level,
      trigger: head[3] as TriggerKind,
      createdAt: head[4] === '' ? null : Number(head[4]),
      startedAt: Number(head[5]),
      endedAt: Number(head[6]),
      durationMs: Number(head[7]),
      costTotal: Number(head[8]),
      models: head[9] === '0' ? [] : (JSON.parse(take(head[9])) as string[]),
      executionId: take(head[10]),
      workflowId: take(head[11]),
      workspaceId: take(head[12]),
      cost: head[13] === '-1' ? null : take(head[13]),
      finalOutput: take(head[14]),
      rawOutput: head[15] === '-1' ? null : take(head[15]),
      traceSpans: take(head[16]),
    })
  }
  return rows
}
