/** A folder exists while workflows are in it. The `folder` of a document is a path such as `sales/eu`. */
export type Folder = { id: string; path: string }

/** The folders of these paths and their parents, sorted. */
export function foldersOf(paths: Iterable<string>): Folder[] {
  const all = new Set<string>()
  for (const path of paths) {
    const steps = path.split('/')
    for (let depth = 1; depth <= steps.length; depth++) all.add(steps.slice(0, depth).join('/'))
  }
  return [...all].sort().map((path) => ({ id: folderIdOf(path), path }))
}

/** Always the same for the same path, and safe in a comma-separated list. */
export function folderIdOf(path: string): string {
  return `fld_${new Bun.CryptoHasher('sha256').update(path).digest('hex').slice(0, 16)}`
}

/** Whether a path is in one of the folders or below one. */
export function liesIn(path: string, folderIds: ReadonlySet<string>): boolean {
  return foldersOf([path]).some(({ id }) => folderIds.has(id))
}
