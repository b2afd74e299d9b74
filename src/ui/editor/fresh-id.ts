/** A new id for a block or an edge. `crypto.randomUUID` is missing on pages that come over plain HTTP. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
