import { useQuery } from '@tanstack/react-query'
import { Hourglass } from 'lucide-react'
import { Link } from 'wouter'
import { Popover } from '../../parts/popover.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { type Pause, workflowPausesQuery } from '../../screens/waiting/pause-queries.ts'
import type { Block } from '../document/document.ts'
import { useEditing } from '../editing.tsx'

const pausingTypes = ['wait', 'approval', 'wait_for_call']
const shownMax = 10

/** How many runs of the deployed workflow wait at a block, and the way to them. */
export function WaitingMark({ block }: { block: Block }) {
  return pausingTypes.includes(block.type) ? <Loaded block={block} /> : null
}

/** All blocks of a workflow share one request. */
function Loaded({ block }: { block: Block }) {
  const { workspaceId, workflowId } = useEditing()
  const { data } = useQuery(workflowPausesQuery(workspaceId, workflowId))
  const pauses = data?.data.filter(({ blockId }) => blockId === block.id) ?? []
  if (pauses.length === 0) return null
  const text = `${pauses.length}${data?.nextCursor ? ' or more' : ''} waiting`
  const list = `/w/${workspaceId}/waiting?workflow=${workflowId}`
  return (
    <div className="nodrag nopan absolute -top-3 left-3">
      <Popover
        align="start"
        label={`Waiting at ${block.name}`}
        trigger={
          <button
            type="button"
            aria-label={`${text} at ${block.name}`}
            onClick={(event) => event.stopPropagation()}
            onKeyDown={(event) => event.stopPropagation()}
            className="inline-flex h-6 cursor-default items-center gap-1 rounded-full border border-line-strong bg-surface px-2 text-2xs font-medium text-warn-text shadow-sm hover:bg-sunken"
          >
            <Hourglass size={11} aria-hidden="true" />
            {text}
          </button>
        }
      >
        <div className="flex flex-col gap-2 p-3">
          <h2 className="text-sm font-semibold wrap-anywhere">Waiting at {block.name}</h2>
          <ol className="flex flex-col divide-y divide-line">
            {pauses.slice(0, shownMax).map((pause) => (
              <li key={pause.contextId}>
                <PauseLink pause={pause} list={list} />
              </li>
            ))}
          </ol>
          <Link href={list} className="text-xs text-accent-text hover:underline">
            Show all in Waiting
          </Link>
        </div>
      </Popover>
    </div>
  )
}

function PauseLink({ pause: { contextId, title, blockName, since, until }, list }: { pause: Pause; list: string }) {
  return (
    <Link
      href={`${list}&pause=${encodeURIComponent(contextId)}`}
      className="flex flex-col rounded-sm py-1.5 hover:bg-hover"
    >
      <span className="truncate text-sm">{title || blockName}</span>
      <span className="text-xs text-muted">
        since <TimeAgo at={since} />
        {until !== null && (
          <>
            {' · ends '}
            <TimeAgo at={until} />
          </>
        )}
      </span>
    </Link>
  )
}
