import { useQuery } from '@tanstack/react-query'
import { useSyncExternalStore } from 'react'
import { call } from '../../api/call.ts'
import { useEditing } from '../editing.tsx'
import { listenedSource, listenedToken, takes, useTaken } from '../run/test-request.ts'

/**
 * Chooses the values that are shown beside the fields: those of the latest run, of any earlier run in the log, or of
 * the request that a test address has taken.
 */
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
  const taken = useTaken(workflowId)
  const token = listenedToken(source)
  const chosen = token !== undefined && token !== taken?.token ? undefined : source
  const isUnknown =
    chosen !== undefined && token === undefined && !runs.some(({ executionId }) => executionId === chosen)
  return (
    <select
      aria-label="Source of run data"
      value={chosen ?? ''}
      onFocus={() => void refetch()}
      onChange={(event) => focus.chooseSource(event.target.value === '' ? undefined : event.target.value)}
      className="chevron h-6 max-w-44 min-w-0 cursor-default appearance-none truncate rounded-md border border-line bg-surface pr-6 pl-2 text-2xs text-text"
    >
      <option value="">Latest run</option>
      {taken?.request && (
        <option value={listenedSource(taken.token)}>
          {`Test ${takes[taken.trigger].thing}, ${timeOf(taken.request.receivedAt)}`}
        </option>
      )}
      {isUnknown && <option value={chosen}>Earlier run</option>}
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
