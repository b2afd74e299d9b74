import { ChevronRight, Ellipsis, Folder, FolderInput } from 'lucide-react'
import { useState } from 'react'
import { IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { Menu } from '../../parts/menu.tsx'
import { remember, remembered } from '../../shell/browser-memory.ts'
import { type FolderNode, treeOf } from './folder-tree.ts'
import type { WorkflowOverview } from './workflow-queries.ts'
import { type RowActions, rowColumns, WorkflowRow } from './workflow-row.tsx'

type ListProps = {
  workflows: readonly WorkflowOverview[]
  actions: RowActions & { moveFolder: (path: string) => void }
  mayWrite: boolean
}

/** Workflows in collapsible folders. This browser remembers which ones are closed. */
export function WorkflowTree({ workflows, actions, mayWrite }: ListProps) {
  const [closed, setClosed] = useState<ReadonlySet<string>>(() => new Set(readClosed()))
  const turn = (path: string) => {
    const next = new Set(closed)
    if (!next.delete(path)) next.add(path)
    setClosed(next)
    remember(storageKey, JSON.stringify([...next]))
  }
  const root = treeOf(workflows)
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <Head />
      <Branch node={root} depth={0} closed={closed} onTurn={turn} actions={actions} mayWrite={mayWrite} />
    </div>
  )
}

/** Search results, best first. */
export function FoundWorkflows({ workflows, actions, mayWrite }: ListProps) {
  return (
    <div className="overflow-hidden rounded-lg border border-line bg-surface">
      <Head />
      <ul aria-label="Search results">
        {workflows.map((workflow) => (
          <WorkflowRow
            key={workflow.id}
            workflow={workflow}
            depth={0}
            actions={actions}
            mayWrite={mayWrite}
            where={workflow.folder}
          />
        ))}
      </ul>
    </div>
  )
}

function Head() {
  return (
    <div aria-hidden="true" className={classes(rowColumns, 'h-8 pr-2 pl-3 text-xs font-medium text-muted')}>
      <span>Name</span>
      <span className="max-md:hidden">Version</span>
      <span>Last run</span>
      <span className="max-md:hidden">Last 24 hours</span>
      <span />
    </div>
  )
}

function Branch({
  node,
  depth,
  closed,
  onTurn,
  actions,
  mayWrite,
}: Omit<ListProps, 'workflows'> & {
  node: FolderNode<WorkflowOverview>
  depth: number
  closed: ReadonlySet<string>
  onTurn: (path: string) => void
}) {
  return (
    <ul aria-label={node.path === '' ? 'Workflows' : `Folder ${node.path}`}>
      {node.folders.map((folder) => (
        <li key={folder.path}>
          <div className="flex min-h-10 items-center border-t border-line pr-2 pl-3 hover:bg-hover">
            <button
              type="button"
              aria-expanded={!closed.has(folder.path)}
              onClick={() => onTurn(folder.path)}
              style={{ paddingLeft: `${depth * 20}px` }}
              className="flex h-10 min-w-0 flex-1 cursor-default items-center gap-2 text-left text-sm"
            >
              <ChevronRight
                size={14}
                aria-hidden="true"
                className={classes('shrink-0 text-muted transition-transform', !closed.has(folder.path) && 'rotate-90')}
              />
              <Folder size={15} className="shrink-0 text-muted" aria-hidden="true" />
              <span className="truncate font-medium">{folder.name}</span>
              <span className="text-xs text-muted tabular-nums">{folder.count}</span>
            </button>
            {mayWrite && (
              <Menu
                align="end"
                trigger={<IconButton label={`Actions for folder ${folder.path}`} icon={<Ellipsis size={16} />} />}
                entries={[
                  {
                    label: 'Rename or move',
                    icon: <FolderInput size={15} />,
                    onSelect: () => actions.moveFolder(folder.path),
                  },
                ]}
              />
            )}
          </div>
          {!closed.has(folder.path) && (
            <Branch
              node={folder}
              depth={depth + 1}
              closed={closed}
              onTurn={onTurn}
              actions={actions}
              mayWrite={mayWrite}
            />
          )}
        </li>
      ))}
      {node.items.map((workflow) => (
        <WorkflowRow key={workflow.id} workflow={workflow} depth={depth} actions={actions} mayWrite={mayWrite} />
      ))}
    </ul>
  )
}

const storageKey = 'millrace.folders-closed'

function readClosed(): string[] {
  try {
    const value: unknown = JSON.parse(remembered(storageKey) ?? '[]')
    return Array.isArray(value) ? value.filter((path) => typeof path === 'string') : []
  } catch {
    return []
  }
}
