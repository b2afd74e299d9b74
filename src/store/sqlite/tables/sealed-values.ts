import type { SealedChange, SealedKind, SealedPlace } from '../../account-store.ts'
import type { Sql } from '../connection.ts'
import { executionIdOf } from './rows.ts'

export function listSealed(
  sql: Sql,
  kind: SealedKind,
  head: Uint8Array,
  limit: number,
  after?: SealedPlace,
): SealedPlace[] {
  const { select, key, descending } = statements[kind]
  const order = `ORDER BY ${descending} LIMIT ?`
  const rows = after
    ? sql.all<SqlPlace>(
        `${select} AND (${key.join(', ')}) < (${key.map(() => '?').join(', ')}) ${order}`,
        head.length,
        head,
        ...after.key,
        limit,
      )
    : sql.all<SqlPlace>(`${select} ${order}`, head.length, head, limit)
  return rows.map((row) => ({
    kind,
    key: key.map((_, index) => row[`key${index}`]!),
    owner: [row['owner0'], row['owner1']].flatMap((each) => (each == null ? [] : [executionIdOf(each)])),
  }))
}

export function readSealed(sql: Sql, { kind, key }: SealedPlace): Uint8Array | undefined {
  return sql.get<{ sealed: Uint8Array }>(statements[kind].read, ...key)?.sealed
}

export function replaceSealed(sql: Sql, changes: readonly SealedChange[]): number {
  let count = 0
  for (const { place, before, after } of changes) {
    count += sql.run(statements[place.kind].replace, after, ...place.key, before)
  }
  return count
}

/** Counts the values of a kind that do not begin with a head. Parameters: the length of the head, the head. */
export function countSealedText(kind: SealedKind): string {
  return `SELECT count(*) AS count FROM (${statements[kind].select})`
}

export function tableOfSealed(kind: SealedKind): string {
  return sources[kind].table
}

type SqlPlace = { [Key in `key${number}`]: number | string | Uint8Array } & {
  [Owner in `owner${number}`]: string | Uint8Array | null
}

/** `key`: the columns that find a row, the oldest first. `owner`: the columns of its context. */
type Source = { table: string; column: string; key: readonly string[]; owner: readonly string[] }

const workspaceOfWorkflow =
  '(SELECT w.id FROM workflows f JOIN workspaces w ON w.number = f.workspace WHERE f.number = t.workflow)'

const webhookSecret = { table: 'subscriptions', key: ['number'], owner: [workspaceOfWorkflow, 'id'] }

const credential = {
  table: 'credentials',
  key: ['number'],
  owner: ['(SELECT w.id FROM workspaces w WHERE w.number = t.workspace)', 'id'],
}

const sources: Readonly<Record<SealedKind, Source>> = {
  variable: {
    table: 'environment',
    column: 'sealed',
    key: ['workspace', 'name'],
    owner: ['(SELECT w.id FROM workspaces w WHERE w.number = t.workspace)', 'name'],
  },
  credential: { ...credential, column: 'sealed' },
  credentialToken: { ...credential, column: 'token' },
  webhookSecret: { ...webhookSecret, column: 'secret' },
  previousWebhookSecret: { ...webhookSecret, column: 'previous_secret' },
  alertSecret: { ...credential, table: 'alerts', column: 'secret' },
  jobInput: { table: 'jobs', column: 'input', key: ['number'], owner: ['execution_id'] },
  jobStep: {
    table: 'job_steps',
    column: 'content',
    key: ['job', 'number'],
    owner: ['(SELECT j.execution_id FROM jobs j WHERE j.number = t.job)'],
  },
  jobOutput: { table: 'job_outputs', column: 'content', key: ['execution_id'], owner: ['execution_id'] },
  pauseContent: { table: 'pauses', column: 'content', key: ['number'], owner: ['execution_id'] },
  pauseAnswer: { table: 'pauses', column: 'answer', key: ['number'], owner: ['execution_id'] },
  heldResponse: { table: 'request_claims', column: 'response', key: ['workflow', 'key'], owner: ['execution_id'] },
  chatTurn: {
    table: 'chat_turns',
    column: 'content',
    key: ['at', 'workflow', 'conversation', 'number'],
    owner: ['(SELECT f.id FROM workflows f WHERE f.number = t.workflow)', 'conversation'],
  },
  pin: { table: 'pins', column: 'content', key: ['number'], owner: [workspaceOfWorkflow, 'block'] },
}

const statements = Object.fromEntries(
  Object.entries(sources).map(([kind, source]) => [kind, statementsOf(source)]),
) as Readonly<Record<SealedKind, ReturnType<typeof statementsOf>>>

function statementsOf({ table, column, key, owner }: Source) {
  const columns = [
    ...key.map((each, index) => `${each} AS key${index}`),
    ...owner.map((each, index) => `${each} AS owner${index}`),
  ]
  const here = key.map((each) => `${each} = ?`).join(' AND ')
  return {
    key,
    // A lost secret of a subscription is empty. NULL is never different.
    select: `SELECT ${columns.join(', ')} FROM ${table} t WHERE substr(${column}, 1, ?) <> ? AND length(${column}) > 0`,
    descending: key.map((each) => `${each} DESC`).join(', '),
    read: `SELECT ${column} AS sealed FROM ${table} WHERE ${here}`,
    replace: `UPDATE ${table} SET ${column} = ? WHERE ${here} AND ${column} = ?`,
  }
}
