import { useQuery } from '@tanstack/react-query'
import { call, type ResponseOf } from '../../api/call.ts'
import { useMe } from '../../api/session.ts'
import { costText, countOf, countText, shortCount } from '../../parts/amount-text.ts'
import { BarChart } from '../../parts/bar-chart.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { dayText } from '../../parts/time-text.ts'
import { useWorkspace } from '../../shell/workspace.tsx'
import { histogramQuery } from '../logs/log-queries.ts'
import { Facts, Section } from './section.tsx'
import { tierFact } from './tier-fact.ts'

const dayMs = 86_400_000

type Usage = ResponseOf<'GET /api/editor/usage'>

/** Usage and limits of the account, and runs of the workspace. */
export function UsageSection() {
  const { user } = useMe()
  const { data, error, refetch } = useQuery({
    queryKey: ['usage', daysShown],
    queryFn: ({ signal }) => call('GET /api/editor/usage', { query: { days: daysShown }, signal }),
  })
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading />
  const { limits } = data
  return (
    <>
      <Section
        title="This month"
        note="Covers all workspaces you own. Months are in UTC. Manual runs do not count toward the limit."
      >
        <Spent {...limits.usage} />
      </Section>
      <Costs usage={data} />
      <Runs />
      <Section title="Limits" note="Shared by all API keys of your account. Each minute starts with its first request.">
        <Facts
          facts={[
            tierFact({ user, limits }),
            { name: 'Synchronous runs', ...rateFact(limits.workflowExecutionRateLimit.sync) },
            { name: 'Asynchronous runs', ...rateFact(limits.workflowExecutionRateLimit.async) },
          ]}
        />
      </Section>
    </>
  )
}

function rateFact({ limit, remaining, resetAt }: { limit: number; remaining: number; resetAt: string }) {
  if (limit >= unlimitedFrom) return { value: 'Unlimited' }
  const left = limit - remaining
  return {
    value: `${countText(limit)} per minute`,
    note: left > 0 && (
      <>
        {countText(remaining)} left, resets <TimeAgo at={resetAt} />
      </>
    ),
  }
}

/** Limits from this number on mean unlimited. */
const unlimitedFrom = 1_000_000

function Spent({
  currentPeriodCost,
  limit,
  isExceeded,
}: {
  currentPeriodCost: number
  limit: number
  isExceeded: boolean
}) {
  const hasLimit = limit < unlimitedFrom
  const share = hasLimit ? Math.min(1, currentPeriodCost / Math.max(limit, 1e-9)) : 0
  return (
    <div className="rounded-lg border border-line bg-surface p-4">
      <p className="flex items-baseline gap-2 tabular-nums">
        <span className="text-xl font-semibold">{costText(currentPeriodCost)}</span>
        <span className="text-sm text-muted">{hasLimit ? `of ${costText(limit)} for models` : 'spent on models'}</span>
      </p>
      {hasLimit && (
        // biome-ignore lint/a11y/useSemanticElements: browsers do not allow styling a meter
        <div
          role="meter"
          aria-label="Spent this month"
          aria-valuemin={0}
          aria-valuemax={limit}
          aria-valuenow={currentPeriodCost}
          className="mt-3 h-2 overflow-hidden rounded-full bg-sunken"
        >
          <div
            className={share >= 1 ? 'h-full bg-error' : share > 0.8 ? 'h-full bg-warn' : 'h-full bg-accent'}
            style={{ width: `${share * 100}%` }}
          />
        </div>
      )}
      {isExceeded && (
        <p role="alert" className="mt-3 text-sm text-error-text">
          The usage limit is reached. API runs are rejected until the month ends or the account gets a higher tier.
        </p>
      )}
    </div>
  )
}

/** Model cost by day and by model. */
function Costs({ usage: { days, models } }: { usage: Usage }) {
  const cost = days.reduce((sum, day) => sum + day.cost, 0)
  const number = 'text-right tabular-nums'
  return (
    <Section title="Models" note={models.length > 0 && `${costText(cost)} in ${daysShown} days.`}>
      <BarChart
        label="Model cost per day"
        labels={days.map(({ day }) => utcDay.format(Date.parse(day)))}
        series={[{ name: 'Cost', tone: 'model', values: days.map((day) => day.cost) }]}
        say={costText}
        none={`No model calls in the last ${daysShown} days`}
      />
      {models.length > 0 && (
        <Table label="Cost by model" numbersFrom={1} head={['Model', 'Runs', 'Tokens in', 'Tokens out', 'Cost']}>
          {models.map(({ model, runs, promptTokens, completionTokens, cost: spent }) => (
            <Row key={model}>
              <Cell className="font-medium">{model}</Cell>
              <Cell className={number}>{countText(runs)}</Cell>
              <Cell className={number}>{countText(promptTokens)}</Cell>
              <Cell className={number}>{countText(completionTokens)}</Cell>
              <Cell className={`${number} font-medium`}>{costText(spent)}</Cell>
            </Row>
          ))}
        </Table>
      )}
    </Section>
  )
}

/** Runs of the current workspace per local day. */
function Runs() {
  const { id, name } = useWorkspace()
  const today = new Date()
  const from = new Date(today.getFullYear(), today.getMonth(), today.getDate() - (daysShown - 1)).getTime()
  const { data, error, refetch } = useQuery(
    histogramQuery({ workspaceId: id, from: new Date(from).toISOString(), bucketMs: dayMs, buckets: daysShown }),
  )
  if (error) return <Failed error={error} retry={() => void refetch()} />
  if (!data) return <Loading lines={4} />
  const days = data.data
  const runs = days.reduce((sum, { success, error: failed, cancelled }) => sum + success + failed + cancelled, 0)
  const failed = days.reduce((sum, day) => sum + day.error, 0)
  const said = `${countOf(runs, 'run')} in ${daysShown} days${failed > 0 ? `, ${countText(failed)} of them failed` : ''}.`
  return (
    <Section
      title={`Runs in ${name}`}
      note={
        runs === 0
          ? undefined
          : data.isComplete
            ? said
            : `${said} There are too many runs to count them all: the counts of the earliest days are too low.`
      }
    >
      <BarChart
        label="Runs per day"
        labels={days.map(({ at }) => dayText(Date.parse(at)))}
        series={[
          { name: 'Succeeded', tone: 'accent', values: days.map(({ success }) => success) },
          { name: 'Failed', tone: 'error', values: days.map((day) => day.error) },
          { name: 'Cancelled', tone: 'muted', values: days.map(({ cancelled }) => cancelled) },
        ]}
        say={shortCount}
        none={`No runs in the last ${daysShown} days`}
      />
    </Section>
  )
}

const daysShown = 30
const utcDay = new Intl.DateTimeFormat(undefined, { month: 'short', day: 'numeric', timeZone: 'UTC' })
