import type { Limit } from '../../domain/limits.ts'
import type { BodyBudget } from './body-budget.ts'
import type { Turns } from './turns.ts'

/** The limits of a request body. Bytes alone are no measure: 10 MB of JSON can hold five million values. */
export type BodyLimits = Readonly<{
  /** Decompressed bytes. */
  bytes: Limit
  /** Values of a JSON text. */
  values: Limit
  /** Fields of a form, parts of a multipart body, and parameters of a query. */
  fields: Limit
  files: Limit
  /** Decompressed bytes for each compressed byte, beyond `uncheckedBytes`. */
  ratio: Limit
  /** The ratio of compression does not matter up to this size. */
  uncheckedBytes: number
  /** The memory that all bodies share. */
  budget: BodyBudget
  /** Large bodies are parsed one after the other. */
  turns: Turns
  /** The network of a visitor. Visitors share the memory. */
  visitor?: string | undefined
}>

/** The same limits with fewer bytes, for a body that is known to be small. */
export function withBytesMax(limits: BodyLimits, max: number): BodyLimits {
  return { ...limits, bytes: { ...limits.bytes, max: Math.min(max, limits.bytes.max) } }
}
