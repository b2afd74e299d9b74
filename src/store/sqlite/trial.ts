import type { Connection } from './connection.ts'

/** Throws when the disk does not take a commit of this size. */
export function tryCommit(connection: Connection, bytes: number): void {
  // Two commits: pages that are written and freed in one transaction never reach the disk.
  connection.write(() => connection.run('INSERT OR REPLACE INTO probes VALUES (1, zeroblob(?))', bytes))
  connection.write(() => connection.run('DELETE FROM probes'))
}

/**
 * Closes a handle under which the disk failed. A commit that was refused because it could not be flushed may lie complete
 * in the WAL all the same, and whoever reads the WAL from its start, as opening a database does, would take it for
 * committed: a run answered with 503 would turn up in the log. So something harmless is written over it first.
 */
export function abandon(connection: Connection): void {
  try {
    tryCommit(connection, 1)
  } catch {
    // What counts is that it was written, not that it was flushed.
  }
  drop(connection)
}

/** Closes a handle that is of no use any more. */
export function drop(connection: Connection): void {
  try {
    connection.close()
  } catch {
    // What made it useless may keep it from closing well, too.
  }
}
