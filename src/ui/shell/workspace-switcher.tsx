import { ChevronsUpDown } from 'lucide-react'
import { useLocation } from 'wouter'
import { useMe } from '../api/session.ts'
import { classes } from '../parts/class-names.ts'
import { Menu } from '../parts/menu.tsx'
import { Mark } from './mark.tsx'
import { useChooseWorkspace, useWorkspace } from './workspace.tsx'

/** Shows the current workspace and switches to others. */
export function WorkspaceSwitcher({ small }: { small: boolean }) {
  const { workspaces } = useMe()
  const workspace = useWorkspace()
  const choose = useChooseWorkspace()
  const [, navigate] = useLocation()
  return (
    <Menu
      trigger={
        <button
          type="button"
          aria-label={`Workspace ${workspace.name}`}
          className={classes(
            'flex h-9 min-w-0 flex-1 cursor-default items-center gap-2.5 rounded-md text-left hover:bg-hover data-popup-open:bg-hover',
            small ? 'justify-center' : 'px-2',
          )}
        >
          <Mark />
          {!small && (
            <>
              <span className="min-w-0 flex-1 truncate text-sm font-semibold">{workspace.name}</span>
              <ChevronsUpDown size={14} className="shrink-0 text-muted" aria-hidden="true" />
            </>
          )}
        </button>
      }
      entries={[
        { heading: 'Workspaces' },
        ...workspaces.map(({ id, name, role }) => ({
          label: name,
          checked: id === workspace.id,
          note: role,
          onSelect: () => {
            choose(id)
            navigate(`/w/${id}/workflows`)
          },
        })),
      ]}
    />
  )
}
