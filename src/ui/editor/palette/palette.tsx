import { PanelLeftClose } from 'lucide-react'
import { Fragment } from 'react'
import { IconButton } from '../../parts/button.tsx'
import { BlockIcon } from '../canvas/block-icon.tsx'
import { canAdd } from '../document/new-block.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { inGroups, type PickedBlock } from './quick-palette.tsx'
import { Services } from './services.tsx'

/** The data transfer type of a dragged block type. */
export const dragType = 'application/x-millrace-block'

/** Set in addition for triggers, which cannot be in containers or lines. */
export const triggerDragType = 'application/x-millrace-trigger'

/** All blocks, to click or to drag onto the canvas. */
export function Palette({ onPick, onClose }: { onPick: (type: PickedBlock) => void; onClose: () => void }) {
  const { types } = useEditing()
  const document = useDraft((state) => state.document)
  const listed = inGroups([...types.values()])
  const isTrigger = ({ type }: { type: PickedBlock }) => type.kind === 'trigger'
  // A workflow begins with what starts it.
  const hasTrigger = Object.values(document.blocks).some(({ type }) => types.get(type)?.kind === 'trigger')
  const entries = hasTrigger ? listed : [...listed.filter(isTrigger), ...listed.filter((entry) => !isTrigger(entry))]
  return (
    <aside aria-label="Blocks" className="flex w-52 shrink-0 flex-col border-r border-line bg-bg max-md:hidden">
      <div className="flex h-10 items-center justify-between pr-1.5 pl-3.5">
        <h2 className="text-xs font-semibold">Blocks</h2>
        <IconButton label="Hide blocks" icon={<PanelLeftClose size={15} />} size="small" onClick={onClose} />
      </div>
      <div className="min-h-0 flex-1 overflow-y-auto px-2 pb-3">
        {entries.map(({ type, group }, at) => (
          <Fragment key={type.type}>
            {group !== entries[at - 1]?.group && (
              <h3 className="px-1.5 pt-2.5 pb-1 text-2xs font-medium text-muted">{group}</h3>
            )}
            <button
              type="button"
              draggable
              disabled={!canAdd(document, type.type)}
              title={
                canAdd(document, type.type)
                  ? type.description
                  : 'Already added: a workflow can have only one trigger of each type.'
              }
              onClick={() => onPick(type)}
              onDragStart={(event) => {
                event.dataTransfer.setData(dragType, type.type)
                if (type.kind === 'trigger') event.dataTransfer.setData(triggerDragType, type.type)
                event.dataTransfer.effectAllowed = 'copy'
              }}
              className="flex h-8 w-full cursor-grab items-center gap-2 rounded-md px-1.5 text-left text-sm hover:bg-hover active:cursor-grabbing disabled:cursor-default disabled:opacity-40"
            >
              <BlockIcon type={type.type} size="small" />
              <span className="truncate">{type.label}</span>
            </button>
          </Fragment>
        ))}
        <Services onPick={onPick} />
      </div>
    </aside>
  )
}
