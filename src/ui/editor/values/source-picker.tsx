import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { useEditing } from '../editing.tsx'

/** Chooses the run whose values are shown beside the fields: the latest one, or any earlier run in the log. */
export function SourcePicker() {
  const { focus, workspaceId, workflowId, run } = useEditing()
  const { source } = useSyncExternalStore(focus.watch, focus.state)
  const latest = useSyncExternalStore(run.watch, () => run.state().executionId)
  const { data, refetch } = useQuery({
    queryKey: ['source-runs', workflowId, latest],
    staleTime: 10_000,
    queryFn: ({ signal }) =>
      call('GET /api/editor/logs', { query: { workspaceId, workflowIds: workflowId, limit: runsMax }, signal }),
  })
  const runs = data?.data ?? []
  const isUnknown = source !== undefined && !runs.some(({ executionId }) => executionId === source)
  return (
    <select
      aria-label="Source of run data"
      value={source ?? ''}
      onFocus={() => void refetch()}
      onChange={(event) => focus.chooseSource(event.target.value === '' ? undefined : event.target.value)}
      className="chevron h-6 max-w-44 min-w-0 cursor-default appearance-none truncate rounded-md border border-line bg-surface pr-6 pl-2 text-2xs text-text"
    >
      <option value="">Latest run</option>
      {isUnknown && <option value={source}>Earlier run</option>}
      {runs.map(({ executionId, startedAt, level, trigger }) => (
        <option key={executionId} value={executionId}>
          {`${timeOf(startedAt)}, ${level === 'error' ? 'failed' : 'succeeded'}, ${trigger}`}
        </option>
      ))}
    </select>
  )
}

const runsMax = 50

function timeOf(at: string): string {
  return new Date(at).toLocaleString(undefined, { dateStyle: 'short', timeStyle: 'medium' })
}
