import { readFileSync } from 'node:fs'
import { type AssistantModel, readAssistantModel } from '../../assistant/assistant-model.ts'
import type { Config } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { type PriceTable, pricesWith } from '../../domain/run/model-prices.ts'
import { readPrices } from '../../models/price-file.ts'
import { UsageError } from '../command.ts'

/** The built-in model prices, overridden by the operator's file. Throws `UsageError` for an invalid file. */
export function priceTableOf({ modelPrices }: Config): PriceTable {
  if (modelPrices === undefined) return pricesWith(new Map())
  const reading = readPrices(textOf(modelPrices))
  if (!reading.ok) throw new UsageError(`MILLRACE_MODEL_PRICES: ${modelPrices} cannot be used: ${reading.message}`)
  return pricesWith(reading.prices)
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`MILLRACE_MODEL_PRICES: ${path} cannot be read: ${messageOf(error)}`)
  }
}

/** The model of the assistant; undefined when it is off. Throws `UsageError` when a setting is missing. */
export function assistantModelOf(config: Config): AssistantModel | undefined {
  const reading = readAssistantModel(config)
  if (!reading.ok) throw new UsageError(reading.message)
  return reading.model
}
