import { useQuery } from '@tanstack/react-query'
import { ChartNoAxesGantt, SearchX } from 'lucide-react'
import { useMemo, useRef, useState } from 'react'
import { useSearchParams } from 'wouter'
import { messageOf } from '../../api/message-of.ts'
import { Button } from '../../parts/button.tsx'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { useSingleKeys } from '../../parts/keys.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { useCommands } from '../../shell/commands.tsx'
import { Page } from '../../shell/page.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { bucketsFor } from './buckets.ts'
import { EntryPanel } from './entry/entry-panel.tsx'
import { FilterBar } from './filter-bar.tsx'
import {
  isFiltered,
  type LogFilter,
  noFilter,
  type Parameters,
  parametersOf,
  readFilter,
  timesOf,
  writeFilter,
} from './log-filter.ts'
import { LogHistogram } from './log-histogram.tsx'
import { type LogEntry, workflowNamesQuery } from './log-queries.ts'
import { LogTable } from './log-table.tsx'
import { RerunButton } from './rerun/rerun-button.tsx'
import { useLogRows } from './use-log-rows.ts'

/** The log of runs. Filters and the selected entry are stored in the URL. */
export function LogsScreen() {
  const { id: workspaceId, name: workspaceName } = useWorkspace()
  const [search, setSearch] = useSearchParams()
  const isLive = search.get('live') === '1'
  const entryId = search.get('entry') ?? undefined
  const scroller = useRef<HTMLDivElement>(null)
  const filterText = writeFilter(readFilter(search), new URLSearchParams()).toString()
  const filter = useMemo(() => readFilter(new URLSearchParams(filterText)), [filterText])
  const { now, refresh } = useNowOf(filterText + workspaceId)
  const parameters = useMemo(() => ({ workspaceId, ...parametersOf(filter, now) }), [workspaceId, filter, now])
  const found = useLogRows(parameters, isLive)
  const nameOf = useWorkflowNames(workspaceId)
  const mayRun = useMayWrite()
  const [count, setCount] = useState(0)
  const change = (patch: Partial<LogFilter>) =>
    setSearch((before) => writeFilter({ ...filter, ...patch }, without(before, 'entry', 'view', 'span')))
  const setLive = (live: boolean) =>
    setSearch((before) => (live ? withOne(before, 'live', '1') : without(before, 'live')), { replace: true })
  const open = (id: string, isStep: boolean) =>
    setSearch((before) => withOne(without(before, 'span'), 'entry', id), { replace: isStep || entryId !== undefined })
  const close = () => {
    setSearch((before) => without(before, 'entry', 'view', 'span'))
    scroller.current?.focus()
  }
  useSingleKeys({
    l: () => setLive(!isLive),
    r: refresh,
    e: () => change({ status: filter.status ? undefined : 'error' }),
  })
  useCommands([
    {
      id: 'logs-failed',
      label: 'Show failed runs only',
      group: 'Logs',
      keys: keyOf('log-failed'),
      run: () => change({ status: 'error' }),
    },
    {
      id: 'logs-live',
      label: isLive ? 'Stop live updates' : 'Start live updates',
      group: 'Logs',
      keys: keyOf('log-live'),
      run: () => setLive(!isLive),
    },
    { id: 'logs-renew', label: 'Refresh logs', group: 'Logs', keys: keyOf('log-refresh'), run: refresh },
    { id: 'logs-clear', label: 'Clear all filters', group: 'Logs', run: () => change(noFilter) },
  ])
  return (
    <Page
      title="Logs"
      crumbs={[{ label: workspaceName }]}
      actions={mayRun && <RerunButton parameters={parameters} count={count} />}
    >
      <div className="flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          <FilterBar workspaceId={workspaceId} filter={filter} onChange={change} isLive={isLive} onLive={setLive} />
          <Counts
            filter={filter}
            now={now}
            parameters={parameters}
            newest={found.rows[0]}
            onPick={change}
            onCount={setCount}
          />
          {found.liveError !== undefined && (
            <p role="alert" className="bg-warn-soft px-6 py-1.5 text-xs text-warn-text">
              New entries could not be loaded: {messageOf(found.liveError)} Retrying…
            </p>
          )}
          {found.error && found.rows.length === 0 ? (
            <Failed error={found.error} retry={found.retry} title="The logs could not be loaded" />
          ) : found.isPending ? (
            <Loading lines={9} />
          ) : found.rows.length === 0 && !found.hasMore ? (
            <NoEntries filter={filter} onChange={change} />
          ) : (
            <LogTable
              found={found}
              nameOf={nameOf}
              current={entryId}
              scroller={scroller}
              // When nothing is selected, an arrow key selects the first entry.
              onPick={open}
              onOpen={() => document.getElementById('log-entry')?.focus()}
            />
          )}
          {found.error != null && found.rows.length > 0 && (
            <p role="alert" className="flex items-center gap-3 border-t border-line px-6 py-2 text-xs text-error-text">
              Older entries could not be loaded: {messageOf(found.error)}
              <Button size="small" onClick={found.retry}>
                Try again
              </Button>
            </p>
          )}
        </div>
        {entryId && <EntryPanel key={entryId} id={entryId} onClose={close} />}
      </div>
    </Page>
  )
}

