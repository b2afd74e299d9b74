import { sequenceAt, timeOfSequence } from '../../../domain/ids.ts'
import { billingPeriodOf } from '../../../domain/run/cost.ts'
import { countsAsUsage, type LogRow, type RunWebhooks, runSources } from '../../../domain/run/log.ts'
import { modelCostsOf } from '../../model-costs.ts'
import { searchTextOf } from '../../search-text.ts'
import { levels, triggers } from '../../stored-values.ts'
import { storable, type Value } from '../connection.ts'
import { commitOrderOf } from '../logs/commit-order.ts'

/**
 * One statement that inserts the entries of a group and all that belongs to them: files, webhook deliveries, and the
 * costs of accounts. `new`: inserts all or none; it is refused when an entry is there already, when its run has another
 * entry, or when its workflow does not exist. `missing`: leaves such entries out. Returns the sequences that it
 * inserted. `owner`: the process that has the deliveries.
 */
export function insertOf(
  kind: 'new' | 'missing',
  rows: readonly LogRow[],
  owner: number,
): { text: string; values: Value[] } {
  // The statement does not see its own rows.
  const runs = new Set(rows.map(({ executionId }) => executionId))
  if (runs.size < rows.length) throw new Error('Two log entries of a group belong to the same run')
  const times = rows.map(({ sequence }) => timeOfSequence(sequence))
  const [from, to] = [Math.min(...times) - sameRunMs, Math.max(...times) + sameRunMs]
  const hasMore = rows.some((row) => row.files || row.webhooks || countsAsUsage(row))
  const outputs = joined(rows.map(({ finalOutput }) => finalOutput))
  const spans = joined(rows.map(({ traceSpans }) => traceSpans))
  const more = [outputs, spans, sequenceAt(from), sequenceAt(to)]
  if (!hasMore) return { text: texts[kind].rows, values: [JSON.stringify(rows.map(storedRow)), ...more] }
  const stored = rows.map((row) => ({ ...storedRow(row), ...moreOf(row) }))
  return { text: texts[kind].more, values: [JSON.stringify(stored), ...more, owner] }
}

/** The long texts. They are JSON: as texts within JSON, PostgreSQL would take several times as long to read them. */
function joined(texts: readonly string[]): string {
  if (texts.some((text) => text.includes(separator))) throw new Error('A text of a log entry is not JSON')
  return texts.join(separator)
}

/** JSON has it only as an escape sequence. */
const separator = '\u001e'

/**
 * A second entry of a run is refused within this time of the first, so that PostgreSQL need not look into all
 * partitions.
 */
const sameRunMs = 86_400_000

/** Members that are NULL for most rows are absent then, which is faster to read. */
const storedRow = (row: LogRow) => ({
  sequence: row.sequence,
  executionId: row.executionId,
  workflowId: row.workflowId,
  workspaceId: row.workspaceId,
  version: row.version,
  level: levels.indexOf(row.level),
  status: row.cancelled ? 2 : levels.indexOf(row.level),
  trigger: triggers.indexOf(row.trigger),
  source: row.source && runSources.indexOf(row.source),
  partial: row.partial ?? false,
  createdAt: row.createdAt ?? undefined,
  startedAt: row.startedAt,
  endedAt: row.endedAt,
  durationMs: row.durationMs,
  pausedMs: row.pausedMs,
  costTotal: row.costTotal,
  models: row.models.length === 0 ? undefined : [...new Set(row.models)].map(storable),
  failure: row.failure && JSON.stringify(row.failure),
  labels: row.labels && labelsText(row.labels),
  search: row.failure || row.labels ? storable(searchTextOf(row)) : undefined,
  cost: row.cost ?? undefined,
})

/** The filter reads single labels, so they have to be texts that PostgreSQL can represent. */
function labelsText(labels: NonNullable<LogRow['labels']>): string {
  const pairs = Object.entries(labels).map(([name, text]) => [storable(name), storable(text)])
  return JSON.stringify(Object.fromEntries(pairs))
}

const moreOf = (row: LogRow) => ({
  ...(row.files && { folder: row.files.folder, files: row.files.text }),
  ...(row.webhooks && webhooksOf(row.webhooks)),
  ...(countsAsUsage(row) && { period: billingPeriodOf(row.endedAt), modelCosts: modelCostsIn(row) }),
})

const modelCostsIn = (row: LogRow) => modelCostsOf(row).map((each) => ({ ...each, model: storable(each.model) }))

function webhooksOf({ deliveries, skipped, facts }: RunWebhooks) {
  const isNoted = skipped.length > 0 || facts !== null
  const reasons = skipped.map(({ subscription, reason }) => [subscription, reason])
  return { deliveries, ...(isNoted && { skipped: JSON.stringify(reasons), facts }) }
}

const columns = `
  sequence, commit_order, workspace, workflow, execution_id, version, level, status, trigger, source, partial,
  created_at, started_at, ended_at, duration_ms, paused_ms, cost_total, models, failure, labels, search, cost, final_output,
  trace_spans`

