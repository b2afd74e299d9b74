import type { StoredDocument } from '../../workflow-store.ts'
import type { Sql } from '../connection.ts'
import { noteChanges } from './workflows.ts'

/** The condition of the partial indexes. Also true for a user's own data of the same shape. */
const isSealed = `strpos(document, '"$sealed"') > 0`

const tables = ['workflows', 'deployments', 'drafts'] as const

/**
 * Documents with sealed secrets, as JSON: of each table, the smallest of the ten newest and of the ten oldest, because
 * a document may have megabytes and a start waits for this.
 */
export async function sampleSealedDocuments(sql: Sql): Promise<string[]> {
  return (await sql.all<{ document: string }>(selectSealedSample)).map(({ document }) => document)
}

const selectSealedSample = tables.map(sampleOf).join(' UNION ALL ')

function sampleOf(table: StoredDocument['table']): string {
  const smallest = (order: string) =>
    `(SELECT number FROM (
       SELECT number, octet_length(document) AS bytes FROM millrace.${table}
       WHERE ${isSealed} ORDER BY ${order} LIMIT 10
     ) AS found ORDER BY bytes LIMIT 1)`
  return `
    SELECT document FROM millrace.${table} WHERE number IN (${smallest('number')}, ${smallest('number DESC')})`
}

export async function listSealedDocuments(sql: Sql): Promise<StoredDocument[]> {
  return await sql.all<StoredDocument>(selectSealedPlaces)
}

/** The oldest first, in each table. */
const selectSealedPlaces = `
  SELECT "table", number, "workspaceId" FROM (${tables.map(placesOf).join(' UNION ALL ')}) AS places
  ORDER BY position, number`

function placesOf(table: StoredDocument['table'], position: number): string {
  const workflow = table === 'workflows' ? 'number' : 'workflow'
  return `
    SELECT '${table}' AS "table", t.number, w.id AS "workspaceId", ${position} AS position
    FROM millrace.${table} t
      JOIN millrace.workflows f ON f.number = t.${workflow} JOIN millrace.workspaces w ON w.number = f.workspace
    WHERE strpos(t.document, '"$sealed"') > 0`
}

export async function readDocument(sql: Sql, { table, number }: StoredDocument): Promise<string | undefined> {
  return (await sql.get<{ document: string }>(`SELECT document FROM millrace.${table} WHERE number = $1`, number))
    ?.document
}

export async function replaceDocument(
  sql: Sql,
  { table, number }: StoredDocument,
  before: string,
  after: string,
  isSave = true,
): Promise<boolean> {
  const set = table === 'workflows' && isSave ? 'document = $1, revision = revision + 1' : 'document = $1'
  const replaced = await sql.get<{ workflow: number }>(
    `UPDATE millrace.${table} SET ${set} WHERE number = $2 AND document = $3
     RETURNING ${table === 'workflows' ? 'number' : 'workflow'} AS workflow`,
    ...[after, number, before],
  )
  if (!replaced) return false
  const changed = await sql.get<{ id: string }>(
    'SELECT id FROM millrace.workflows WHERE number = $1',
    replaced.workflow,
  )
  if (changed) await noteChanges(sql, changed.id)
  return true
}
