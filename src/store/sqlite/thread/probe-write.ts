import type { Connection } from '../connection.ts'

/** Throws when the disk does not accept a commit of this size. */
export function probeWrite(connection: Connection, bytes: number): void {
  // Two commits: pages that are written and freed in one transaction never reach the disk.
  connection.write(() => connection.run('INSERT OR REPLACE INTO probes VALUES (1, zeroblob(?))', bytes))
  connection.write(() => connection.run('DELETE FROM probes'))
}

/**
 * Closes a handle under which the disk failed. A commit that was refused because it could not be flushed may be
 * complete in the WAL all the same. Opening the database reads the WAL from its start and would take that commit for
 * valid: a run that got a 503 would appear in the log. So a harmless commit is written over it first.
 */
export function abandon(connection: Connection): void {
  try {
    probeWrite(connection, 1)
  } catch {
    // It only has to be written, not flushed.
  }
  drop(connection)
}

/** Closes a handle that cannot be used any more. */
export function drop(connection: Connection): void {
  try {
    connection.close()
  } catch {
    // The error that made it useless may also keep it from closing cleanly.
  }
}
