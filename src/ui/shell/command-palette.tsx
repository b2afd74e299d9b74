import { Dialog } from '@base-ui/react/dialog'
import { Search } from 'lucide-react'
import { useState } from 'react'
import { findItems } from '../parts/find.ts'
import { PickList } from '../parts/pick-list.tsx'
import type { Command } from './commands.tsx'

/** The command palette. */
export function CommandPalette({
  open,
  onClose,
  commands,
}: {
  open: boolean
  onClose: () => void
  commands: readonly Command[]
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

function Finder({ commands, onClose }: { commands: readonly Command[]; onClose: () => void }) {
  const [typed, setTyped] = useState('')
  const found = findItems(commands, typed, ({ label, words }) => `${label} ${words ?? ''}`).slice(0, 60)
  const entries = typed.trim() === '' ? found.toSorted((a, b) => orderOf(a) - orderOf(b)) : found
  return (
    <PickList
      label="Commands"
      placeholder="Type a command or search…"
      icon={<Search size={16} aria-hidden="true" />}
      typed={typed}
      onType={setTyped}
      items={entries.map(({ id, label, group, icon, keys, run }) => ({
        id,
        label,
        group: typed.trim() === '' ? group : undefined,
        note: typed.trim() === '' ? undefined : group,
        icon,
        keys,
        onPick: () => {
          onClose()
          run()
        },
      }))}
      empty="No matching commands."
    />
  )
}

const groupOrder = ['Canvas', 'Workflow', 'Run', 'Go to', 'Workflows', 'Workspaces', 'Appearance', 'Account']

function orderOf({ group }: Command): number {
  const at = groupOrder.indexOf(group)
  return at === -1 ? groupOrder.length : at
}
