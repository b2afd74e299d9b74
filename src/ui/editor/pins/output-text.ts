/** The output that a text describes. Throws an error for people when it is none. */
export function outputIn(text: string): Record<string, unknown> {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    throw new Error(`The output is not valid JSON: ${error instanceof Error ? error.message : String(error)}`)
  }
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value as Record<string, unknown>
  throw new Error('The output must be an object: { "name": value }.')
}

/** An output to start from, when the block has not run: every output is null. */
export function emptyOutput(names: readonly string[]): Record<string, unknown> {
  return Object.fromEntries(names.filter((name) => name !== 'error').map((name) => [name, null]))
}
