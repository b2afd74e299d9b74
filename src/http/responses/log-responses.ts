import { AppError } from '../../domain/errors.ts'
import { sequenceOf } from '../../domain/ids.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { LogQuery } from '../../store/log-query.ts'
import type { LogDetailRow } from '../../store/run-store.ts'
import { assertMay, type Caller } from '../access/auth.ts'
import type { Door, ResponseSet } from '../access/door.ts'
import { readCursor } from '../requests/cursor.ts'
import { readLogRequest, scopeOf } from '../requests/log-query.ts'
import type { Services } from '../services.ts'
import { runWebhookResponse } from './delivery-response.ts'
import { JsonText, respondWith, respondWithBody } from './json-text.ts'
import { limitsResponse } from './limits-response.ts'
import { writeDetail, writeExecution } from './log-entry.ts'
import { respondWithPage } from './log-page.ts'
import type { EditorLogDetail, ExecutionDetail, LogDetail, LogList, RunWebhooks } from './log-schemas.ts'

/** Responses about the log, for the external API and for the dashboard: the same shapes for both. */

/** A page of entries. `showFailures`: for the dashboard, whose list says why a run failed. */
export async function respondWithLogs(
  services: Services,
  door: Door,
  { request, set }: { request: Request; set: ResponseSet },
  caller: Caller,
  showFailures = false,
): Promise<LogList> {
  const wanted = readLogRequest(request.url)
  assertMay(caller, wanted.workspaceId, 'read', 'workspace')
  const scope = scopeOf(wanted)
  const after = wanted.cursor === undefined ? undefined : readCursor(wanted.cursor, scope)
  if (wanted.cursor !== undefined && after === undefined) throw invalidCursor()
  const { workspaceId, details, includeFinalOutput, includeTraceSpans } = wanted
  const { store, unsent } = services
  const isLong = details === 'full' && (includeFinalOutput || includeTraceSpans)
  let isBegun = false
  const queryInTurn = (query: LogQuery) =>
    unsent.inTurn(() => {
      if (!isBegun) unsent.assertLogRoom(workspaceId)
      isBegun = true
      return store.queryLogs(query)
    })
  const page = await respondWithPage({
    store: isLong ? { queryLogs: queryInTurn } : store,
    request: wanted,
    after,
    limits: (await limitsFor(services, caller)).text,
    freshenFiles: services.files.freshen,
    showFailures,
  })
  if ('text' in page) return respondWithBody<LogList>(set, unsent.logBody(workspaceId, page.text))
  const onFailure = (cause: unknown) => door.onAborted(request, cause)
  return respondWithBody<LogList>(set, unsent.logBodyOf(workspaceId, page.parts, onFailure))
}

/** One entry. */
export async function respondWithLog(
  services: Services,
  set: ResponseSet,
  caller: Caller,
  id: string,
): Promise<LogDetail> {
  return await services.unsent.inTurn(async () => {
    const row = await findLog(services, caller, id)
    return await detailResponse(services, set, row, writeDetail(row, await limitsFor(services, caller)))
  })
}

/** One entry, with its workspace. */
export async function respondWithEditorLog(
  services: Services,
  set: ResponseSet,
  caller: Caller,
  id: string,
): Promise<EditorLogDetail> {
  return await services.unsent.inTurn(async () => {
    const row = await findLog(services, caller, id)
    const { workspaceId } = row
    const detail = writeDetail(row, await limitsFor(services, caller), { workspaceId })
    return await detailResponse(services, set, row, detail)
  })
}

async function findLog({ store, unsent }: Services, caller: Caller, id: string): Promise<LogDetailRow> {
  const sequence = sequenceOf(id)
  const row = sequence === undefined ? undefined : await store.getLog(sequence)
  assertMay(caller, row?.workspaceId, 'read', 'log entry')
  const found = row as LogDetailRow
  unsent.assertLogRoom(found.workspaceId)
  return found
}

/** Its file objects get freshly signed URLs. */
async function detailResponse<Body>(
  { files, unsent }: Services,
  set: ResponseSet,
  row: LogDetailRow,
  { text }: JsonText,
): Promise<Body> {
  const fresh = await files.freshen(text, row.files === null ? [] : [row.files])
  return respondWithBody<Body>(set, unsent.logBody(row.workspaceId, fresh))
}

/** The decision about each webhook subscription when a run ended, and its outcome. */
export async function respondWithRunWebhooks(services: Services, caller: Caller, id: string): Promise<RunWebhooks> {
  const run = await services.unsent.inTurn(() => findLog(services, caller, id))
  const webhooks = await services.store.listRunWebhooks(run.sequence)
  const limits = limitsResponse(await services.limits.report(caller.userId))
  return { data: webhooks.map((each) => runWebhookResponse(each, run)), limits }
}

/** The deployment that a run used. */
export async function respondWithExecution(
  services: Services,
  set: ResponseSet,
  caller: Caller,
  executionId: string,
): Promise<ExecutionDetail> {
  const { store, unsent } = services
  const row = await unsent.inTurn(() => store.getExecution(executionId))
  assertMay(caller, row?.workspaceId, 'read', 'execution')
  const { workflowId, workspaceId, version } = row as LogDetailRow
  const document = await store.getDocument(workflowId, version)
  const limits = await limitsFor(services, caller)
  // Logs contain no secrets, for editors either.
  const state = await services.secrets.shown(document ?? nothing, workspaceId, false)
  return respondWith<ExecutionDetail>(set, writeExecution(row as LogDetailRow, state, limits))
}

async function limitsFor(services: Services, caller: Caller): Promise<JsonText> {
  return new JsonText(JSON.stringify(limitsResponse(await services.limits.report(caller.userId))))
}

/** The state of a version that was deleted. */
const nothing: WorkflowDocument = { name: '', blocks: {}, edges: [] }

function invalidCursor(): AppError {
  return new AppError(
    'INVALID_CURSOR',
    'This cursor does not belong to this query. Keep workspaceId, order and filters as they were, or start without a cursor.',
  )
}
