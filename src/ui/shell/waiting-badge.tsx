import { useQuery } from '@tanstack/react-query'
import { classes } from '../parts/class-names.ts'
import { approvalsIn, pauseCountsQuery } from '../screens/waiting/pause-queries.ts'
import { useWorkspace } from './workspace.tsx'

const shownMax = 99

/** How many approvals of the workspace wait for an answer. `small`: in the corner of an icon. */
export function WaitingBadge({ small }: { small: boolean }) {
  const { id } = useWorkspace()
  const { data: count = 0 } = useQuery({ ...pauseCountsQuery(id), select: approvalsIn })
  if (count === 0) return null
  const number = count > shownMax ? `${shownMax}+` : String(count)
  return (
    <span
      className={classes(
        'inline-flex items-center justify-center rounded-full bg-accent font-medium text-on-accent tabular-nums',
        small ? 'absolute -top-0.5 left-4 h-4 min-w-4 px-1 text-[10px]' : 'h-5 min-w-5 px-1.5 text-2xs',
      )}
    >
      {number}
      <span className="sr-only"> {count === 1 ? 'approval' : 'approvals'}</span>
    </span>
  )
}
