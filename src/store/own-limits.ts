import type { TierLimits } from '../domain/account/tiers.ts'

/** An account's own limits; null: that of its tier. */
export type OwnLimits = { [Limit in keyof TierLimits]: number | null }

export function withNumbers<Row extends OwnLimits>(
  row: Row,
): Omit<Row, keyof OwnLimits> & { numbers: Partial<TierLimits> } {
  const { externalPerMinute, syncPerMinute, asyncPerMinute, usdPerMonth, ...rest } = row
  return {
    ...rest,
    numbers: {
      ...(externalPerMinute !== null && { externalPerMinute }),
      ...(syncPerMinute !== null && { syncPerMinute }),
      ...(asyncPerMinute !== null && { asyncPerMinute }),
      ...(usdPerMonth !== null && { usdPerMonth }),
    },
  }
}
