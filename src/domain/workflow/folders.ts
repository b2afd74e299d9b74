/** A folder exists while a workflow is in it. The `folder` of a document is a path such as `sales/eu`. */
export type Folder = { id: string; path: string }

/** The most levels of a folder's path. Every level of every path is a folder in lists. */
export const folderDepthMax = 20

/** The folders of these paths and their parents, sorted. */
export function foldersOf(paths: Iterable<string>): Folder[] {
  const all = new Set<string>()
  for (const path of new Set(paths)) {
    // The parents of a known folder are known.
    for (let end = path.length; end > 0; end = path.lastIndexOf('/', end - 1)) {
      const folder = path.slice(0, end)
      if (all.has(folder)) break
      all.add(folder)
    }
  }
  return [...all].sort().map((path) => ({ id: folderIdOf(path), path }))
}

/** Why a path cannot be a folder; undefined when it can. */
export function folderProblem(path: string): string | undefined {
  const levels = path.split('/', folderDepthMax + 1).length
  return levels > folderDepthMax ? `folder must have at most ${folderDepthMax} levels.` : undefined
}

/** Always the same for the same path, and safe in a comma-separated list. */
export function folderIdOf(path: string): string {
  return `fld_${new Bun.CryptoHasher('sha256').update(path).digest('hex').slice(0, 16)}`
}

/** Whether a path is in one of the folders or below one. */
export function liesIn(path: string, folderIds: ReadonlySet<string>): boolean {
  return foldersOf([path]).some(({ id }) => folderIds.has(id))
}

/** The folder of a workflow in `from` or below it, after `from` moved to `to` (null: to no folder); empty for none. */
export function movedFolder(folder: string, from: string, to: string | null): string {
  return [to ?? '', folder.slice(from.length + 1)].filter((part) => part !== '').join('/')
}
