/**
 * Deletes what a map or set has had longest, when it holds more than `sizeMax`; answers its key. Whoever wants what is in use
 * to stay deletes and sets an entry when it is used: then the first one is the one not used for longest.
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