/**
 * Counts over the selected time range, or over the last 90 days for all time. They are fetched again whenever the list
 * has a newer entry, so that both always say the same.
 */
function Counts({
  filter,
  now,
  parameters,
  newest,
  onPick,
  onCount,
}: {
  filter: LogFilter
  now: number
  parameters: Parameters
  newest: LogEntry | undefined
  onCount: (runs: number) => void
  onPick: (change: Partial<LogFilter>) => void
}) {
  // A newer entry moves the end on.
  const end = Math.max(now, newest ? Date.parse(newest.startedAt) : 0)
  const { from = end - 90 * 86_400_000, to = end } = timesOf(filter, now)
  const buckets = bucketsFor(from, to, 90)
  return (
    <LogHistogram
      parameters={{
        ...parameters,
        from: new Date(buckets.from).toISOString(),
        bucketMs: buckets.bucketMs,
        buckets: buckets.count,
        // Makes the query key change, so that it is fetched again.
        newest: newest?.id,
      }}
      bucketMs={buckets.bucketMs}
      onCount={onCount}
      onPick={(first, last) =>
        onPick({ range: { from: new Date(first).toISOString(), to: new Date(last - 1).toISOString() } })
      }
    />
  )
}

function NoEntries({ filter, onChange }: { filter: LogFilter; onChange: (change: Partial<LogFilter>) => void }) {
  const isAll = filter.range === 'all'
  if (isFiltered(filter)) {
    return (
      <Empty
        icon={<SearchX size={22} />}
        title="No matching runs"
        action={
          <>
            <Button onClick={() => onChange({ ...noFilter, range: filter.range })}>Clear filters</Button>
            {!isAll && <Button onClick={() => onChange({ range: 'all' })}>Show all time</Button>}
          </>
        }
      >
        No run in this time range matches all filters.
      </Empty>
    )
  }
  return (
    <Empty
      icon={<ChartNoAxesGantt size={22} />}
      title={isAll ? 'No runs yet' : 'No runs in this time range'}
      action={!isAll && <Button onClick={() => onChange({ range: 'all' })}>Show all time</Button>}
    >
      Every run appears here when it ends, with its trigger, the trace of its blocks and its cost.{' '}
      <DocsLink to={docs.logs}>Log entries and traces</DocsLink>
    </Empty>
  )
}

/**
 * The time that relative ranges count back from. It stays fixed until the query changes, so that pages fit together.
 */
function useNowOf(key: string): { now: number; refresh: () => void } {
  const [given, setGiven] = useState({ key, now: Date.now() })
  if (given.key !== key) setGiven({ key, now: Date.now() })
  return { now: given.now, refresh: () => setGiven({ key, now: Date.now() }) }
}

function useWorkflowNames(workspaceId: string): (id: string) => string {
  const { data } = useQuery(workflowNamesQuery(workspaceId))
  return useMemo(() => {
    const names = new Map(data?.data.map(({ id, name }) => [id, name]))
    return (id) => names.get(id) ?? (data ? 'Deleted workflow' : '')
  }, [data])
}

function without(search: URLSearchParams, ...names: string[]): URLSearchParams {
  const next = new URLSearchParams(search)
  for (const name of names) next.delete(name)
  return next
}

function withOne(search: URLSearchParams, name: string, value: string): URLSearchParams {
  const next = new URLSearchParams(search)
  next.set(name, value)
  return next
}
