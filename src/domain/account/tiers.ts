import type { TNumber } from '@sinclair/typebox'
import { plainInteger, plainNumber } from '../plain-schema.ts'

/** The tiers, cheapest first. An operator can set the limits of the last one for each account. */
export const tierNames = ['free', 'pro', 'team', 'enterprise'] as const
export type TierName = (typeof tierNames)[number]

/** The limits of an account per minute and per month. */
export type TierLimits = {
  externalPerMinute: number
  syncPerMinute: number
  asyncPerMinute: number
  usdPerMonth: number
}

export type Tier = TierLimits & { name: TierName }
export type Tiers = Readonly<Record<TierName, TierLimits>>

/** The kinds of requests that are counted per minute. Each kind has its own window. */
export const rateKinds = ['external', 'sync', 'async'] as const
export type RateKind = (typeof rateKinds)[number]

/** So high that self-hosted users never reach it. Also the maximum of the settings. */
export const beyondReach = 1_000_000_000

export const defaultTiers: Tiers = {
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
type TierSetting = `plan${Capitalize<TierName>}${Capitalize<keyof TierLimits>}`

function settingOf(tier: TierName, number: keyof TierLimits): TierSetting {
  const capital = <Word extends string>(word: Word) =>
    `${word.charAt(0).toUpperCase()}${word.slice(1)}` as Capitalize<Word>
  return `plan${capital(tier)}${capital(number)}`
}

const meanings: Readonly<Record<keyof TierLimits, string>> = {
  externalPerMinute: 'Requests to the external API per minute',
  syncPerMinute: 'Synchronous executions per minute',
  asyncPerMinute: 'Asynchronous executions per minute',
  usdPerMonth: 'US dollars per month',
}

/** A setting for each limit of each tier. */
export const tierSettings = Object.fromEntries(
  tierNames.flatMap((tier) =>
    Object.entries(defaultTiers[tier]).map(([number, value]) => {
      const name = number as keyof TierLimits
      const description = `${meanings[name]}, on the tier ${tier}.`
      const schema = { default: value, minimum: 0, maximum: beyondReach, description }
      return [settingOf(tier, name), name === 'usdPerMonth' ? plainNumber(schema) : plainInteger(schema)]
    }),
  ),
) as { [Name in TierSetting]: TNumber }

/** The tiers with the limits from the settings. */
export function tiersOf(values: Readonly<Record<TierSetting, number>>): Tiers {
  const limitsOf = (tier: TierName): TierLimits => ({
    externalPerMinute: values[settingOf(tier, 'externalPerMinute')],
    syncPerMinute: values[settingOf(tier, 'syncPerMinute')],
    asyncPerMinute: values[settingOf(tier, 'asyncPerMinute')],
    usdPerMonth: values[settingOf(tier, 'usdPerMonth')],
  })
  return {
    free: limitsOf('free'),
    pro: limitsOf('pro'),
    team: limitsOf('team'),
    enterprise: limitsOf('enterprise'),
  }
}
