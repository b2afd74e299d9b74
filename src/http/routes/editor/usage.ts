import { Type as t } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { ModelUsageRow } from '../../../store/dashboard-store.ts'
import type { Door } from '../../access/door.ts'
import { editorRoute } from '../../openapi/route.ts'
import { Parameters } from '../../requests/parameters.ts'
import { LimitsResponse } from '../../responses/account-schemas.ts'
import { limitsResponse } from '../../responses/limits-response.ts'
import { isoTime, Time } from '../../responses/schema-parts.ts'
import type { Services } from '../../services.ts'

const Spent = {
  runs: t.Integer({ description: 'Runs that used it.' }),
  cost: t.Number({ description: 'USD.' }),
  promptTokens: t.Integer(),
  completionTokens: t.Integer(),
}
const Usage = t.Object({
  limits: LimitsResponse,
  days: t.Array(t.Object({ day: Time, cost: t.Number(), models: t.Array(t.Object({ model: t.String(), ...Spent })) }), {
    description: 'Days in UTC, oldest first, including days without usage; the last one is today.',
  }),
  models: t.Array(t.Object({ model: t.String(), ...Spent }), {
    description: 'Totals of all days, highest cost first.',
  }),
})

const daysDefault = 30
const daysMax = 366
const dayMs = 86_400_000

/** Limits and usage of the signed-in account. */
export function usageRoutes(services: Services, door: Door) {
  const { store, clock } = services
  return new Elysia({ prefix: '/usage' }).get(
    '',
    async ({ request, set }) => {
      const caller = await door.requireSession(request, set)
      const parameters = new Parameters(request.url)
      const count = parameters.whole('days', 1, daysMax) ?? daysDefault
      parameters.assertValid()
      const today = Math.floor(clock.now() / dayMs) * dayMs
      const from = today - (count - 1) * dayMs
      const [limits, rows] = await Promise.all([
        services.limits.report(caller.userId),
        store.listModelUsage(caller.userId, from),
      ])
      const byDay = Map.groupBy(rows, ({ day }) => day)
      return {
        limits: limitsResponse(limits),
        days: Array.from({ length: count }, (_, index) => dayOf(from + index * dayMs, byDay)),
        models: totalsOf(rows),
      }
    },
    editorRoute({
      name: 'getUsage',
      summary: 'Get limits, and cost by day and model',
      description: 'Covers the workspaces that the account owns, including runs that other members started.',
      query: t.Object({ days: t.Optional(t.Integer({ minimum: 1, maximum: daysMax, default: daysDefault })) }),
      responses: { 200: Usage },
      errors: ['INVALID_PARAMETERS'],
    }),
  )
}

function dayOf(day: number, rows: ReadonlyMap<number, readonly ModelUsageRow[]>) {
  const models = (rows.get(day) ?? []).map(({ day: _, ...spent }) => spent)
  return { day: isoTime(day), cost: models.reduce((sum, { cost }) => sum + cost, 0), models }
}

function totalsOf(rows: readonly ModelUsageRow[]) {
  const models = Map.groupBy(rows, ({ model }) => model)
  const sum = (some: readonly ModelUsageRow[], of: (row: ModelUsageRow) => number) =>
    some.reduce((total, row) => total + of(row), 0)
  const totals = Array.from(models, ([model, some]) => ({
    model,
    runs: sum(some, ({ runs }) => runs),
    cost: sum(some, ({ cost }) => cost),
    promptTokens: sum(some, ({ promptTokens }) => promptTokens),
    completionTokens: sum(some, ({ completionTokens }) => completionTokens),
  }))
  return totals.toSorted((a, b) => b.cost - a.cost)
}
