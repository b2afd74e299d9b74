import { type Static, Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import { type EntryRow, type EntryScope, entryText } from '../../../domain/entry/entry.ts'
import { AppError } from '../../../domain/errors.ts'
import type { Slices } from '../../../domain/slices.ts'
import { assertMay, type Need } from '../../access/auth.ts'
import type { Door, ResponseSet } from '../../access/door.ts'
import { route } from '../../openapi/route.ts'
import { readJsonBody } from '../../requests/body.ts'
import { respondWithBody } from '../../responses/json-text.ts'
import { isoTime } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'
import { assertKey, invalid, readEntryQuery, readNewEntry, writeEntryCursor } from './entry-query.ts'
import {
  EntryExport,
  EntryList,
  EntryQueryParameters,
  EntryResponse,
  ExportQuery,
  NewEntry,
  ScopeQuery,
} from './entry-schemas.ts'

type Query = ReturnType<typeof readEntryQuery>

/** The entries that workflows keep between their runs: `/api/workspaces/<id>/store`. */
export function entryRoutes(services: Services, door: Door) {
  const { entries, store, clock, redactorOf, inSlices, settings, unsent } = services
  return new Elysia({ prefix: '/api/workspaces/:id/store' })
    .get(
      '',
      async ({ request, set, params: { id } }) => {
        const query = await admit(request, set, id, 'read')
        const { shown, rows, isComplete } = await pageOf(query, query.after)
        const last = rows.at(-1)
        const nextCursor = isComplete || !last ? null : writeEntryCursor(last.key, query)
        const usage = { bytes: await entries.bytesOf(id), bytesMax: entries.bytesMax }
        const rest = `"nextCursor":${JSON.stringify(nextCursor)},"usage":${JSON.stringify(usage)}`
        return respondWithBody<Static<typeof EntryList>>(set, `{"data":[${shown.join(',')}],${rest}}`)
      },
      route({
        name: 'listStoreEntries',
        summary: 'List store entries',
        description:
          'The values that workflows keep between their runs with the block `store`, in the order of their keys: those ' +
          'of the workspace, or of one workflow. A page may be shorter than `limit` when its values are large.',
        tag: 'Store',
        query: EntryQueryParameters,
        responses: { 200: EntryList },
        errors: ['INVALID_PARAMETERS', 'INVALID_CURSOR', 'NOT_FOUND'],
      }),
    )
    .get(
      '/export',
      async ({ request, set, params: { id } }) => {
        const query = await admit(request, set, id, 'read')
        const body = unsent.logBodyOf(id, exportOf(query), (cause) => door.onAborted(request, cause))
        set.headers['content-disposition'] = 'attachment; filename="store.json"'
        return respondWithBody<Static<typeof EntryExport>>(set, body)
      },
      route({
        name: 'exportStoreEntries',
        summary: 'Export store entries',
        description:
          'All entries of the workspace, or of one workflow, as a file. Entries that change while it is read may be in ' +
          'their old or new state. If the connection breaks, the file is not complete.',
        tag: 'Store',
        query: ExportQuery,
        responses: { 200: EntryExport },
        errors: ['INVALID_PARAMETERS', 'NOT_FOUND'],
      }),
    )
    .put(
      '/:key',
      async ({ request, set, params: { id, key } }) => {
        const { workspaceId, workflowId } = await admit(request, set, id, 'write')
        assertKey(key)
        const { value, ttlMs } = readNewEntry(await readJsonBody(request, settings.body))
        const now = clock.now()
        const expiresAt = ttlMs === undefined ? null : now + ttlMs
        const change = { type: 'set', value: await textOf(value, id), expiresAt } as const
        const outcome = await entries.change({ workspaceId, workflowId, key, change, now })
        if (!outcome.ok) throw new AppError(outcome.code === 'NOT_FOUND' ? 'NOT_FOUND' : 'CONFLICT', outcome.message)
        return { key, value, updatedAt: isoTime(now), expiresAt: expiresAt === null ? null : isoTime(expiresAt) }
      },
      route({
        name: 'setStoreEntry',
        summary: 'Set a store entry',
        description:
          'Adds or replaces an entry. A value that shows a secret as `{{NAME}}` is refused, because the secret would be ' +
          'lost. 409 when the entries of the workspace would have too many bytes.',
        tag: 'Store',
        query: ScopeQuery,
        body: NewEntry,
        responses: { 200: EntryResponse },
        errors: [
          ...(['INVALID_JSON', 'INVALID_INPUT', 'INVALID_PARAMETERS', 'PAYLOAD_TOO_LARGE'] as const),
          ...(['FORBIDDEN', 'NOT_FOUND', 'CONFLICT'] as const),
        ],
      }),
    )
    .delete(
      '/:key',
      async ({ request, set, params: { id, key } }) => {
        const { workspaceId, workflowId } = await admit(request, set, id, 'write')
        const wanted = { workspaceId, workflowId, key, now: clock.now() }
        const outcome = await entries.change({ ...wanted, change: { type: 'delete' } })
        if (!outcome.ok || !outcome.found) throw new AppError('NOT_FOUND', 'There is no entry with this key.')
        set.status = 204
      },
      route({
        name: 'deleteStoreEntry',
        summary: 'Delete a store entry',
        tag: 'Store',
        query: ScopeQuery,
        responses: { 204: t.Void({ description: 'Deleted.' }) },
        errors: ['INVALID_PARAMETERS', 'FORBIDDEN', 'NOT_FOUND'],
      }),
    )

  /** Checks the caller and the query. The workflow must belong to the workspace. */
  async function admit(request: Request, set: ResponseSet, workspaceId: string, need: Need): Promise<Query> {
    assertMay(await door.requireKeyOrSession(request, set), workspaceId, need, 'workspace')
    const query = readEntryQuery(request.url, workspaceId)
    if (query.workflowId === null) return query
    const workflow = await store.getWorkflow(query.workflowId)
    if (workflow?.workspaceId === workspaceId) return query
    throw new AppError('NOT_FOUND', 'The workspace has no such workflow.')
  }

  /** A page of entries, and each of them as JSON without the secrets of the workspace. */
  async function pageOf(query: EntryScope & Pick<Query, 'prefix' | 'limit'>, after: string | null) {
    const page = await entries.list({ ...query, after, bytesMax: pageBytesMax, now: clock.now() })
    const redactor = await redactorOf(query.workspaceId)
    const { entries: rows, isComplete } = page
    function* shownRows(): Slices<string[]> {
      const shown: string[] = []
      for (const row of rows) {
        yield
        shown.push(shownEntry(row, redactor ? yield* redactor.redactInSlices(row.value) : row.value))
      }
      return shown
    }
    return { rows, isComplete, shown: await inSlices(shownRows()) }
  }

  async function* exportOf(query: Query): AsyncGenerator<string> {
    let [after, isFirst]: [string | null, boolean] = [null, true]
    yield '{"data":[\n'
    for (let isComplete = false; !isComplete; ) {
      const page = await pageOf({ ...query, limit: exportPageLength }, after)
      if (page.shown.length > 0) yield (isFirst ? '' : ',\n') + page.shown.join(',\n')
      isFirst &&= page.shown.length === 0
      after = page.rows.at(-1)?.key ?? after
      isComplete = page.isComplete
    }
    yield '\n]}\n'
  }

  async function textOf(value: unknown, workspaceId: string): Promise<string> {
    const text = textOfValue(value)
    const secrets = (await redactorOf(workspaceId))?.secrets
    const hidden = secrets?.find(({ name }) => text.includes(`{{${name}}}`))
    if (!hidden) return text
    throw invalid('value', `The value shows the secret {{${hidden.name}}} by its name. Replace that part first.`)
  }
}

function textOfValue(value: unknown): string {
  try {
    return entryText(value)
  } catch (error) {
    if (error instanceof RangeError) throw invalid('value', `The value ${error.message}.`)
    throw error
  }
}

function shownEntry({ key, updatedAt, expiresAt }: EntryRow, value: string): string {
  const expires = expiresAt === null ? null : isoTime(expiresAt)
  return (
    `{"key":${JSON.stringify(key)},"value":${value},` +
    `"updatedAt":"${isoTime(updatedAt)}","expiresAt":${JSON.stringify(expires)}}`
  )
}

/** Keys and values of one page. */
const pageBytesMax = 524_288
const exportPageLength = 500
