import { type Database, rowsOf } from '../../../src/store/postgres/connection.ts'
import type { RetentionBounds, RetentionStep } from '../../../src/store/store.ts'

/** Makes an account with a workspace, a workflow and two subscriptions, each with the number 1 or 2. */
export async function createHome(database: Database): Promise<void> {
  await database.run("INSERT INTO millrace.users (id, email, created_at) VALUES ('u', 'u@example.org', 1)")
  await database.run(
    "INSERT INTO millrace.workspaces (number, id, name, owner_id, created_at) VALUES (1, 's', 'Main', 'u', 1)",
  )
  await database.run(
    `INSERT INTO millrace.workflows (number, id, workspace, name, document, created_at, updated_at)
     VALUES (1, 'f', 1, 'Test', '{}', 1, 1)`,
  )
  await database.run(
    `INSERT INTO millrace.subscriptions
       (number, workflow, id, url, include, levels, triggers, active, retry_on_network_error, created_at, updated_at)
     SELECT n, 1, 'w' || n, 'https://example.org/hook', 0, 0, 0, true, false, 1, 1 FROM generate_series(1, 2) n`,
  )
}

/** Records entries of the workflow 1, each with a text of `chars` characters that cannot be compressed. */
export async function recordEntries(database: Database, sequences: readonly number[], chars = 10): Promise<void> {
  const noise = () => crypto.getRandomValues(new Uint8Array(Math.ceil(chars * 0.75))).toBase64()
  await database.run(
    `INSERT INTO millrace.logs (sequence, commit_order, workspace, workflow, execution_id, version, level, status, trigger, partial,
       started_at, ended_at, duration_ms, cost_total, final_output, trace_spans)
     SELECT sequence, 1, 1, 1, 'e' || sequence, 1, 0, 0, 0, false, 1, 2, 1, 0, '{}', spans
     FROM json_to_recordset($1::text::json) AS r (sequence bigint, spans text)`,
    rowsOf(sequences.map((sequence) => ({ sequence, spans: noise() }))),
  )
}

/** Adds everything that can belong to an entry: deliveries to the subscriptions, stored files and an output. */
export async function addBelongings(database: Database, sequence: number, subscriptions: readonly number[] = [1]) {
  for (const subscription of subscriptions) {
    await database.run(
      `INSERT INTO millrace.deliveries
         (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at, owner)
       VALUES ($1, $2, 1, 0, 0, 0, 0, 1, 0)`,
      sequence,
      subscription,
    )
  }
  await database.run(`INSERT INTO millrace.run_webhooks (sequence, skipped) VALUES ($1, '[[2, "level"]]')`, sequence)
  await database.run(
    "INSERT INTO millrace.run_files (sequence, workspace, folder, files) VALUES ($1, 1, 'f' || $1::bigint, '[]')",
    sequence,
  )
  await database.run(
    "INSERT INTO millrace.job_outputs (sequence, execution_id, content) VALUES ($1, 'e' || $1::bigint, '')",
    sequence,
  )
}

/** The sequences that are left in a table of what belongs to entries, or in the log. */
export async function sequencesIn(database: Database, table: string): Promise<number[]> {
  const rows = await database.all<{ sequence: number }>(
    `SELECT DISTINCT sequence FROM millrace.${table} ORDER BY sequence`,
  )
  return rows.map(({ sequence }) => sequence)
}

/** Takes steps until nothing more is to do, like the service. Returns the sums. */
export async function retainAll(
  retain: (bounds: RetentionBounds) => Promise<RetentionStep>,
  bounds: Pick<RetentionBounds, 'before' | 'bytesMax'>,
): Promise<RetentionStep> {
  let [entries, bytesFreed, after] = [0, 0, 0]
  for (;;) {
    const step = await retain({ ...bounds, workMs: 0, after })
    entries += step.entries
    bytesFreed += step.bytesFreed
    after = step.heldTo
    if (step.done) return { ...step, entries, bytesFreed }
  }
}
