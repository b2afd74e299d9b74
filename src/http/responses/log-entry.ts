import { type Cost, noCost } from '../../domain/run/cost.ts'
import type { RunFailureCode } from '../../domain/run/log.ts'
import { costText, factsText, filesText, notesText, workflowText } from '../../domain/run/log-entry.ts'
import { createIsoTime } from '../../domain/text/iso-time.ts'
import { stateOf, type WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { LiveEnding } from '../../events/live-text.ts'
import type { LogDetailRow } from '../../store/run-store.ts'
import { JsonText, writeObject } from './json-text.ts'
import { isoTime } from './schema-parts.ts'

/** An entry in detail form. `limits` is a member of the entry and also stands next to it, as does `beside`. */
export function writeDetail(row: LogDetailRow, limits: JsonText, beside: Record<string, string> = {}): JsonText {
  const execution = `{"traceSpans":${row.traceSpans},"finalOutput":${row.finalOutput}}`
  const data =
    `{${factsText(row, createIsoTime())},"cost":${costText(row.cost)},"files":${filesText(row.files)},` +
    `${notesText(row, row)},` +
    `"workflow":${workflowText(row.workflow)},"executionData":${execution},"limits":${limits.text}}`
  return writeObject({ data: new JsonText(data), limits, ...beside })
}

/** `document`: the version that ran. */
export function writeExecution(row: LogDetailRow, document: WorkflowDocument, limits: JsonText): JsonText {
  const { executionId, workflowId, trigger, startedAt, endedAt, durationMs, pausedMs } = row
  return writeObject({
    executionId,
    workflowId,
    workflowState: stateOf(document),
    executionMetadata: writeObject({
      trigger,
      startedAt: isoTime(startedAt),
      endedAt: isoTime(endedAt),
      totalDurationMs: durationMs,
      pausedMs,
      cost: new JsonText(costText(row.cost)),
      ...(JSON.parse(`{${notesText(row, row)}}`) as object),
    }),
    limits,
  })
}

/** How a run ended, according to its log entry. */
export function endingOf({ level, finalOutput, cost, endedAt, durationMs }: LogDetailRow): LiveEnding {
  const output: unknown = JSON.parse(finalOutput)
  const times = { endedAt, durationMs, cost: cost === null ? noCost : (JSON.parse(cost) as Cost) }
  if (level === 'info') return { ...times, failure: null, output }
  const { error: message, code, blockId = null, blockName = null } = output as WrittenFailure
  return { ...times, failure: { message, code, blockId, blockName }, output: null }
}

/** The final output of a failed run. */
type WrittenFailure = { error: string; code: RunFailureCode; blockId?: string; blockName?: string }
