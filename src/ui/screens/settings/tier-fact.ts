import type { Me } from '../../api/session.ts'

/** The tier of the account, and whether it was set for this account. */
export function tierFact({ user, limits }: Pick<Me, 'user' | 'limits'>): { name: string; value: string; note: string } {
  const { plan } = limits.usage
  return {
    name: 'Tier',
    value: plan.charAt(0).toUpperCase() + plan.slice(1),
    note: user.plan === null ? 'default for all accounts' : 'set for this account',
  }
}
