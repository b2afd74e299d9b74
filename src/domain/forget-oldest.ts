/**
 * Deletes the oldest entry of a map or set that has more than `sizeMax` entries; returns its key. To keep entries that
 * are in use, delete and set an entry whenever it is used: the first one is then the least recently used.
 */
export function forgetOldest<Key>(
  entries: { readonly size: number; keys(): IterableIterator<Key>; delete(key: Key): boolean },
  sizeMax: number,
): Key | undefined {
  if (entries.size <= sizeMax) return undefined
  const [oldest] = entries.keys()
  if (oldest !== undefined) entries.delete(oldest)
  return oldest
}
