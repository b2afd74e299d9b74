import { useEditing } from '../editing.tsx'
import { emptyOutput } from './output-text.ts'
import { pinnableOutput } from './pin-controls.tsx'
import { usePins } from './pins.tsx'

/** Pins the output of a block in the latest run, or one to be written when there is none; unpins a pinned block. */
export function usePinToggle() {
  const { run, draft, types, readOnly } = useEditing()
  const pins = usePins()
  return (id: string) => {
    const type = draft.state().document.blocks[id]?.type
    if (readOnly || type === undefined || type === 'response') return undefined
    const isPinned = pins.outputs.has(id)
    const toggle = () => {
      if (isPinned) return void pins.unpin(id)
      const entry = run.state().entries.findLast((each) => each.blockId === id && each.depth === 0)
      const output = pinnableOutput(entry?.span)
      if (output) return void pins.pin(id, output)
      pins.edit(id, emptyOutput(types.get(type)?.outputs ?? []))
    }
    return { isPinned, toggle }
  }
}
