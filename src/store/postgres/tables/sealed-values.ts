import type { SealedChange, SealedKind, SealedPlace } from '../../account-store.ts'
import { rowsOf, type Sql } from '../connection.ts'

export async function listSealed(
  sql: Sql,
  kind: SealedKind,
  head: Uint8Array,
  limit: number,
  after?: SealedPlace,
): Promise<SealedPlace[]> {
  const { list, listAfter, keys } = statements[kind]
  const rows = after
    ? await sql.all<SqlPlace>(listAfter, head.length, head, limit, ...after.key)
    : await sql.all<SqlPlace>(list, head.length, head, limit)
  return rows.map((row) => ({ kind, key: keys.map((each) => row[each]!), owner: JSON.parse(row.owner) as string[] }))
}

/** How many values of all kinds do not begin with `head`. */
export async function countSealedOtherwise(sql: Sql, head: Uint8Array): Promise<number> {
  let count = 0
  for (const { count: text } of Object.values(statements)) {
    count += (await sql.get<{ count: number }>(text, head.length, head))!.count
  }
  return count
}

export async function readSealed(sql: Sql, { kind, key }: SealedPlace): Promise<Uint8Array | undefined> {
  return (await sql.get<{ sealed: Uint8Array }>(statements[kind].read, ...key))?.sealed
}

export async function replaceSealed(sql: Sql, changes: readonly SealedChange[]): Promise<number> {
  let count = 0
  for (const [kind, ofKind] of Map.groupBy(changes, ({ place }) => place.kind)) {
    const { replace, keys } = statements[kind]
    const rows = ofKind.map(({ place, before, after }) => ({
      ...Object.fromEntries(keys.map((name, index) => [name, place.key[index]])),
      before,
      after,
    }))
    count += await sql.run(replace, rowsOf(rows))
  }
  return count
}

/** `owner`: JSON. */
type SqlPlace = { [Key in `key${number}`]: number | string } & { owner: string }

/** `key`: the columns that find a row, the oldest first, and their types. `owner`: the columns of its context. */
type Source = { table: string; column: string; key: Readonly<Record<string, string>>; owner: readonly string[] }

const workspaceOfWorkflow = `(SELECT w.id FROM millrace.workflows f JOIN millrace.workspaces w ON w.number = f.workspace
     WHERE f.number = t.workflow)`

const webhookSecret = { table: 'subscriptions', key: { number: 'integer' }, owner: [workspaceOfWorkflow, 't.id'] }

const credential = {
  table: 'credentials',
  key: { number: 'bigint' },
  owner: ['(SELECT w.id FROM millrace.workspaces w WHERE w.number = t.workspace)', 't.id'],
}

const sources: Readonly<Record<SealedKind, Source>> = {
  variable: {
    table: 'environment',
    column: 'sealed',
    key: { workspace: 'integer', name: 'text' },
    owner: ['(SELECT w.id FROM millrace.workspaces w WHERE w.number = t.workspace)', 't.name'],
  },
  credential: { ...credential, column: 'sealed' },
  credentialToken: { ...credential, column: 'token' },
  webhookSecret: { ...webhookSecret, column: 'secret' },
  previousWebhookSecret: { ...webhookSecret, column: 'previous_secret' },
  alertSecret: { ...credential, table: 'alerts', key: { number: 'integer' }, column: 'secret' },
  jobInput: { table: 'jobs', column: 'input', key: { number: 'bigint' }, owner: ['t.execution_id'] },
  jobStep: {
    table: 'job_steps',
    column: 'content',
    key: { job: 'bigint', number: 'integer' },
    owner: ['(SELECT j.execution_id FROM millrace.jobs j WHERE j.number = t.job)'],
  },
  jobOutput: { table: 'job_outputs', column: 'content', key: { sequence: 'bigint' }, owner: ['t.execution_id'] },
  pauseContent: { table: 'pauses', column: 'content', key: { number: 'bigint' }, owner: ['t.execution_id'] },
  pauseAnswer: { table: 'pauses', column: 'answer', key: { number: 'bigint' }, owner: ['t.execution_id'] },
  heldResponse: {
    table: 'request_claims',
    column: 'response',
    key: { workflow: 'integer', key: 'text' },
    owner: ['t.execution_id'],
  },
  chatTurn: {
    table: 'chat_turns',
    column: 'content',
    key: { at: 'bigint', workflow: 'integer', conversation: 'text', number: 'bigint' },
    owner: ['(SELECT f.id FROM millrace.workflows f WHERE f.number = t.workflow)', 't.conversation'],
  },
  pin: { table: 'pins', column: 'content', key: { number: 'bigint' }, owner: [workspaceOfWorkflow, 't.block'] },
}

const statements = Object.fromEntries(
  Object.entries(sources).map(([kind, source]) => [kind, statementsOf(source)]),
) as Readonly<Record<SealedKind, ReturnType<typeof statementsOf>>>

function statementsOf({ table, column, key, owner }: Source) {
  const columns = Object.keys(key)
  const keys = columns.map((_, index) => `key${index}` as const)
  const values = (first: number) => Object.values(key).map((type, index) => `$${first + index}::${type}`)
  const places = columns.map((each, index) => `t.${each} AS ${keys[index]}`)
  const names = columns.map((each) => `t.${each}`)
  // A lost secret of a subscription is empty. NULL is never different.
  const others = `millrace.${table} t WHERE substr(t.${column}, 1, $1) <> $2 AND length(t.${column}) > 0`
  const select = `
    SELECT ${places.join(', ')}, json_strip_nulls(json_build_array(${owner.join(', ')}))::text AS owner FROM ${others}`
  const order = `ORDER BY ${names.map((each) => `${each} DESC`).join(', ')} LIMIT $3`
  return {
    keys,
    count: `SELECT count(*) AS count FROM ${others}`,
    list: `${select} ${order}`,
    listAfter: `${select} AND (${names.join(', ')}) < (${values(4).join(', ')}) ${order}`,
    read: `
      SELECT t.${column} AS sealed FROM millrace.${table} t
      WHERE (${names.join(', ')}) = (${values(1).join(', ')}) AND t.${column} IS NOT NULL`,
    replace: `
      UPDATE millrace.${table} t SET ${column} = decode(r.after, 'base64')
      FROM json_to_recordset($1::text::json)
        AS r (${Object.values(key)
          .map((type, index) => `${keys[index]} ${type}, `)
          .join('')}before text, after text)
      WHERE (${names.join(', ')}) = (${keys.map((each) => `r.${each}`).join(', ')})
        AND t.${column} = decode(r.before, 'base64')`,
  }
}
