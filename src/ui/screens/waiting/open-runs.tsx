import { useInfiniteQuery, useQueryClient } from '@tanstack/react-query'
import { Loader } from 'lucide-react'
import { useState } from 'react'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { CopyButton } from '../../parts/copy-button.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { CancelRun } from './cancel-run.tsx'
import { type OpenRun, type OpenStatus, openRunsQuery, pausesKey, statusLabels } from './pause-queries.ts'

/** The runs of a workspace that have not ended, newest first. */
export function OpenRuns({
  workspaceId,
  workflowId,
  status,
  mayWrite,
  chosen,
  onChoose,
}: {
  workspaceId: string
  workflowId: string | undefined
  status: OpenStatus
  mayWrite: boolean
  /** The execution ID of the run that is open. */
  chosen: string | undefined
  onChoose: (executionId: string) => void
}) {
  const queries = useQueryClient()
  const toast = useToast()
  const [cancelling, setCancelling] = useState<OpenRun>()
  const found = useInfiniteQuery(openRunsQuery(workspaceId, status, workflowId))
  const rows = found.data?.pages.flatMap(({ data }) => data) ?? []
  if (found.error && rows.length === 0) return <Failed error={found.error} retry={() => void found.refetch()} />
  if (found.isPending) return <Loading />
  if (rows.length === 0) {
    return (
      <Empty icon={<Loader size={22} />} title={`No ${statusLabels[status].toLowerCase()} runs`}>
        Runs appear here until they end. After that, they are in the log.
      </Empty>
    )
  }
  return (
    <>
      <Table label="Unfinished runs" head={['Workflow', 'Trigger', 'Started', 'Execution ID', '']} wideOnly={[1, 3]}>
        {rows.map((run) => (
          <Row
            key={run.executionId}
            aria-selected={run.executionId === chosen}
            className={classes('relative', run.executionId === chosen && 'bg-accent-soft')}
          >
            <Cell className="max-w-20 max-md:w-full md:max-w-72">
              <button
                type="button"
                onClick={() => onChoose(run.executionId)}
                className="block max-w-full cursor-default truncate rounded-sm text-left font-medium after:absolute after:inset-0"
              >
                {run.workflowName ?? 'Deleted workflow'}
              </button>
            </Cell>
            <Cell className="text-muted max-md:hidden">{run.trigger}</Cell>
            <Cell className="whitespace-nowrap text-muted">
              {run.startedAt === null ? 'Not yet' : <TimeAgo at={run.startedAt} />}
            </Cell>
            <Cell className="max-w-40 max-md:hidden">
              <span className="relative flex items-center gap-1">
                <code className="truncate font-mono text-xs">{run.executionId}</code>
                <CopyButton text={run.executionId} label="Copy execution ID" />
              </span>
            </Cell>
            <Cell className="text-right">
              {mayWrite && (
                <Button size="small" look="danger" className="relative" onClick={() => setCancelling(run)}>
                  Cancel
                </Button>
              )}
            </Cell>
          </Row>
        ))}
      </Table>
      <ShowMore of={found} />
      <CancelRun
        run={cancelling}
        onClose={() => setCancelling(undefined)}
        onCancelled={async () => {
          toast.show({ text: 'The run was cancelled.' })
          await queries.invalidateQueries({ queryKey: pausesKey(workspaceId) })
        }}
      />
    </>
  )
}
