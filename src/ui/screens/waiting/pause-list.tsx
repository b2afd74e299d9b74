import { useInfiniteQuery } from '@tanstack/react-query'
import { Hourglass } from 'lucide-react'
import { Badge } from '../../parts/badge.tsx'
import { classes } from '../../parts/class-names.ts'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { ShowMore } from '../../parts/show-more.tsx'
import { Empty, Failed, Loading } from '../../parts/states.tsx'
import { Cell, Row, Table } from '../../parts/table.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { accessTexts, kindLabels, type Pause, pausesQuery } from './pause-queries.ts'

/** The open pauses of a workspace, oldest first. */
export function PauseList({
  workspaceId,
  workflowId,
  kind,
  chosen,
  onChoose,
}: {
  workspaceId: string
  workflowId: string | undefined
  kind: Pause['kind'] | undefined
  chosen: string | undefined
  onChoose: (contextId: string) => void
}) {
  const found = useInfiniteQuery(pausesQuery(workspaceId, { workflowId, kind }))
  const rows = found.data?.pages.flatMap(({ data }) => data) ?? []
  if (found.error && rows.length === 0) return <Failed error={found.error} retry={() => void found.refetch()} />
  if (found.isPending) return <Loading />
  if (rows.length === 0) {
    const isFiltered = workflowId !== undefined || kind !== undefined
    return (
      <Empty icon={<Hourglass size={22} />} title={isFiltered ? 'Nothing that matches waits' : 'Nothing is waiting'}>
        {isFiltered ? (
          'Other runs may be waiting.'
        ) : (
          <>
            Runs that wait for a time, an approval or a call appear here.{' '}
            <DocsLink to={docs.waiting}>Waiting runs</DocsLink>
          </>
        )}
      </Empty>
    )
  }
  return (
    <>
      <Table
        label="Waiting"
        head={['Waits for', 'Kind', 'Workflow', 'Since', 'Ends', 'May answer']}
        wideOnly={[2, 4, 5]}
      >
        {rows.map((pause) => (
          <Row
            key={pause.contextId}
            aria-selected={pause.contextId === chosen}
            className={classes('relative', pause.contextId === chosen && 'bg-accent-soft')}
          >
            <Cell className="max-w-20 py-1.5 max-md:w-full md:max-w-72">
              <button
                type="button"
                onClick={() => onChoose(pause.contextId)}
                className="block max-w-full cursor-default truncate rounded-sm text-left font-medium after:absolute after:inset-0"
              >
                {pause.title || pause.blockName}
              </button>
              <span className="block truncate text-xs text-muted">
                <span className="md:hidden">{pause.workflowName}</span>
                {pause.title && (
                  <>
                    <span className="md:hidden"> · </span>
                    {pause.blockName}
                  </>
                )}
              </span>
            </Cell>
            <Cell>
              <Badge tone={pause.kind === 'approval' ? 'accent' : 'plain'}>{kindLabels[pause.kind]}</Badge>
            </Cell>
            <Cell className="max-w-48 truncate text-muted max-md:hidden">{pause.workflowName}</Cell>
            <Cell className="whitespace-nowrap text-muted">
              <TimeAgo at={pause.since} />
            </Cell>
            <Cell className="whitespace-nowrap text-muted max-md:hidden">
              {pause.until === null ? 'Never' : <TimeAgo at={pause.until} />}
            </Cell>
            <Cell className="max-w-48 truncate text-muted max-md:hidden">
              {pause.access === null ? '' : accessTexts[pause.access]}
            </Cell>
          </Row>
        ))}
      </Table>
      <ShowMore of={found} />
    </>
  )
}
