import type { RunStatus } from '../../../domain/run/log.ts'
import { folderIdOf } from '../../../domain/workflow/folders.ts'
import { type TriggerKind, triggerKinds } from '../../../domain/workflow/workflow.ts'
import { folderAt } from '../folder-path.ts'
import { everything, type LogRequest, logsPageDefault, logsPageMax } from '../log-query.ts'
import { Parameters } from '../parameters.ts'

/** The statuses of our log entries, by Sim's status. A run that has not ended has no entry. */
const statuses: Readonly<Record<string, readonly RunStatus[]>> = {
  pending: [],
  running: [],
  paused: [],
  redacting: [],
  completed: ['success'],
  failed: ['error'],
  cancelled: ['cancelled'],
}
export const logStatusesV2 = Object.keys(statuses)

const listMax = 200

/** Reads the query of `GET /api/v2/logs`. `request` is undefined if no entry can match. Throws INVALID_PARAMETERS. */
export function readLogRequestV2(url: string): { workspaceId: string; request: LogRequest | undefined } {
  const parameters = new Parameters(url)
  const workspaceId = parameters.required('workspaceId', 'must be given; GET /api/v2/workspaces lists yours')
  const triggers = parameters.list('triggers')
  const wanted = parameters.listOf('status', logStatusesV2)?.flatMap((each) => statuses[each] ?? [])
  const known = triggers?.includes('all') ? undefined : triggers?.filter(isTrigger)
  const includesTraceSpans = parameters.flag('includeTraceSpans')
  const includesFinalOutput = parameters.flag('includeFinalOutput')
  const details = parameters.oneOf('details', ['basic', 'full']) ?? 'basic'
  const folders = shortList(parameters, 'folderPaths')
  const request: LogRequest = {
    workspaceId,
    filter: {
      ...everything,
      workflowIds: shortList(parameters, 'workflowIds'),
      folderIds: folderIdsOf(folders),
      triggers: known,
      statuses: wanted,
      level: parameters.oneOf('level', ['info', 'error']),
      startDate: parameters.time('startDate'),
      endDate: parameters.time('endDate'),
      executionId: parameters.text('runId'),
      minDurationMs: parameters.number('minDurationMs'),
      maxDurationMs: parameters.number('maxDurationMs'),
      minCost: parameters.number('minCost'),
      maxCost: parameters.number('maxCost'),
      model: parameters.text('model'),
    },
    order: parameters.oneOf('sortOrder', ['desc', 'asc']) ?? 'desc',
    limit: Math.min(Math.max(parameters.whole('limit', 0, 999_999) ?? logsPageDefault, 1), logsPageMax),
    cursor: parameters.text('cursor'),
    details: includesTraceSpans || includesFinalOutput ? 'full' : details,
    includeTraceSpans: includesTraceSpans,
    includeFinalOutput: includesFinalOutput,
  }
  refuseUnsupported(parameters)
  parameters.assertValid()
  return { workspaceId, request: wanted?.length === 0 || known?.length === 0 ? undefined : request }
}

/** Undefined for all folders: `/` contains the others. */
function folderIdsOf(paths: readonly string[] | undefined): string[] | undefined {
  if (paths?.some((path) => folderAt(path) === null)) return undefined
  return paths?.map((path) => folderIdOf(folderAt(path) ?? ''))
}

const isTrigger = (text: string): text is TriggerKind => (triggerKinds as readonly string[]).includes(text)

function shortList(parameters: Parameters, name: string): string[] | undefined {
  const list = parameters.list(name)
  if (list && list.length > listMax) parameters.missing(name, `can have at most ${listMax} entries`)
  return list
}

/** Rejects parameters that the log does not support. Ignoring them would return wrong results. */
function refuseUnsupported(parameters: Parameters): void {
  const sortBy = parameters.oneOf('sortBy', ['startedAt', 'durationMs', 'cost', 'status'])
  if (sortBy !== undefined && sortBy !== 'startedAt') {
    parameters.missing('sortBy', 'can only be startedAt: entries are in the order in which they were recorded')
  }
  if (parameters.flag('includeHandledErrors')) {
    parameters.missing('includeHandledErrors', 'must be false: the log does not record whether an error was handled')
  }
  if (parameters.text('workflowName') !== undefined) {
    parameters.missing('workflowName', 'is not supported. Use workflowIds')
  }
}
