/**
 * Bun lets a process have so many `fetch` calls in flight; the next one waits, unseen, for one of them to end. So a few
 * hundred receivers that hang hold up every other request of the process, whatever bulkheads say. The variable is read
 * when the process starts and at no other time: to raise it, the program starts itself again with it set.
 */
export const fetchCapVariable = 'BUN_CONFIG_MAX_HTTP_REQUESTS'

const fetchCapDefault = 256
const fetchCapMax = 65_535
/** Calls that no bulkhead counts, such as those to file storage. With the default bulkhead that makes the default cap. */
const fetchesUncounted = 56

/** The cap that a process with this value of the variable has. */
export function fetchCapOf(value: string | undefined): number {
  const cap = value !== undefined && /^\d{1,9}$/.test(value) ? Number(value) : 0
  return cap > 0 ? Math.min(cap, fetchCapMax) : fetchCapDefault
}

/**
 * What the variable has to be so that bulkheads of these sizes are bounds that hold; undefined when the present value
 * will do. A program that gets a value back runs itself again with it before it opens anything.
 */
export function fetchCapNeeded(value: string | undefined, bulkheads: readonly number[]): string | undefined {
  const needed = Math.min(
    fetchCapMax,
    bulkheads.reduce((sum, size) => sum + size, fetchesUncounted),
  )
  return fetchCapOf(value) >= needed ? undefined : String(needed)
}
