import { messageOf } from '../../domain/errors.ts'
import type { LogList } from '../../http/responses/log-schemas.ts'
import { type Call, type Command, UsageError } from '../command.ts'
import { type Client, ServiceError, UnreachableError } from '../support/client.ts'
import { clientOf, findWorkflow, listWorkflows, service, workspaceFlag, workspaceOf } from '../support/service.ts'
import type { Terminal } from '../support/terminal.ts'

type Entry = LogList['data'][number]

export const logs: Command = {
  summary: 'prints log entries, newest last',
  details: [
    'Each entry is one line: its start, outcome, duration, workflow, version and execution. With --json, it is one line of JSON',
    'as in the API. --follow continues with new entries until it is stopped. It polls less often if the tier requires',
    'it, and waits for a service that restarts.',
  ].join('\n'),
  flags: {
    workflow: { value: 'WORKFLOW', description: 'only this workflow, by ID or name' },
    level: { value: 'info|error', description: 'only successful runs (info) or only failed runs (error)' },
    status: { value: 'STATUS', description: 'only these outcomes, comma-separated: success, error, cancelled' },
    search: {
      value: 'TEXT',
      description: 'only entries with this text in an error, a label, an ID or the workflow name',
    },
    labels: { value: 'KEY:VALUE', description: 'only entries with this label' },
    trigger: {
      value: 'KINDS',
      description: 'only these triggers, comma-separated: api, webhook, schedule, manual, chat',
    },
    since: {
      value: 'TIME',
      description: 'only runs started at or after this time: 2030-01-31 or 2030-01-31T12:00:00Z',
    },
    until: { value: 'TIME', description: 'only runs started at or before this time' },
    execution: { value: 'ID', description: 'only this execution' },
    limit: { value: 'N', description: 'the maximum number of entries, 1 to 1000; default 20' },
    follow: { description: 'continue with new entries' },
    output: { description: 'include the output of each run' },
    spans: { description: 'include the trace spans of each run, with --json' },
    ...workspaceFlag,
  },
  settings: service,
  json: 'lines',
  examples: ['logs', 'logs --workflow hello --level error --output', 'logs --follow --json'],
  async run(call) {
    const limit = limitOf(call)
    const client = clientOf(call)
    const query = await queryOf(call, client)
    const newest = await newestOf(client, query, limit)
    const show = await printerOf(call, client, query.get('workspaceId') ?? '')
    for (const entry of newest) show(entry)
    if (!call.switches.has('follow')) return 0
    const after = newest.at(-1)?.id ?? ''
    return await follow({ query, after, show, read: (page) => patiently(call.terminal, () => pageOf(client, page)) })
  },
}

async function queryOf({ flags, switches }: Call, client: Client): Promise<URLSearchParams> {
  const workspaceId = await workspaceOf(client, flags['workspace'])
  const query = new URLSearchParams({ workspaceId })
  const workflow = flags['workflow']
  if (workflow !== undefined) query.set('workflowIds', (await findWorkflow(client, workflow, workspaceId)).id)
  const names = {
    ...{ level: 'level', status: 'status', search: 'search', labels: 'labels' },
    ...{ trigger: 'triggers', since: 'startDate', until: 'endDate', execution: 'executionId' },
  }
  for (const [flag, parameter] of Object.entries(names)) {
    const value = flags[flag]
    if (value !== undefined) query.set(parameter, value)
  }
  if (switches.has('output')) query.set('includeFinalOutput', 'true')
  if (switches.has('spans')) query.set('includeTraceSpans', 'true')
  return query
}

function limitOf({ flags }: Call): number {
  const text = flags['limit'] ?? '20'
  const limit = Number(text)
  if (Number.isInteger(limit) && limit >= 1 && limit <= pageMax) return limit
  throw new UsageError(`--limit is "${text}". Use a whole number from 1 to ${pageMax}.`)
}

/** The newest entries, the oldest of them first. A selective filter may need several requests. */
async function newestOf(client: Client, query: URLSearchParams, limit: number): Promise<Entry[]> {
  const entries: Entry[] = []
  let cursor: string | null = null
  do {
    const page: LogList = await pageOf(client, { query, limit: limit - entries.length, cursor })
    entries.push(...page.data)
    cursor = page.nextCursor
  } while (cursor !== null && entries.length < limit)
  return entries.reverse()
}

type Following = {
  query: URLSearchParams
  /** The ID of the last entry shown. */
  after: string
  show(entry: Entry): void
  read(page: Page): Promise<LogList>
}

/**
 * IDs sort in the order of recording. Without a start time, this follows runs that started within the last day, so that
 * it does not miss a long run that started before the command.
 */
async function follow({ query, after, show, read }: Following): Promise<never> {
  const ascending = new URLSearchParams({ startDate: new Date(Date.now() - dayMs).toISOString() })
  for (const [name, value] of query) ascending.set(name, value)
  ascending.set('order', 'asc')
  let cursor: string | null = null
  for (;;) {
    const page: LogList = await read({ query: ascending, limit: pageMax, cursor })
    for (const entry of page.data) if (entry.id > after) show(entry)
    const ended = page.nextCursor === null || page.data.length === 0
    cursor = page.nextCursor ?? cursor
    if (ended) await Bun.sleep(followMs)
  }
}

/** Retries when the service asks to wait, is busy or is away. In the latter two cases it tells the reader once. */
async function patiently<Result>({ say }: Pick<Terminal, 'say'>, ask: () => Promise<Result>): Promise<Result> {
  for (let isTold = false; ; ) {
    try {
      return await ask()
    } catch (error) {
      const refusal = error instanceof ServiceError && [429, 503].includes(error.status) ? error : undefined
      if (!refusal && !(error instanceof UnreachableError)) throw error
      if (refusal?.status !== 429 && !isTold) {
        say(`${messageOf(error)}\nTrying again.`)
        isTold = true
      }
      await Bun.sleep(Math.max(followMs, (refusal?.retryAfterS ?? 0) * 1000))
    }
  }
}

type Page = { query: URLSearchParams; limit: number; cursor: string | null }

async function pageOf(client: Client, { query, limit, cursor }: Page): Promise<LogList> {
  const all = new URLSearchParams(query)
  all.set('limit', String(limit))
  if (cursor !== null) all.set('cursor', cursor)
  return await client.get<LogList>(`/api/v1/logs?${all}`)
}

async function printerOf(call: Call, client: Client, workspaceId: string): Promise<(entry: Entry) => void> {
  const { terminal, json } = call
  if (json) return (entry) => terminal.print(JSON.stringify(entry))
  const names = new Map((await listWorkflows(client, workspaceId)).map(({ id, name }) => [id, name]))
  return (entry) => terminal.print(lineOf(entry, names.get(entry.workflowId) ?? entry.workflowId))
}

function lineOf(entry: Entry, name: string): string {
  const { startedAt, status, totalDurationMs, trigger, executionId, finalOutput, version, partial } = entry
  const mark = marks[status]
  const ran = (version === null ? 'draft' : `v${version}`) + (partial ? ' in part' : '')
  const duration = `${String(totalDurationMs).padStart(6)} ms`
  const line = [startedAt, mark, duration, trigger.padEnd(8), name, ran, executionId].join('  ')
  return finalOutput === undefined ? line : `${line}\n  ${JSON.stringify(finalOutput)}`
}

const marks = { success: 'ok       ', error: 'error    ', cancelled: 'cancelled' }
const pageMax = 1_000
const dayMs = 86_400_000
const followMs = 1_000
