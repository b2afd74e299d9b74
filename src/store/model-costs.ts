import type { Cost } from '../domain/run/cost.ts'
import type { LogRow } from '../domain/run/log.ts'

/** The cost that a run adds to the total of a day and model. `day`: its first instant. */
export type ModelCostOfDay = { day: number; model: string; cost: number; prompt: number; completion: number }

/** The model costs of a run. */
export function modelCostsOf({ endedAt, cost, models }: Pick<LogRow, 'endedAt' | 'cost' | 'models'>): ModelCostOfDay[] {
  if (cost === null || models.length === 0) return []
  const day = Math.floor(endedAt / dayMs) * dayMs
  // Tolerates any text as the cost: a chart must not prevent a run from being recorded.
  const costs = (JSON.parse(cost) as Partial<Cost> | null)?.models
  return [...new Set(models)].flatMap((model) => {
    const spent = costs?.[model]
    if (typeof spent?.total !== 'number') return []
    const { prompt = 0, completion = 0 } = spent.tokens ?? {}
    return { day, model, cost: spent.total, prompt, completion }
  })
}

const dayMs = 86_400_000
