/** What a run cost: USD and tokens, in all and by model. */
export type Tokens = { prompt: number; completion: number; total: number }
export type ModelCost = { input: number; output: number; total: number; tokens: Tokens }
export type Cost = { total: number; tokens: Tokens; models: Record<string, ModelCost> }

export const noCost: Cost = Object.freeze({
  total: 0,
  tokens: Object.freeze({ prompt: 0, completion: 0, total: 0 }),
  models: Object.freeze({}),
}) as Cost

/** The first instant of the calendar month (UTC) that `at` lies in. */
export function billingPeriodOf(at: number): number {
  const date = new Date(at)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth())
}

const addTokens = (a: Tokens, b: Tokens): Tokens => ({
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
            input: known.input + cost.input,
            output: known.output + cost.output,
            total: known.total + cost.total,
            tokens: addTokens(known.tokens, cost.tokens),
          }
        : cost,
    )
  }
  return { total: a.total + b.total, tokens: addTokens(a.tokens, b.tokens), models: Object.fromEntries(models) }
}
