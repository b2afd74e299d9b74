import type { TSchema } from '@sinclair/typebox'
import type { Limit } from '../../domain/limits.ts'
import type { Place } from './reference-resolver.ts'
import type { Report } from './report.ts'

/** Whether a list has more entries than its schema allows. That is reported, and nobody needs its entries. */
export function isOverlong(raw: unknown, { maxItems }: TSchema): boolean {
  return Array.isArray(raw) && typeof maxItems === 'number' && raw.length > maxItems
}

/** Reports a text that takes too long to parse: one parse cannot pause. */
export function isTooLong(text: string, { max, setting }: Limit, what: string, report: Report, place: Place): boolean {
  if (text.length <= max) return false
  const { block } = place.node
  const message = `The ${what} in "${block.name}" has ${text.length} characters; at most ${max} are allowed (${setting}).`
  report.add('error', 'TOO_LONG', place.path, block, message)
  return true
}
