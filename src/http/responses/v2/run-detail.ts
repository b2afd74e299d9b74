import { isObject } from '../../../domain/run/input.ts'
import type { StoredPause } from '../../../domain/run/pause.ts'
import { filesTextV2, statusesV2 } from '../../../domain/run/v2/log-entry-v2.ts'
import { triggerOf } from '../../../domain/workflow/workflow.ts'
import type { LogDetailRow } from '../../../store/run-store.ts'
import type { Services } from '../../services.ts'
import { JsonText, writeObject } from '../json-text.ts'
import { isoTime } from '../schema-parts.ts'
import { errorV2Of } from './run-response.ts'
import type { ListedRunV2, RunDetailV2 } from './run-schemas.ts'
import { openStatusV2 } from './statuses.ts'
import { outputsIn } from './trace.ts'

/** `selected`: entries such as `blockId.path`, or none. */
export type DetailWanted = { includeOutput: boolean; selected: readonly string[] | undefined }

/** A run with the text of its detail. `isJob`: an asynchronous run that has not ended. */
export type FoundRunV2 = {
  workflowId: string
  workspaceId: string
  status: ListedRunV2['status']
  isJob: boolean
  text: JsonText
}

type DetailServices = Pick<Services, 'runner' | 'outputOf' | 'files' | 'store' | 'unsent'>

/** Finds a run, ended or not. */
export async function findRunV2(
  services: DetailServices,
  executionId: string,
  wanted: DetailWanted,
): Promise<FoundRunV2 | undefined> {
  const { store, runner, unsent } = services
  // In this order: a run that ends meanwhile moves from one place to the next, and is found there.
  const open = await store.getOpenRun(executionId)
  if (open) {
    const { workflowId, workspaceId, state, trigger, startedAt } = open
    const pauses = state === 'paused' ? await store.listRunPauses(executionId) : []
    const facts = { workflowId, trigger: triggerOf(trigger), startedAt: startedAt === null ? null : isoTime(startedAt) }
    const status = openStatusV2(state)
    const detail = unended(executionId, { ...facts, status, paused: pausedIn(pauses) }, wanted)
    return { workflowId, workspaceId, status, isJob: true, text: writeObject(detail) }
  }
  const run = runner.find(executionId)
  if (run) {
    const { workflowId, workspaceId, startedAt } = run
    const trigger = runner.runsOf(workspaceId).find((each) => each.executionId === executionId)?.trigger ?? null
    const facts = { workflowId, trigger, startedAt: isoTime(startedAt), status: 'running', paused: null } as const
    const text = writeObject(unended(executionId, facts, wanted))
    return { workflowId, workspaceId, status: 'running', isJob: false, text }
  }
  return await unsent.inTurn(async () => {
    const row = await store.getExecution(executionId)
    if (!row) return undefined
    const { workflowId, workspaceId } = row
    unsent.assertLogRoom(workspaceId)
    const text = await endedText(services, row, wanted)
    return { workflowId, workspaceId, status: statusesV2[row.status], isJob: false, text }
  })
}

type Facts = Pick<RunDetailV2, 'workflowId' | 'trigger' | 'startedAt' | 'status' | 'paused'>

function unended(runId: string, facts: Facts, { selected }: DetailWanted): RunDetailV2 {
  const nothing = { endedAt: null, durationMs: null, cost: null, error: null, output: null, files: null }
  return { runId, ...facts, ...nothing, blockOutputs: selected ? {} : null }
}

/** A person can answer one pause after the other; times end by themselves. */
function pausedIn(pauses: readonly StoredPause[]): RunDetailV2['paused'] {
  const open = pauses.filter(({ state }) => state === 'open')
  const shown = open.find(({ kind }) => kind !== 'wait') ?? open[0]
  if (!shown) return null
  return {
    contextId: shown.contextId,
    pausedAt: isoTime(shown.since),
    resumeAt: shown.until === null ? null : isoTime(shown.until),
    pauseKind: shown.kind === 'wait' ? 'time' : 'human',
    blockedOnBlockId: shown.blockId,
    automaticResumeWaitingReason: null,
    pausePointCount: pauses.length,
    resumedCount: pauses.length - open.length,
  }
}

async function endedText(
  { outputOf, files }: DetailServices,
  row: LogDetailRow,
  { includeOutput, selected }: DetailWanted,
): Promise<JsonText> {
  const { executionId, workflowId, trigger, startedAt, endedAt, durationMs, costTotal, level, status } = row
  const hasOutput = includeOutput && level !== 'error'
  const own = hasOutput && row.createdAt !== null ? await outputOf(executionId) : undefined
  const text = writeObject({
    ...{ runId: executionId, workflowId, status: statusesV2[status], trigger },
    ...{ startedAt: isoTime(startedAt), endedAt: isoTime(endedAt), durationMs, paused: null },
    cost: { total: costTotal },
    error: level === 'error' ? failureIn(row.finalOutput) : null,
    output: hasOutput ? new JsonText(own ?? row.finalOutput) : null,
    blockOutputs: selected ? outputsIn(row.traceSpans, selected) : null,
    files: new JsonText(filesTextV2(row.files)),
  }).text
  return new JsonText(await fresh(text, row, files))
}

async function fresh(text: string, row: LogDetailRow, { freshen }: DetailServices['files']): Promise<string> {
  return row.files === null ? text : await freshen(text, [row.files])
}

/** The final output of a failed run, as its error. */
function failureIn(finalOutput: string) {
  const failure: unknown = JSON.parse(finalOutput)
  if (!isObject(failure)) return errorV2Of({ code: 'EXECUTION_FAILED', message: 'The run failed.' })
  const { error, code, blockId, blockName } = failure
  return errorV2Of({ code: String(code), message: String(error), blockId, blockName })
}
