import { AppError } from '../../../domain/errors.ts'
import { type Cost, noCost } from '../../../domain/run/cost.ts'
import { factsTextV2, filesTextV2 } from '../../../domain/run/v2/log-entry-v2.ts'
import { createIsoTime } from '../../../domain/text/iso-time.ts'
import { stateOf } from '../../../domain/workflow/workflow.ts'
import type { LogDetailRow } from '../../../store/run-store.ts'
import { assertMay, type Caller } from '../../access/auth.ts'
import { type CursorScope, readCursor, writeCursor } from '../../requests/cursor.ts'
import { folderPathOf } from '../../requests/folder-path.ts'
import type { LogRequest } from '../../requests/log-query.ts'
import type { Services } from '../../services.ts'
import { JsonText, writeObject } from '../json-text.ts'
import { isoTime } from '../schema-parts.ts'
import { traceCharsMax } from './trace.ts'

/** A page of entries, as JSON. A page with long texts ends early: its cursor continues it. */
export async function logListV2({ store, files, unsent }: Services, request: LogRequest): Promise<string> {
  const { workspaceId, filter, order, limit, cursor } = request
  const scope: CursorScope = { of: `v2 logs ${workspaceId}`, order, filters: JSON.stringify(filter) }
  const after = cursor === undefined ? undefined : readCursor(cursor, scope)
  if (cursor !== undefined && !after) {
    throw new AppError('INVALID_CURSOR', 'This cursor does not belong to this query. Start without a cursor.')
  }
  const show = {
    ...{ details: request.details === 'full', failure: false, isV2: true },
    ...{ finalOutput: request.includeFinalOutput, traceSpans: request.includeTraceSpans },
  }
  return await unsent.inTurn(async () => {
    unsent.assertLogRoom(workspaceId)
    const page = await store.queryLogs({ workspaceId, filter, order, limit, after, show })
    const text = page.files.length === 0 ? page.entries : await files.freshen(page.entries, page.files)
    const isOver = page.end === 'last' || page.position === null
    const nextCursor = isOver ? null : writeCursor(page.position!, scope)
    return `{"data":[${text}],"nextCursor":${JSON.stringify(nextCursor)}}`
  })
}

/** The entry of a run, with its workspace. */
export async function logDetailV2(
  services: Services,
  caller: Caller,
  runId: string,
): Promise<{ workspaceId: string; text: string }> {
  const { store, unsent, files } = services
  return await unsent.inTurn(async () => {
    const row = await store.getExecution(runId)
    assertMay(caller, row?.workspaceId, 'read', 'log entry')
    const found = row as LogDetailRow
    unsent.assertLogRoom(found.workspaceId)
    const text = (await detailOf(services, found)).text
    return {
      workspaceId: found.workspaceId,
      text: found.files === null ? text : await files.freshen(text, [found.files]),
    }
  })
}

async function detailOf({ store, secrets }: Services, row: LogDetailRow): Promise<JsonText> {
  const { workflowId, workspaceId, version, workflow } = row
  const present = await store.getWorkflow(workflowId)
  const document = await store.getDocument(workflowId, version)
  // Logs contain no secrets, for editors either.
  const state = document && stateOf(await secrets.shown(document, workspaceId, false))
  const rest = writeObject({
    executedByEmail: null,
    workflow: {
      ...{ id: workflowId, name: workflow.name, description: workflow.description, workspaceId, ownerEmail: null },
      folderPath: present ? folderPathOf(present.document.folder) : null,
      createdAt: present ? isoTime(present.createdAt) : null,
      updatedAt: present ? isoTime(present.updatedAt) : null,
      deleted: present === undefined,
    },
    workflowState: state ?? null,
    traceSpans: new JsonText(row.traceSpans),
    finalOutput: new JsonText(row.finalOutput),
    cost: costV2(row.cost === null ? noCost : (JSON.parse(row.cost) as Cost)),
    workflowInput: inputIn(row.traceSpans),
    createdAt: isoTime(row.createdAt ?? row.startedAt),
  })
  const facts = `${factsTextV2(row, createIsoTime())},"files":${filesTextV2(row.files)}`
  return new JsonText(`{"data":{${facts},${rest.text.slice(1)}}`)
}

/** The input of the run, from its trace. */
function inputIn(traceSpans: string): unknown {
  if (traceSpans.length > traceCharsMax) return null
  const [root] = JSON.parse(traceSpans) as { input?: unknown }[]
  return root?.input ?? null
}

function costV2({ total, models }: Cost) {
  const items = Object.entries(models).map(([description, { total: cost, tokens }]) => {
    const counts = { inputTokens: tokens.prompt, outputTokens: tokens.completion }
    return { category: 'model', description, cost, ...counts } as const
  })
  return { total, items: items.length === 0 ? null : items }
}
