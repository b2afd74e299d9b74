import { type Static, Type as t } from '@sinclair/typebox'
import { Value } from '@sinclair/typebox/value'
import { recordOf } from '../domain/record-of.ts'
import type { Price } from '../domain/run/cost.ts'
import { findValidationErrors } from '../domain/workflow/shape.ts'

const usd = t.Number({ minimum: 0, maximum: 1_000_000 })

/** The file that `MILLRACE_MODEL_PRICES` names: USD per million tokens, by the model's name in the blocks. */
export const PriceFile = recordOf(t.Object({ input: usd, output: usd, cachedInput: t.Optional(usd) }))
export type PriceFile = Static<typeof PriceFile>

export type PriceReading = { ok: true; prices: ReadonlyMap<string, Price> } | { ok: false; message: string }

/** Reads the text of a price file. The message for an invalid file names the place and the valid form. */
export function readPrices(text: string): PriceReading {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (error) {
    return { ok: false, message: `it is not valid JSON: ${(error as Error).message}` }
  }
  if (Value.Check(PriceFile, value)) return { ok: true, prices: new Map(Object.entries(value)) }
  const [first] = findValidationErrors(PriceFile, value)
  return {
    ok: false,
    message: `${first?.message ?? 'it does not fit.'} It holds { "<model>": { "input", "output", "cachedInput"? } }.`,
  }
}