const valuesOf = (executionId: string) => `
  r.sequence, ${commitOrderOf('pg_current_xact_id()')}, w.number, f.number, ${executionId}, r.version, r.level,
  r.status, r.trigger, r.source, r.partial, r."createdAt", r."startedAt", r."endedAt", r."durationMs", r."pausedMs",
  r."costTotal",
  r.models, r.failure, r.labels, r.search, r.cost, r."finalOutput", r."traceSpans"`

const rowTypes = `
  sequence bigint, "executionId" text, "workflowId" text, "workspaceId" text, version integer, level smallint,
  status smallint, trigger smallint, source smallint, partial boolean, "createdAt" bigint, "startedAt" bigint,
  "endedAt" bigint, "durationMs" double precision, "pausedMs" bigint, "costTotal" double precision, models text[], failure text,
  labels text, search text, cost text`

const moreTypes = `
  folder text, files text, deliveries json, skipped text, facts text, period bigint, "modelCosts" json`

const rowsWith = (types: string) => `
  ROWS FROM (unnest(string_to_array($2::text, E'\\x1e')), unnest(string_to_array($3::text, E'\\x1e')),
    json_to_recordset($1::text::json) AS (${types})) AS r ("finalOutput", "traceSpans")`

// Entries have no unique index on the execution, because indexes of a partitioned table are unique only by sequence.
const hasOther = `
  EXISTS (SELECT 1 FROM millrace.logs o WHERE o.execution_id = r."executionId" AND o.sequence <> r.sequence
    AND o.sequence BETWEEN $4::bigint AND $5::bigint)`

const inserts = {
  // Columns that refuse NULL stand for the conditions of the other one.
  new: (rows: string) => `
    INSERT INTO millrace.logs (${columns})
    SELECT ${valuesOf(`CASE WHEN NOT ${hasOther} THEN r."executionId" END`)}
    FROM ${rows}
      LEFT JOIN millrace.workflows f ON f.id = r."workflowId"
      LEFT JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"`,
  missing: (rows: string) => `
    INSERT INTO millrace.logs (${columns})
    SELECT ${valuesOf('r."executionId"')}
    FROM ${rows}
      JOIN millrace.workflows f ON f.id = r."workflowId"
      JOIN millrace.workspaces w ON w.number = f.workspace AND w.id = r."workspaceId"
    WHERE NOT ${hasOther}
    ON CONFLICT (sequence) DO NOTHING`,
}

// Costs are sorted, so that two groups that add to the same accounts wait for each other in one direction only.
const withMore = (insert: string) => `
  WITH r AS MATERIALIZED (
    SELECT * FROM ${rowsWith(`${rowTypes}, ${moreTypes}`)}
  ), entry AS (
    ${insert} RETURNING sequence, workspace, workflow
  ), file AS (
    INSERT INTO millrace.run_files (sequence, workspace, folder, files)
    SELECT sequence, entry.workspace, r.folder, r.files FROM r JOIN entry USING (sequence) WHERE r.files IS NOT NULL
    ON CONFLICT (sequence) DO NOTHING
  ), sent AS (
    INSERT INTO millrace.deliveries
      (sequence, subscription, workflow, include, state, attempts, attempts_before, due_at, owner)
    SELECT sequence, d.subscription, entry.workflow, d.include, 0, 0, 0, r."endedAt", $6
    FROM r JOIN entry USING (sequence), json_to_recordset(r.deliveries) AS d (subscription integer, include integer)
  ), noted AS (
    INSERT INTO millrace.run_webhooks (sequence, skipped, facts)
    SELECT sequence, r.skipped, r.facts FROM r JOIN entry USING (sequence) WHERE r.skipped IS NOT NULL
  ), used AS (
    INSERT INTO millrace.usage AS u (user_id, period_start, cost)
    SELECT w.owner_id, r.period, sum(r."costTotal")
    FROM r JOIN entry USING (sequence) JOIN millrace.workspaces w ON w.number = entry.workspace
    WHERE r.period IS NOT NULL
    GROUP BY w.owner_id, r.period ORDER BY w.owner_id, r.period
    ON CONFLICT (user_id, period_start) DO UPDATE SET cost = u.cost + excluded.cost
  ), used_models AS (
    INSERT INTO millrace.model_usage AS u (user_id, day, model, runs, cost, prompt_tokens, completion_tokens)
    SELECT w.owner_id, m.day, m.model, count(*), sum(m.cost), sum(m.prompt), sum(m.completion)
    FROM r JOIN entry USING (sequence) JOIN millrace.workspaces w ON w.number = entry.workspace,
      json_to_recordset(r."modelCosts")
        AS m (day bigint, model text, cost double precision, prompt bigint, completion bigint)
    GROUP BY w.owner_id, m.day, m.model ORDER BY w.owner_id, m.day, m.model COLLATE "C"
    ON CONFLICT (user_id, day, model) DO UPDATE SET runs = u.runs + excluded.runs, cost = u.cost + excluded.cost,
      prompt_tokens = u.prompt_tokens + excluded.prompt_tokens,
      completion_tokens = u.completion_tokens + excluded.completion_tokens
  )
  SELECT sequence FROM entry`

const textsOf = (insert: (rows: string) => string) => ({
  rows: `${insert(rowsWith(rowTypes))} RETURNING sequence`,
  more: withMore(insert('r')),
})
const texts = { new: textsOf(inserts.new), missing: textsOf(inserts.missing) }
