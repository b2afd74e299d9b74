import { Dialog } from '@base-ui/react/dialog'
import { useQuery } from '@tanstack/react-query'
import { BookOpen, ChartNoAxesGantt, Search, Workflow } from 'lucide-react'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { PickList } from '../../parts/pick-list.tsx'
import { agoText } from '../../parts/time-text.ts'
import { searchCharsMax } from '../../screens/logs/log-filter.ts'
import { workflowsQuery } from '../../screens/workflows/workflow-queries.ts'
import type { Command } from '../commands.tsx'
import { useWorkspace } from '../workspace.tsx'
import { rankItems } from './rank.ts'
import { useFoundDocs } from './use-found-docs.ts'
import { useFoundRuns } from './use-found-runs.ts'

/** Searches everything: commands, workflows, blocks, settings, runs and documentation. */
export function CommandPalette({
  open,
  onClose,
  commands,
}: {
  open: boolean
  onClose: () => void
  commands: () => readonly Command[]
}) {
  return (
    <Dialog.Root open={open} onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop z-40" />
        <Dialog.Popup
          aria-label="Command palette"
          className="popup fixed top-[14vh] left-1/2 z-50 flex max-h-[62vh] w-[calc(100vw-24px)] max-w-150 -translate-x-1/2 flex-col overflow-hidden"
        >
          <Finder commands={commands} onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

type Item = Command & { note?: string; description?: string | undefined }

function Finder({ commands, onClose }: { commands: () => readonly Command[]; onClose: () => void }) {
  const [, navigate] = useLocation()
  const { id: workspaceId } = useWorkspace()
  const [typed, setTyped] = useState('')
  const [known] = useState(commands)
  const { data: workflows, isPending } = useQuery(workflowsQuery(workspaceId))
  const { runs, isSearching, failed } = useFoundRuns(workspaceId, typed)
  const docs = useFoundDocs(typed)
  const isEmpty = typed.trim() === ''
  const recent = (workflows ?? []).toSorted((a, b) => recency(b) - recency(a))
  const items: Item[] = [
    ...known,
    ...recent.map(({ id, name, folder }) => ({
      id: `open-${id}`,
      label: name,
      group: 'Workflows',
      words: `${folder ?? ''} ${id} workflow`,
      note: folder ?? '',
      icon: <Workflow size={15} />,
      run: () => navigate(`/workflows/${id}`),
    })),
  ]
  const names = new Map(workflows?.map(({ id, name }) => [id, name]))
  // The service has matched these.
  const foundRuns: Item[] = runs.map((run) => ({
    id: `run-${run.id}`,
    label: names.get(run.workflowId) ?? 'Run',
    description: run.error?.message ?? run.executionId,
    note: `${statusWords[run.status]} ${agoText(Date.parse(run.startedAt), Date.now())}`,
    group: 'Runs',
    icon: <ChartNoAxesGantt size={15} />,
    run: () => navigate(`/logs/${run.id}`),
  }))
  const foundDocs: Item[] = docs.map(({ address, page, heading }) => ({
    id: `docs-${address}`,
    label: heading,
    note: heading === page ? '' : page,
    group: 'Documentation',
    icon: <BookOpen size={15} />,
    run: () => void open(address, '_blank', 'noopener'),
  }))
  const wanted = typed.trim().slice(0, searchCharsMax)
  const allRuns: Item = {
    id: 'search-logs',
    label: `Search all logs for “${wanted}”`,
    group: 'Runs',
    icon: <Search size={15} />,
    run: () => navigate(`/w/${workspaceId}/logs?search=${encodeURIComponent(wanted)}`),
  }
  const entries = isEmpty ? atFirst(items) : [...rankItems(items, typed), ...foundRuns, allRuns, ...foundDocs]
  return (
    <PickList
      label="Commands"
      placeholder="Search workflows, blocks, runs, settings and commands…"
      icon={<Search size={16} aria-hidden="true" />}
      typed={typed}
      onType={setTyped}
      progress={
        failed
          ? 'The runs could not be searched.'
          : isSearching
            ? 'Searching runs…'
            : isPending
              ? 'Loading workflows…'
              : undefined
      }
      items={entries.map(({ id, label, group, icon, keys, note, description, run }) => ({
        ...{ id, label, group, icon, keys, description },
        note: note === '' ? undefined : note,
        onPick: () => {
          onClose()
          run()
        },
      }))}
      empty="Nothing found."
    />
  )
}

const statusWords = { success: 'Succeeded', error: 'Failed', cancelled: 'Cancelled' } as const

function recency({ lastRun, updatedAt }: { lastRun?: { startedAt: string } | null; updatedAt: string }): number {
  return Math.max(Date.parse(updatedAt), lastRun ? Date.parse(lastRun.startedAt) : 0)
}

const groupOrder = [
  ...['Workflows', 'Canvas', 'Run', 'Workflow', 'Create', 'Logs', 'Go to', 'Settings'],
  ...['Workspaces', 'Appearance', 'Help', 'Account'],
]

/** Before anything is typed: recent workflows and all commands. Blocks are only searched. */
function atFirst(items: readonly Item[]): Item[] {
  const groups = Map.groupBy(items, ({ group }) => group)
  const order = [
    ...groupOrder,
    ...[...groups.keys()].filter((group) => !groupOrder.includes(group) && group !== 'Blocks'),
  ]
  return order.flatMap((group) => (groups.get(group) ?? []).slice(0, group === 'Workflows' ? 5 : 40))
}
