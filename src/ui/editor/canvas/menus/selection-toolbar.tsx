import { useStore } from '@xyflow/react'
import { IconButton } from '../../../parts/button.tsx'
import { classes } from '../../../parts/class-names.ts'
import { useDraft, useEditing } from '../../editing.tsx'
import type { EditorAction } from './editor-action.ts'
import { noteColors } from './note-actions.ts'

/** The buttons above the selected blocks or notes, with the same size at every zoom. */
export function SelectionToolbar({ list }: { list: () => EditorAction[] }) {
  const { readOnly } = useEditing()
  const selected = useDraft((state) => state.selected)
  if (readOnly || selected.size === 0) return null
  return <Toolbar selected={selected} list={list} />
}

function Toolbar({ selected, list }: { selected: ReadonlySet<string>; list: () => EditorAction[] }) {
  // The labels depend on the document: `Disable` or `Enable`.
  const document = useDraft((state) => state.document)
  const place = useStore(({ nodeLookup, transform: [x, y, zoom], width, height, userSelectionActive }) => {
    if (userSelectionActive) return ''
    let [left, top, right, bottom] = [Infinity, Infinity, -Infinity, -Infinity]
    for (const id of selected) {
      const node = nodeLookup.get(id)
      if (!node) continue
      const { x: nodeX, y: nodeY } = node.internals.positionAbsolute
      left = Math.min(left, nodeX)
      top = Math.min(top, nodeY)
      right = Math.max(right, nodeX + (node.measured.width ?? 0))
      bottom = Math.max(bottom, nodeY + (node.measured.height ?? 0))
    }
    const isInView = right * zoom + x > 0 && left * zoom + x < width && bottom * zoom + y > 0 && top * zoom + y < height
    if (!isInView) return ''
    const middle = ((left + right) / 2) * zoom + x
    const half = Math.min(toolbarWidth, width) / 2
    const at = Math.min(Math.max(middle, half + 4), width - half - 4)
    return `${Math.round(at)} ${Math.round(Math.max(top * zoom + y - 10, 44))}`
  })
  const tools = list().filter(
    ({ isTool, on }) => isTool && on.includes(hasBlock(document, selected) ? 'blocks' : 'note'),
  )
  const colors = list().filter(({ group }) => group === 'color')
  if (place === '' || tools.length === 0) return null
  const [left, top] = place.split(' ').map(Number)
  return (
    <div
      role="toolbar"
      aria-label="Selection"
      style={{ transform: `translate(${left}px, ${top}px) translate(-50%, -100%)` }}
      className="absolute top-0 left-0 z-10 flex items-center gap-0.5 rounded-lg bg-raised p-0.5 shadow-popup"
    >
      {colors.map(({ id, label, isChecked, run }, at) => (
        <button
          key={id}
          type="button"
          aria-label={label}
          title={label}
          aria-pressed={isChecked ?? false}
          onClick={run}
          data-color={noteColors[at]}
          className={classes(
            'note m-0.5 size-5 rounded-full border',
            isChecked ? 'border-2 border-accent' : 'border-line-strong',
          )}
        />
      ))}
      {tools.map(({ id, label, keys, icon: Icon, run }) => (
        <IconButton
          key={id}
          label={label}
          {...(keys?.[0] ? { keys: keys[0] } : {})}
          size="small"
          side="top"
          icon={Icon && <Icon size={14} />}
          onClick={run}
        />
      ))}
    </div>
  )
}

/** The width with all buttons, to keep the toolbar inside the canvas. */
const toolbarWidth = 230

function hasBlock({ blocks }: { blocks: Record<string, unknown> }, ids: ReadonlySet<string>): boolean {
  return [...ids].some((id) => blocks[id])
}
