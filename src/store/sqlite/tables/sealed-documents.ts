import type { StoredDocument } from '../../workflow-store.ts'
import type { Sql } from '../connection.ts'
import { noteChanges } from './workflows.ts'

/** The condition of the partial indexes. Also true for a user's own data of the same shape. */
const isSealed = `instr(document, '"$sealed"') > 0`

/**
 * Documents with sealed secrets, as JSON: of each table, the smallest of the ten newest and of the ten oldest, because
 * a document may have megabytes and a start waits for this. Works without the indexes too, in databases of earlier
 * versions.
 */
export const selectSealedSample = [
  sampleOf('workflows', 'number', 'number DESC'),
  sampleOf('deployments', 'workflow, version', 'workflow DESC, version DESC'),
  sampleOf('drafts', 'workflow, version', 'workflow DESC, version DESC'),
].join(' UNION ALL ')

function sampleOf(table: StoredDocument['table'], ...orders: string[]): string {
  const smallest = (order: string) =>
    `(SELECT at FROM (
       SELECT rowid AS at, octet_length(document) AS bytes FROM ${table} WHERE ${isSealed} ORDER BY ${order} LIMIT 10
     ) ORDER BY bytes LIMIT 1)`
  return `SELECT document FROM ${table} WHERE rowid IN (${orders.map(smallest).join(', ')})`
}

/** All of them. */
export const selectSealedDocuments = [allOf('workflows'), allOf('deployments'), allOf('drafts')].join(' UNION ALL ')

function allOf(table: StoredDocument['table']): string {
  return `SELECT document FROM ${table} WHERE ${isSealed}`
}

export function sampleSealedDocuments(sql: Sql): string[] {
  return sql.all<{ document: string }>(selectSealedSample).map(({ document }) => document)
}

export function listSealedDocuments(sql: Sql): StoredDocument[] {
  return (['workflows', 'deployments', 'drafts'] as const).flatMap((table) => {
    const workflow = table === 'workflows' ? 'number' : 'workflow'
    const rows = sql.all<Omit<StoredDocument, 'table'>>(
      `SELECT t.rowid AS number, (
         SELECT w.id FROM workflows f JOIN workspaces w ON w.number = f.workspace WHERE f.number = t.${workflow}
       ) AS workspaceId FROM ${table} t WHERE instr(t.document, '"$sealed"') > 0`,
    )
    return rows.map((row) => ({ table, ...row }))
  })
}

export function readDocument(sql: Sql, { table, number }: StoredDocument): string | undefined {
  return sql.get<{ document: string }>(`SELECT document FROM ${table} WHERE rowid = ?`, number)?.document
}

export function replaceDocument(
  sql: Sql,
  { table, number }: StoredDocument,
  before: string,
  after: string,
  isSave = true,
): boolean {
  const set = table === 'workflows' && isSave ? 'document = ?, revision = revision + 1' : 'document = ?'
  const update = `UPDATE ${table} SET ${set} WHERE rowid = ? AND document = ?`
  if (sql.run(update, after, number, before) === 0) return false
  const owner = table === 'workflows' ? '?' : `(SELECT workflow FROM ${table} WHERE rowid = ?)`
  const changed = sql.get<{ id: string }>(`SELECT id FROM workflows WHERE number = ${owner}`, number)
  if (changed) noteChanges(sql, changed.id)
  return true
}
