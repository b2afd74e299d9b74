/** A secret nobody guesses: 32 random bytes, as text that goes anywhere. */
export function newSecret(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(32))
  const text = btoa(String.fromCharCode(...bytes))
  return text.replaceAll('+', '-').replaceAll('/', '_').replaceAll('=', '')
}
