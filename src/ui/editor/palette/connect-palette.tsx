import { Dialog } from '@base-ui/react/dialog'
import { Cable } from 'lucide-react'
import { useState } from 'react'
import { findItems } from '../../parts/find.ts'
import { PickList } from '../../parts/pick-list.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { branchText } from '../canvas/block-summary.ts'
import { type Document, portsOf } from '../document/document.ts'
import { freshId } from '../document/fresh-id.ts'
import { canConnect } from '../document/wiring.ts'
import { useDraft, useEditing } from '../editing.tsx'

/** Connects a block by keyboard: lists every output port with every block it can connect to. */
export function ConnectPalette({ from, onClose }: { from: string; onClose: () => void }) {
  return (
    <Dialog.Root open onOpenChange={(isOpen) => isOpen || onClose()}>
      <Dialog.Portal>
        <Dialog.Backdrop className="backdrop z-40" />
        <Dialog.Popup
          aria-label="Connect"
          className="popup fixed top-[16vh] left-1/2 z-50 flex max-h-[60vh] w-[calc(100vw-24px)] max-w-120 -translate-x-1/2 flex-col overflow-hidden"
        >
          <Choices from={from} onClose={onClose} />
        </Dialog.Popup>
      </Dialog.Portal>
    </Dialog.Root>
  )
}

function Choices({ from, onClose }: { from: string; onClose: () => void }) {
  const { draft } = useEditing()
  const [typed, setTyped] = useState('')
  const document = useDraft((state) => state.document)
  const found = findItems(proposedEdges(document, from), typed, ({ label, port }) => `${label} ${port}`)
  return (
    <PickList
      label="Connect to"
      placeholder={`Connect ${document.blocks[from]?.name ?? ''} to…`}
      icon={<Cable size={15} aria-hidden="true" />}
      typed={typed}
      onType={setTyped}
      items={found.map(({ edge, label, port, type }) => ({
        id: `${edge.sourceHandle} ${edge.target}`,
        label,
        note: port,
        icon: <BlockIcon type={type} size="small" />,
        onPick: () => {
          draft.perform({ kind: 'connect', id: freshId(), ...edge })
          onClose()
        },
      }))}
      empty="No block can be connected."
    />
  )
}

function proposedEdges(document: Document, source: string) {
  const block = document.blocks[source]
  if (!block) return []
  return portsOf(block).flatMap((port) =>
    Object.values(document.blocks).flatMap(({ id: target, name, type }) => {
      const edge = { source, sourceHandle: port.handle, target }
      if (!canConnect(document, edge)) return []
      const words = port.kind === 'branch' ? branchText(block, port.handle) : port.kind === 'source' ? '' : port.label
      return [{ edge, label: name, port: words, type }]
    }),
  )
}
