import { type Tier, type TierName, type Tiers, tierNames } from '../domain/account/tiers.ts'
import type { OwnTier } from '../store/account-store.ts'

/** The tier of an account: its own or the installation's. The account's own numbers replace those of its tier. */
export function tierOf({ plan, numbers }: OwnTier, installation: TierName, tiers: Tiers): Tier {
  // A tier name written by a later version is ignored.
  const name = tierNames.find((known) => known === plan) ?? installation
  return { name, ...tiers[name], ...(name === plan ? numbers : undefined) }
}
