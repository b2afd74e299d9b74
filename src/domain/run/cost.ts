/** The cost of a run: US dollars and tokens, in total and by model. */
export type Tokens = { prompt: number; completion: number; total: number }
export type ModelCost = { input: number; output: number; total: number; tokens: Tokens }
export type Cost = { total: number; tokens: Tokens; models: Record<string, ModelCost> }

export const noCost: Cost = Object.freeze({
  total: 0,
  tokens: Object.freeze({ prompt: 0, completion: 0, total: 0 }),
  models: Object.freeze({}),
}) as Cost

/** US dollars per million tokens. `cachedInput` is the price of prompt tokens that the provider had cached. */
export type Price = { input: number; output: number; cachedInput?: number }

/** The tokens of one response. `prompt` includes the `cached` tokens. */
export type TokenCount = { prompt: number; cached: number; completion: number }

/** The cost of one model response in US dollars. */
export type CallCost = { input: number; output: number; total: number }

/** The usage of one request to a model, as part of its span. */
export type ModelUsage = {
  model: string
  tokens: Tokens
  cost: CallCost
  /** Milliseconds from the start of the request to the first text or tool call; null when there was none. */
  timeToFirstTokenMs: number | null
  /** Set when the model has no known price. The cost is then 0. */
  costUnknown?: true
  /** Set when the provider did not report tokens. */
  tokensUnknown?: true
}

/**
 * The price of some tokens. With at most six decimals per million, the price of one token is a whole number of 1e-12
 * dollars. Amounts are added in that unit, so sums are exact in any order, up to several thousand dollars.
 */
export function priceTokens({ prompt, cached, completion }: TokenCount, price: Price): CallCost {
  const perToken = (usdPerMillion: number) => Math.round(usdPerMillion * 1e6)
  const input = (prompt - cached) * perToken(price.input) + cached * perToken(price.cachedInput ?? price.input)
  const output = completion * perToken(price.output)
  return { input: input / unitsPerUsd, output: output / unitsPerUsd, total: (input + output) / unitsPerUsd }
}

/** The cost of a run that consists of one model request. */
export function costOf({ model, tokens, cost }: ModelUsage): Cost {
  return { total: cost.total, tokens, models: Object.fromEntries([[model, { ...cost, tokens }]]) }
}

const unitsPerUsd = 1e12

/** The exact sum of two amounts in USD that are whole numbers of 1e-12 USD. */
export function addUsd(a: number, b: number): number {
  return (Math.round(a * unitsPerUsd) + Math.round(b * unitsPerUsd)) / unitsPerUsd
}

/** The first instant of the calendar month (UTC) that contains `at`. */
export function billingPeriodOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

export const noTokens: Tokens = Object.freeze({ prompt: 0, completion: 0, total: 0 })

export const addTokens = (a: Tokens, b: Tokens): Tokens => ({
  prompt: a.prompt + b.prompt,
  completion: a.completion + b.completion,
  total: a.total + b.total,
})

/** The sum of two costs, model by model. Neither is changed. */
export function addCost(a: Cost, b: Cost): Cost {
  if (a === noCost) return b
  if (b === noCost) return a
  const models = new Map(Object.entries(a.models))
  for (const [name, cost] of Object.entries(b.models)) {
    const known = models.get(name)
    models.set(
      name,
      known
        ? {
            input: addUsd(known.input, cost.input),
            output: addUsd(known.output, cost.output),
            total: addUsd(known.total, cost.total),
            tokens: addTokens(known.tokens, cost.tokens),
          }
        : cost,
    )
  }
  return { total: addUsd(a.total, b.total), tokens: addTokens(a.tokens, b.tokens), models: Object.fromEntries(models) }
}
