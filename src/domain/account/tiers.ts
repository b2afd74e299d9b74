import type { TNumber } from '@sinclair/typebox'
import { plainInteger, plainNumber } from '../plain-schema.ts'

/** The tiers, cheapest first. An operator can set the limits of the last one for each account. */
export const planNames = ['free', 'pro', 'team', 'enterprise'] as const
export type PlanName = (typeof planNames)[number]

/** The limits of an account per minute and per month. */
export type PlanNumbers = {
  externalPerMinute: number
  syncPerMinute: number
  asyncPerMinute: number
  usdPerMonth: number
}

export type Plan = PlanNumbers & { name: PlanName }
export type Plans = Readonly<Record<PlanName, PlanNumbers>>

/** The kinds of requests that are counted per minute. Each kind has its own window. */
export const rateKinds = ['external', 'sync', 'async'] as const
export type RateKind = (typeof rateKinds)[number]

/** So high that self-hosted users never reach it. Also the maximum of the settings. */
export const beyondReach = 1_000_000_000

export const defaultPlans: Plans = {
  free: { externalPerMinute: 10, syncPerMinute: 10, asyncPerMinute: 50, usdPerMonth: 10 },
  pro: { externalPerMinute: 30, syncPerMinute: 25, asyncPerMinute: 200, usdPerMonth: 20 },
  team: { externalPerMinute: 60, syncPerMinute: 75, asyncPerMinute: 500, usdPerMonth: 40 },
  enterprise: {
    externalPerMinute: beyondReach,
    syncPerMinute: beyondReach,
    asyncPerMinute: beyondReach,
    usdPerMonth: beyondReach,
  },
}

/** `planFreeSyncPerMinute`: the setting of one limit of a tier. */
type PlanSetting = `plan${Capitalize<PlanName>}${Capitalize<keyof PlanNumbers>}`

function settingOf(plan: PlanName, number: keyof PlanNumbers): PlanSetting {
  const capital = <Word extends string>(word: Word) =>
    `${word.charAt(0).toUpperCase()}${word.slice(1)}` as Capitalize<Word>
  return `plan${capital(plan)}${capital(number)}`
}

const meanings: Readonly<Record<keyof PlanNumbers, string>> = {
  externalPerMinute: 'Requests to the external API per minute',
  syncPerMinute: 'Synchronous executions per minute',
  asyncPerMinute: 'Asynchronous executions per minute',
  usdPerMonth: 'US dollars per month',
}

/** A setting for each limit of each tier. */
export const planSettings = Object.fromEntries(
  planNames.flatMap((plan) =>
    Object.entries(defaultPlans[plan]).map(([number, value]) => {
      const name = number as keyof PlanNumbers
      const description = `${meanings[name]}, on the tier ${plan}.`
      const schema = { default: value, minimum: 0, maximum: beyondReach, description }
      return [settingOf(plan, name), name === 'usdPerMonth' ? plainNumber(schema) : plainInteger(schema)]
    }),
  ),
) as { [Name in PlanSetting]: TNumber }

/** The tiers with the limits from the settings. */
export function plansOf(values: Readonly<Record<PlanSetting, number>>): Plans {
  const numbersOf = (plan: PlanName): PlanNumbers => ({
    externalPerMinute: values[settingOf(plan, 'externalPerMinute')],
    syncPerMinute: values[settingOf(plan, 'syncPerMinute')],
    asyncPerMinute: values[settingOf(plan, 'asyncPerMinute')],
    usdPerMonth: values[settingOf(plan, 'usdPerMonth')],
  })
  return {
    free: numbersOf('free'),
    pro: numbersOf('pro'),
    team: numbersOf('team'),
    enterprise: numbersOf('enterprise'),
  }
}
