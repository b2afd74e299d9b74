import type { Price } from './cost.ts'

/** The price of a model by the name that blocks use; undefined when it is unknown. */
export type PriceOf = (model: string) => Price | undefined

/** The same, with the list of models that have a price. */
export type PriceTable = PriceOf & { readonly models: readonly string[] }

/** The built-in table, overridden by the prices in `overlay`. */
export function pricesWith(overlay: ReadonlyMap<string, Price>): PriceTable {
  const priceOf: PriceOf = (model) => overlay.get(model) ?? modelPrices.get(model)
  return Object.assign(priceOf, { models: [...new Set([...overlay.keys(), ...modelPrices.keys()])] })
}

/**
 * US dollars per million tokens [input, output, cached input], as the providers published them in November 2025 for
 * requests of ordinary size. The file that MILLRACE_MODEL_PRICES names overrides this table. Prices have at most six
 * decimals.
 */
const modelPrices: ReadonlyMap<string, Price> = new Map(
  Object.entries({
    'gpt-5': [1.25, 10, 0.125],
    'gpt-5-mini': [0.25, 2, 0.025],
    'gpt-5-nano': [0.05, 0.4, 0.005],
    'gpt-4.1': [2, 8, 0.5],
    'gpt-4.1-mini': [0.4, 1.6, 0.1],
    'gpt-4.1-nano': [0.1, 0.4, 0.025],
    'gpt-4o': [2.5, 10, 1.25],
    'gpt-4o-mini': [0.15, 0.6, 0.075],
    'gpt-4-turbo': [10, 30],
    'gpt-3.5-turbo': [0.5, 1.5],
    o1: [15, 60, 7.5],
    o3: [2, 8, 0.5],
    'o3-mini': [1.1, 4.4, 0.55],
    'o4-mini': [1.1, 4.4, 0.275],
    'claude-opus-4-5': [5, 25, 0.5],
    'claude-opus-4-5-20251101': [5, 25, 0.5],
    'claude-opus-4-1': [15, 75, 1.5],
    'claude-opus-4-1-20250805': [15, 75, 1.5],
    'claude-opus-4-0': [15, 75, 1.5],
    'claude-opus-4-20250514': [15, 75, 1.5],
    'claude-sonnet-4-5': [3, 15, 0.3],
    'claude-sonnet-4-5-20250929': [3, 15, 0.3],
    'claude-sonnet-4-0': [3, 15, 0.3],
    'claude-sonnet-4-20250514': [3, 15, 0.3],
    'claude-3-7-sonnet-latest': [3, 15, 0.3],
    'claude-3-7-sonnet-20250219': [3, 15, 0.3],
    'claude-haiku-4-5': [1, 5, 0.1],
    'claude-haiku-4-5-20251001': [1, 5, 0.1],
    'claude-3-5-haiku-latest': [0.8, 4, 0.08],
    'claude-3-5-haiku-20241022': [0.8, 4, 0.08],
    'claude-3-haiku-20240307': [0.25, 1.25, 0.03],
    'gemini-2.5-pro': [1.25, 10, 0.125],
    'gemini-2.5-flash': [0.3, 2.5, 0.03],
    'gemini-2.5-flash-lite': [0.1, 0.4, 0.01],
    'gemini-2.0-flash': [0.1, 0.4, 0.025],
    'gemini-2.0-flash-lite': [0.075, 0.3],
  } satisfies Record<string, [input: number, output: number, cachedInput?: number]>).map(([model, row]) => {
    const [input, output, cachedInput] = row as [number, number, number?]
    return [model, { input, output, ...(cachedInput === undefined ? {} : { cachedInput }) }]
  }),
)
