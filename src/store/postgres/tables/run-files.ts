import { listOf, type Sql, storable } from '../connection.ts'

/** The stored files of a workspace: those with a key. */
export async function getFileUsage(sql: Sql, workspaceId: string): Promise<{ files: number; bytes: number }> {
  const usage = await sql.get<{ files: number; bytes: number }>(selectUsage, workspaceId)
  return usage!
}

/** Folders of stored files whose log entries are gone. */
export async function listGoneFiles(sql: Sql, limit: number): Promise<string[]> {
  const rows = await sql.all<{ folder: string }>(
    'SELECT folder FROM millrace.run_files WHERE gone LIMIT $1::integer',
    limit,
  )
  return rows.map(({ folder }) => folder)
}

/** Call this after the files have been deleted. */
export async function forgetGoneFiles(sql: Sql, folders: readonly string[]): Promise<void> {
  await sql.run(
    'DELETE FROM millrace.run_files WHERE gone AND folder = ANY($1::text[])',
    listOf(folders.map((folder) => storable(folder))),
  )
}

const selectUsage = `
  SELECT count(*) AS files, coalesce(sum((f.value -> 'file' ->> 'size')::double precision), 0) AS bytes
  FROM millrace.workspaces w
    JOIN millrace.run_files r ON r.workspace = w.number AND r.folder IS NOT NULL
    CROSS JOIN LATERAL json_array_elements(r.files::json) f
  WHERE w.id = $1 AND f.value ->> 'key' IS NOT NULL`
