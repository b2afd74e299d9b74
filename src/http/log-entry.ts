import { noCost } from '../domain/cost.ts'
import { logIdOf } from '../domain/ids.ts'
import { stateOf, type WorkflowDocument } from '../domain/workflow.ts'
import type { LogDetailRow, LogListRow } from '../store/store.ts'
import { isoTime } from './answers.ts'
import { JsonText, writeObject } from './json-text.ts'

/** What an entry of a list shows beyond its own row; needs the whole row. */
export type EntryExtras = { full: boolean; finalOutput: boolean; traceSpans: boolean }

/** An entry in list form. */
export function writeEntry(row: LogListRow, details: LogDetailRow | undefined, extras: EntryExtras): JsonText {
  return writeObject({
    ...factsOf(row),
    cost: extras.full && details ? costOf(details) : { total: row.costTotal },
    files: null,
    workflow: extras.full && details ? workflowOf(details) : undefined,
    finalOutput: extras.finalOutput && details ? new JsonText(details.finalOutput) : undefined,
    traceSpans: extras.traceSpans && details ? new JsonText(details.traceSpans) : undefined,
  })
}

/** An entry in detail form. `limits` stands inside it, and beside it. */
export function writeDetail(row: LogDetailRow, limits: JsonText): JsonText {
  const data = writeObject({
    ...factsOf(row),
    cost: costOf(row),
    files: null,
    workflow: workflowOf(row),
    executionData: writeObject({
      traceSpans: new JsonText(row.traceSpans),
      finalOutput: new JsonText(row.finalOutput),
    }),
    limits,
  })
  return writeObject({ data, limits })
}

/** `document`: of the version that ran. */
export function writeExecution(row: LogDetailRow, document: WorkflowDocument, limits: JsonText): JsonText {
  const { executionId, workflowId, trigger, startedAt, endedAt, durationMs } = row
  return writeObject({
    executionId,
    workflowId,
    workflowState: stateOf(document),
    executionMetadata: writeObject({
      trigger,
      startedAt: isoTime(startedAt),
      endedAt: isoTime(endedAt),
      totalDurationMs: durationMs,
      cost: costOf(row),
    }),
    limits,
  })
}

function factsOf({ sequence, workflowId, executionId, level, trigger, startedAt, endedAt, durationMs }: LogListRow) {
  return {
    id: logIdOf(sequence),
    workflowId,
    executionId,
    level,
    trigger,
    startedAt: isoTime(startedAt),
    endedAt: isoTime(endedAt),
    totalDurationMs: durationMs,
  }
}

function costOf({ cost }: LogDetailRow): JsonText {
  return new JsonText(cost ?? noCostText)
}

const noCostText = JSON.stringify(noCost)

/** The interface has texts here, so a missing description is an empty one. */
function workflowOf({ workflow: { id, name, description } }: LogDetailRow) {
  return { id, name, description: description ?? '' }
}
