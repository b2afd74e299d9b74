import type { FirstPoll, PolledItem, Validators } from '../../domain/poll/answer.ts'
import { hashOfItem } from '../../domain/poll/item-hash.ts'
import { isObject } from '../../domain/run/input.ts'

/** The state of a poll of a list or a feed. `listed`: a digest of the items that it has listed last. */
export type PollMemory = { validators: Validators; listed: string }

export function memoryOf(state: string | null): PollMemory | undefined {
  if (state === null) return undefined
  try {
    const value: unknown = JSON.parse(state)
    const { validators, listed } = isObject(value) ? value : {}
    if (!isObject(validators) || typeof listed !== 'string') return undefined
    const { etag, lastModified } = validators
    return {
      listed,
      validators: {
        ...(typeof etag === 'string' ? { etag } : {}),
        ...(typeof lastModified === 'string' ? { lastModified } : {}),
      },
    }
  } catch {
    return undefined
  }
}

export function stateOf(validators: Validators, items: readonly PolledItem[]): string {
  return JSON.stringify({ validators, listed: hashOfItem(items.map(({ hash }) => hash).join(' ')) })
}

/**
 * Divides the items of a list. `first`: set for the first poll. `known`: the items that start nothing. `starts`: those
 * that start a run, the oldest first, which is the last one of the list.
 */
export function divide(
  items: readonly PolledItem[],
  seen: ReadonlySet<string>,
  first: FirstPoll | undefined,
): { known: string[]; starts: PolledItem[] } {
  const fresh = items.filter(({ hash }) => !seen.has(hash))
  const starting = new Set(
    (first === 'skip' ? [] : first === 'latest' ? items.slice(0, 1) : fresh).filter(({ hash }) => !seen.has(hash)),
  )
  const oldestFirst = items.toReversed()
  return {
    known: oldestFirst.filter((item) => !starting.has(item)).map(({ hash }) => hash),
    starts: oldestFirst.filter((item) => starting.has(item)),
  }
}
