import { messageOf } from '../domain/errors.ts'
import type { LogList } from '../http/responses.ts'
import { type Client, ServiceError, UnreachableError } from './client.ts'
import { type Call, type Command, UsageError } from './command.ts'
import { clientOf, findWorkflow, listWorkflows, service, workspaceFlag, workspaceOf } from './service.ts'
import type { Terminal } from './terminal.ts'

type Entry = LogList['data'][number]

export const logs: Command = {
  summary: 'prints log entries, the newest last',
  details: [
    'Each entry is a line: when it started, how it ended, how long it took, its workflow, its execution. With --json it is a',
    'line of JSON as the API has it. --follow goes on with entries as they are recorded, until it is stopped; it asks less often',
    'where the plan allows no more, and waits for a service that is started again.',
  ].join('\n'),
  flags: {
    workflow: { value: 'WORKFLOW', description: 'only of this workflow: its id or its name' },
    level: { value: 'info|error', description: 'only runs that went well, or only those that failed' },
    trigger: { value: 'KINDS', description: 'only runs started so: api, webhook, schedule, manual, chat; with commas' },
    since: { value: 'TIME', description: 'only runs that started then or later: 2030-01-31 or 2030-01-31T12:00:00Z' },
    until: { value: 'TIME', description: 'only runs that started then or earlier' },
    execution: { value: 'ID', description: 'only this execution' },
    limit: { value: 'N', description: 'entries at most, 1 to 1000; 20 when absent' },
    follow: { description: 'go on with new entries as they come' },
    output: { description: 'with the output of each run' },
    spans: { description: 'with the trace spans of each run; for --json' },
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
  const names = { level: 'level', trigger: 'triggers', since: 'startDate', until: 'endDate', execution: 'executionId' }
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
  throw new UsageError(`--limit is "${text}"; write a whole number from 1 to ${pageMax}.`)
}

/** The newest entries, the oldest of them first. A filter that admits little takes several requests. */
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
  /** The id of the last entry that was shown. */
  after: string
  show(entry: Entry): void
  read(page: Page): Promise<LogList>
}

/**
 * Ids sort in the order of recording. Without a time to start from, runs are followed that started in the last day, so
 * that a long one is not missed which began before this command.
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

/** Asks again where the service says when, is busy, or is away for a while; of the last two the reader is told, once. */
async function patiently<Answer>({ say }: Pick<Terminal, 'say'>, ask: () => Promise<Answer>): Promise<Answer> {
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

function lineOf({ startedAt, level, totalDurationMs, trigger, executionId, finalOutput }: Entry, name: string): string {
  const mark = level === 'error' ? 'error' : 'ok   '
  const line = `${startedAt}  ${mark}  ${String(totalDurationMs).padStart(6)} ms  ${trigger.padEnd(8)}  ${name}  ${executionId}`
  return finalOutput === undefined ? line : `${line}\n  ${JSON.stringify(finalOutput)}`
}

const pageMax = 1_000
const dayMs = 86_400_000
const followMs = 1_000
