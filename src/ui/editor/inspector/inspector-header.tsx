import { Copy, Ellipsis, Maximize2, Minimize2, Play, Power, StepForward, Trash2, X } from 'lucide-react'
import { IconButton } from '../../parts/button.tsx'
import { Menu } from '../../parts/menu.tsx'
import { keyOf } from '../../shell/palette/key-table.ts'
import { BlockIcon } from '../canvas/block-icon.tsx'
import type { Actions } from '../document/actions.ts'
import type { Block } from '../document/document.ts'
import { nameError } from '../document/edit.ts'
import { useEditing } from '../editing.tsx'
import { NameField } from '../name-field.tsx'
import type { Runs } from '../run/use-runs.ts'

/** The block's name, its actions, and the size of the inspector. */
export function InspectorHeader({
  block,
  label,
  actions,
  runs,
  isWide,
  onWide,
}: {
  block: Block
  label: string
  actions: Actions
  runs: Runs
  isWide: boolean
  onWide: (isWide: boolean) => void
}) {
  const { draft, readOnly } = useEditing()
  const { id } = block
  return (
    <header className="flex items-center gap-2.5 border-b border-line py-2.5 pr-2 pl-4">
      <BlockIcon type={block.type} />
      <div className="min-w-0 flex-1">
        <NameField
          label="Block name"
          name={block.name}
          readOnly={readOnly}
          onRename={(name) => draft.perform({ kind: 'rename', id, name })}
          errorOf={(name) => nameError(draft.state().document, id, name)}
          className="font-semibold"
        />
        <div className="truncate text-2xs text-muted">{label}</div>
      </div>
      {!readOnly && (
        <Menu
          align="end"
          trigger={<IconButton label="Block actions" icon={<Ellipsis size={16} />} size="small" />}
          entries={[
            { label: 'Run only this block', icon: <Play size={14} />, onSelect: () => void runs.runOnly(id) },
            { label: 'Run up to this block', icon: <StepForward size={14} />, onSelect: () => void runs.runUntil(id) },
            { label: 'Run from this block', icon: <StepForward size={14} />, onSelect: () => void runs.runFrom(id) },
            'separator',
            { label: 'Duplicate', icon: <Copy size={14} />, keys: keyOf('duplicate'), onSelect: actions.duplicate },
            {
              label: block.enabled === false ? 'Enable' : 'Disable',
              icon: <Power size={14} />,
              keys: keyOf('toggle'),
              onSelect: actions.toggle,
            },
            { label: 'Delete', icon: <Trash2 size={14} />, danger: true, onSelect: actions.remove },
          ]}
        />
      )}
      <IconButton
        label={isWide ? 'Back to the panel' : 'Open wide'}
        keys={keyOf('wide')}
        icon={isWide ? <Minimize2 size={14} /> : <Maximize2 size={14} />}
        size="small"
        onClick={() => onWide(!isWide)}
      />
      <IconButton label="Close" icon={<X size={16} />} size="small" onClick={() => draft.select([])} />
    </header>
  )
}
