/** Folders exist through the workflows in them: the `folder` of a document is a path such as `sales/eu`. */
export type Folder = { id: string; path: string }

/** The folders that paths name, and those above them, sorted. */
export function foldersOf(paths: Iterable<string>): Folder[] {
  const all = new Set<string>()
  for (const path of paths) {
    const steps = path.split('/')
    for (let depth = 1; depth <= steps.length; depth++) all.add(steps.slice(0, depth).join('/'))
  }
  return [...all].sort().map((path) => ({ id: folderIdOf(path), path }))
}

/** The same for the same path, everywhere and always; and safe in a list with commas, which a path is not. */
export function folderIdOf(path: string): string {
  return `fld_${new Bun.CryptoHasher('sha256').update(path).digest('hex').slice(0, 16)}`
}

/** Whether a path lies in one of the folders, or below it. */
export function liesIn(path: string, folderIds: ReadonlySet<string>): boolean {
  return foldersOf([path]).some(({ id }) => folderIds.has(id))
}
