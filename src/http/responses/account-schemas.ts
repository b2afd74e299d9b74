import { type Static, Type as t } from '@sinclair/typebox'
import { oneOf } from '../../domain/one-of.ts'
import { listOf, Time } from './schema-parts.ts'

export const RateState = t.Object({ limit: t.Number(), remaining: t.Number(), resetAt: Time }, { $id: 'RateLimit' })
export const LimitsResponse = t.Object(
  {
    workflowExecutionRateLimit: t.Object({ sync: RateState, async: RateState }),
    usage: t.Object({
      currentPeriodCost: t.Number({ description: 'USD, this calendar month (UTC).' }),
      limit: t.Number({ description: 'USD a month.' }),
      plan: t.String(),
      isExceeded: t.Boolean(),
    }),
  },
  { $id: 'Limits' },
)
export type LimitsResponse = Static<typeof LimitsResponse>

const UsageState = t.Object({ isLimited: t.Boolean(), ...RateState.properties })
export const UsageLimits = t.Object(
  {
    success: t.Literal(true),
    rateLimit: t.Object({ sync: UsageState, async: UsageState, authType: t.Literal('api') }),
    usage: t.Object({ currentPeriodCost: t.Number(), limit: t.Number(), plan: t.String() }),
  },
  { $id: 'UsageLimits' },
)

export const WorkspaceList = listOf(
  t.Object(
    { id: t.String(), name: t.String(), role: oneOf(['owner', 'editor', 'viewer']), createdAt: Time },
    { $id: 'Workspace' },
  ),
)

export const FolderList = listOf(t.Object({ id: t.String(), path: t.String() }, { $id: 'Folder' }))
