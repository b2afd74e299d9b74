/** A new id for a block or edge. `crypto.randomUUID` does not exist on plain HTTP. */
export function freshId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(9))
  return btoa(String.fromCharCode(...bytes))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
}
