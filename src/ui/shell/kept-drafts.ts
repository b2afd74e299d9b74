/** The browser's copies of work that could not be saved. The editor reads and writes them. */
export const keptDraftsPrefix = 'millrace.unsaved.'

/** The browser's storage; undefined where it is switched off. */
export function draftStorage(): Storage | undefined {
  try {
    return localStorage
  } catch {
    return undefined
  }
}

export function keptDraftKeys(storage: Storage): string[] {
  return Array.from({ length: storage.length }, (_, at) => storage.key(at) ?? '').filter((key) =>
    key.startsWith(keptDraftsPrefix),
  )
}

/** Removes all copies, of every account: the user signs out. */
export function forgetKeptDrafts(storage: Storage | undefined): void {
  for (const key of storage ? keptDraftKeys(storage) : []) storage?.removeItem(key)
}
