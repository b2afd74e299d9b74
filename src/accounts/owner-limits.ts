import type { Store } from '../store/store.ts'
import type { AccountLimits, LimitsReport } from './limits.ts'
import type { Usage } from './usage.ts'

export type OwnerLimitsOptions = {
  store: Pick<Store, 'getWorkspace'>
  usage: Pick<Usage, 'ownerOf'>
  limits: Pick<AccountLimits, 'report'>
}

/** Reports the limits of the account that owns a workspace. */
export function createOwnerLimits({ store, usage, limits }: OwnerLimitsOptions) {
  return async (workspaceId: string): Promise<LimitsReport> => {
    const ownerId = usage.ownerOf(workspaceId) ?? (await store.getWorkspace(workspaceId))?.ownerId
    if (ownerId === undefined) throw new Error(`There is no workspace ${workspaceId}`)
    return limits.report(ownerId)
  }
}
