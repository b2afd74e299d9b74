import { systemClock } from '../../src/domain/clock.ts'
import { BodyBudget } from '../../src/http/requests/body-budget.ts'
import type { BodyLimits } from '../../src/http/requests/body-limits.ts'
import { Turns } from '../../src/http/requests/turns.ts'

/** Limits of a body, generous unless given. */
export function bodyLimits(
  max: Partial<Record<Exclude<keyof BodyLimits, 'budget' | 'turns' | 'visitor'>, number>> = {},
): BodyLimits {
  const limit = (name: keyof typeof max, value: number) => ({ max: max[name] ?? value, setting: `MAX_${name}` })
  return {
    bytes: limit('bytes', 10_000_000),
    values: limit('values', 200_000),
    fields: limit('fields', 10_000),
    files: limit('files', 1_000),
    ratio: limit('ratio', 100),
    uncheckedBytes: max.uncheckedBytes ?? 1_048_576,
    turns: new Turns(systemClock),
    budget: new BodyBudget({ max: 100_000_000, setting: 'MAX_budget' }),
  }
}
