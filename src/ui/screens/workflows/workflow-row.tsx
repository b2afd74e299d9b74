import {
  BellRing,
  CopyPlus,
  Download,
  Ellipsis,
  FolderInput,
  Pencil,
  ScrollText,
  Trash2,
  Webhook,
  Workflow,
} from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { countOf } from '../../parts/amount-text.ts'
import { Dot } from '../../parts/badge.tsx'
import { IconButton } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { Hint } from '../../parts/hint.tsx'
import { ContextMenu, Menu, type MenuEntry } from '../../parts/menu.tsx'
import { SparkLine } from '../../parts/spark-line.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { durationText } from '../../parts/time-text.ts'
import { useWorkspace } from '../../shell/workspace.tsx'
import type { WorkflowOverview } from './workflow-queries.ts'

/** The actions of a workflow row. */
export type RowActions = {
  rename: (workflow: WorkflowOverview) => void
  move: (workflow: WorkflowOverview) => void
  duplicate: (workflow: WorkflowOverview) => unknown
  exportFile: (workflow: WorkflowOverview) => void
  remove: (workflow: WorkflowOverview) => void
}

export const rowColumns =
  'grid grid-cols-[minmax(0,1fr)_auto_32px] md:grid-cols-[minmax(0,1fr)_136px_112px_128px_32px] items-center gap-x-3'

/** A workflow row: name, live version, last run, and runs of the last 24 hours. */
export function WorkflowRow({
  workflow,
  depth,
  actions,
  mayWrite,
  where,
}: {
  workflow: WorkflowOverview
  depth: number
  actions: RowActions
  mayWrite: boolean
  /** The folder, shown in search results. */
  where?: string | null
}) {
  const { id, name, description } = workflow
  const entries = useEntries(workflow, actions, mayWrite)
  return (
    <ContextMenu entries={entries}>
      <li className={classes(rowColumns, 'relative min-h-12 border-t border-line pr-2 pl-3 hover:bg-hover')}>
        <div className="flex min-w-0 items-center gap-2.5 py-1.5" style={{ paddingLeft: `${depth * 20}px` }}>
          <Workflow size={16} className="shrink-0 text-muted" aria-hidden="true" />
          <div className="min-w-0">
            {/* The link covers the whole row. */}
            <Link href={`/workflows/${id}`} className="block truncate text-sm font-medium after:absolute after:inset-0">
              {name}
            </Link>
            {(where || description) && (
              <p className="truncate text-xs text-muted">{[where, description].filter(Boolean).join(' · ')}</p>
            )}
          </div>
        </div>
        <Deployed workflow={workflow} />
        <LastRun workflow={workflow} />
        <Today workflow={workflow} />
        <div className="relative">
          <Menu
            align="end"
            trigger={<IconButton label={`Actions for ${name}`} icon={<Ellipsis size={16} />} />}
            entries={entries}
          />
        </div>
      </li>
    </ContextMenu>
  )
}

function useEntries(workflow: WorkflowOverview, actions: RowActions, mayWrite: boolean): MenuEntry[] {
  const workspace = useWorkspace()
  const [, navigate] = useLocation()
  const { id } = workflow
  const change: MenuEntry[] = [
    { label: 'Rename', icon: <Pencil size={15} />, onSelect: () => actions.rename(workflow) },
    { label: 'Move to folder', icon: <FolderInput size={15} />, onSelect: () => actions.move(workflow) },
    { label: 'Duplicate', icon: <CopyPlus size={15} />, onSelect: () => actions.duplicate(workflow) },
    'separator',
  ]
  return [
    ...(mayWrite ? change : []),
    {
      label: 'Logs',
      icon: <ScrollText size={15} />,
      onSelect: () => navigate(`/w/${workspace.id}/logs?workflowIds=${id}`),
    },
    {
      label: 'Webhook subscriptions',
      icon: <Webhook size={15} />,
      onSelect: () => navigate(`/workflows/${id}/webhooks`),
    },
    ...(mayWrite
      ? [
          {
            label: 'Tell me when this fails',
            icon: <BellRing size={15} />,
            onSelect: () => navigate(`/w/${workspace.id}/alerts?new=${id}`),
          },
        ]
      : []),
    { label: 'Export', icon: <Download size={15} />, onSelect: () => actions.exportFile(workflow) },
    ...(mayWrite
      ? ([
          'separator',
          { label: 'Delete', icon: <Trash2 size={15} />, danger: true, onSelect: () => actions.remove(workflow) },
        ] as const)
      : []),
  ]
}

function Deployed({ workflow: { version, hasChanges } }: { workflow: WorkflowOverview }) {
  const [tone, text] =
    version === null
      ? (['plain', 'Not deployed'] as const)
      : hasChanges
        ? (['warn', `v${version} is live, draft changed`] as const)
        : (['ok', `v${version} is live`] as const)
  return (
    <span className="flex items-center gap-2 text-xs whitespace-nowrap text-muted max-md:hidden">
      <Dot tone={tone} />
      {text}
    </span>
  )
}

function LastRun({ workflow: { lastRun } }: { workflow: WorkflowOverview }) {
  const workspace = useWorkspace()
  if (!lastRun) return <span className="text-xs text-muted">–</span>
  const { logId, status, startedAt, durationMs } = lastRun
  const isFailed = status === 'error'
  const { tone, label, text } = endings[status]
  return (
    <Hint text={`Last run ${text} ${durationText(durationMs)}`} side="top">
      <Link
        href={`/w/${workspace.id}/logs?range=all&entry=${logId}`}
        className={classes(
          'relative z-1 flex items-center gap-2 rounded-sm text-xs whitespace-nowrap hover:underline',
          isFailed ? 'text-error-text' : 'text-muted',
        )}
      >
        <Dot tone={tone} label={label} />
        <TimeAgo at={startedAt} />
      </Link>
    </Hint>
  )
}

const endings = {
  success: { tone: 'ok', label: 'Succeeded', text: 'succeeded in' },
  error: { tone: 'error', label: 'Failed', text: 'failed after' },
  cancelled: { tone: 'plain', label: 'Cancelled', text: 'was cancelled after' },
} as const

function Today({ workflow: { runs, errors } }: { workflow: WorkflowOverview }) {
  const all = runs.reduce((sum, count) => sum + count, 0)
  const failed = errors.reduce((sum, count) => sum + count, 0)
  const label = `${countOf(all, 'run')} in the last 24 hours${failed > 0 ? `, ${failed} failed` : ''}`
  return (
    <Hint text={label} side="top">
      <span className="relative z-1 max-md:hidden">
        <SparkLine
          counts={runs.map((count, hour) => ({ all: count, errors: errors[hour] ?? 0 }))}
          label={label}
          width={120}
          height={22}
        />
      </span>
    </Hint>
  )
}
