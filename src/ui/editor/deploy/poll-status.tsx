import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { RefreshCw } from 'lucide-react'
import type { ReactNode } from 'react'
import { call } from '../../api/call.ts'
import { Button } from '../../parts/button.tsx'
import { ErrorNote } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useEditing } from '../editing.tsx'

/** The last poll of a trigger of the live version, and the next one. Shows nothing if the live version has none. */
export function PollStatus({ blockId }: { blockId: string }) {
  const { workflowId, readOnly } = useEditing()
  const queries = useQueryClient()
  const queryKey = ['polls', workflowId]
  const { data } = useQuery({
    queryKey,
    queryFn: () => call('GET /api/workflows/:id/polls', { params: { id: workflowId } }),
    refetchInterval: 5_000,
  })
  const now = useMutation({
    mutationFn: () => call('POST /api/workflows/:id/polls/:blockId/now', { params: { id: workflowId, blockId } }),
    onSuccess: () => queries.invalidateQueries({ queryKey }),
  })
  const poll = data?.data.find((each) => each.blockId === blockId)
  if (!poll) return null
  const { lastPollAt, lastSuccessAt, nextPollAt, failures, error, startedRuns, lastStartAt } = poll
  return (
    <div className="flex flex-col gap-2 rounded-md border border-line p-3 text-xs">
      <dl className="grid grid-cols-[auto_1fr] gap-x-4 gap-y-1">
        <Fact name="Last poll">{lastPollAt === null ? 'not yet' : <TimeAgo at={lastPollAt} />}</Fact>
        {failures > 0 && (
          <Fact name="Last success">{lastSuccessAt === null ? 'never' : <TimeAgo at={lastSuccessAt} />}</Fact>
        )}
        <Fact name="Next poll">{nextPollAt === null ? 'none' : <TimeAgo at={nextPollAt} />}</Fact>
        <Fact name="Runs started">
          {startedRuns}
          {lastStartAt !== null && (
            <>
              {', the last one '}
              <TimeAgo at={lastStartAt} />
            </>
          )}
        </Fact>
      </dl>
      {error !== null && (
        <p
          className={
            failures > 0
              ? 'rounded-md bg-error-soft px-2 py-1.5 break-words text-error-text'
              : 'rounded-md bg-warn-soft px-2 py-1.5 break-words text-warn-text'
          }
        >
          {failures > 1 && `Failed ${failures} times in a row. `}
          {error}
        </p>
      )}
      {!readOnly && (
        <div>
          <Button size="small" icon={<RefreshCw size={13} />} busy={now.isPending} onClick={() => now.mutate()}>
            Poll now
          </Button>
        </div>
      )}
      <ErrorNote error={now.error} />
    </div>
  )
}

function Fact({ name, children }: { name: string; children: ReactNode }) {
  return (
    <>
      <dt className="text-muted">{name}</dt>
      <dd>{children}</dd>
    </>
  )
}
