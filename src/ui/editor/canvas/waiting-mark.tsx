import { useQuery } from '@tanstack/react-query'
import { Hourglass } from 'lucide-react'
import { Link } from 'wouter'
import { classes } from '../../parts/class-names.ts'
import { Popover } from '../../parts/popover.tsx'
import { Failed, Loading } from '../../parts/states.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { oldestPausesQuery, type Pause } from '../../screens/waiting/pause-queries.ts'
import type { Block } from '../document/document.ts'
import { useEditing } from '../editing.tsx'
import { useWaitingCount } from './waiting-counts.tsx'

const shownMax = 10

/**
 * Shows how many runs of the deployed workflow wait at a block, and opens a list of them. `compact`: without words, for
 * a small card.
 */
export function WaitingMark({ block, compact = false }: { block: Block; compact?: boolean }) {
  const waiting = useWaitingCount(block.id)
  if (!waiting) return null
  const number = waiting.count.toLocaleString('en')
  const text = `${number}${waiting.isComplete ? '' : ' or more'} waiting`
  return (
    <div className={classes('waiting-mark nodrag nopan', compact && 'compact')}>
      <Popover
        align="start"
        label={`Waiting at ${block.name}`}
        trigger={
          <button
            type="button"
            aria-label={`${text} at ${block.name}`}
            title={compact ? text : undefined}
            onClick={(event) => event.stopPropagation()}
            onKeyDown={(event) => event.stopPropagation()}
            className={classes(
              'inline-flex h-[max(24px,1.6em)] cursor-default items-center rounded-full border border-line-strong bg-surface text-[1em] font-medium whitespace-nowrap text-warn-text shadow-sm hover:bg-sunken',
              compact ? 'gap-[0.15em] px-[0.4em]' : 'gap-[0.3em] px-[0.7em]',
            )}
          >
            <Hourglass className="size-[1em]" aria-hidden="true" />
            {compact ? `${number}${waiting.isComplete ? '' : '+'}` : text}
          </button>
        }
      >
        <Oldest block={block} />
      </Popover>
    </div>
  )
}

/** The pauses at a block that are among the oldest pauses of the workflow. */
function Oldest({ block }: { block: Block }) {
  const { workspaceId, workflowId } = useEditing()
  const { data, error, refetch } = useQuery(oldestPausesQuery(workspaceId, workflowId))
  const pauses = data?.data.filter(({ outerBlockId }) => outerBlockId === block.id).slice(0, shownMax) ?? []
  const list = `/w/${workspaceId}/waiting?workflow=${workflowId}`
  return (
    <div className="flex flex-col gap-2 p-3">
      <h2 className="text-sm font-semibold wrap-anywhere">Waiting at {block.name}</h2>
      {error && !data ? (
        <Failed error={error} retry={() => void refetch()} />
      ) : !data ? (
        <Loading />
      ) : (
        pauses.length > 0 && (
          <ol className="flex flex-col divide-y divide-line">
            {pauses.map((pause) => (
              <li key={pause.contextId}>
                <PauseLink pause={pause} list={list} />
              </li>
            ))}
          </ol>
        )
      )}
      <Link href={list} className="text-xs text-accent-text hover:underline">
        Show all in Waiting
      </Link>
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
