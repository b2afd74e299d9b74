/** What a run cost: USD and tokens, in all and by model. */
export type Tokens = { prompt: number; completion: number; total: number }
export type ModelCost = { input: number; output: number; total: number; tokens: Tokens }
export type Cost = { total: number; tokens: Tokens; models: Record<string, ModelCost> }

export const noCost: Cost = Object.freeze({
  total: 0,
  tokens: Object.freeze({ prompt: 0, completion: 0, total: 0 }),
  models: Object.freeze({}),
}) as Cost

/** USD per million tokens; `cachedInput` is the price of prompt tokens that the provider had in its cache. */
export type Price = { input: number; output: number; cachedInput?: number }

/** Of one answer; `prompt` includes the `cached` ones. */
export type TokenCount = { prompt: number; cached: number; completion: number }

/** What one answer of a model cost in USD. */
export type CallCost = { input: number; output: number; total: number }

/** What a request of a model was: a part of its span. */
export type ModelUsage = {
  model: string
  tokens: Tokens
  cost: CallCost
  /** Milliseconds from the start of the request to its first text or tool call; null when none came. */
  timeToFirstTokenMs: number | null
  /** Set when no price is known for the model: the cost of 0 says nothing. */
  costUnknown?: true
  /** Set when the provider did not tell the tokens. */
  tokensUnknown?: true
}

/**
 * What tokens cost. A price of at most six decimals is a whole number of millionths of a millionth of a dollar for each
 * token, and amounts are computed and added in those: so sums are exact, in any order, up to some thousand dollars.
 */
export function priceTokens({ prompt, cached, completion }: TokenCount, price: Price): CallCost {
  const perToken = (usdPerMillion: number) => Math.round(usdPerMillion * 1e6)
  const input = (prompt - cached) * perToken(price.input) + cached * perToken(price.cachedInput ?? price.input)
  const output = completion * perToken(price.output)
  return { input: input / unitsPerUsd, output: output / unitsPerUsd, total: (input + output) / unitsPerUsd }
}

/** One request of a model as the cost of a run. */
export function costOf({ model, tokens, cost }: ModelUsage): Cost {
  return { total: cost.total, tokens, models: Object.fromEntries([[model, { ...cost, tokens }]]) }
}

const unitsPerUsd = 1e12

/** The exact sum of two amounts in USD that are whole numbers of 1e-12 USD. */
export function addUsd(a: number, b: number): number {
  return (Math.round(a * unitsPerUsd) + Math.round(b * unitsPerUsd)) / unitsPerUsd
}

/** The first instant of the calendar month (UTC) that `at` lies in. */
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
