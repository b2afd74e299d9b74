import { Pencil, StickyNote } from 'lucide-react'
import { allKeysOf } from '../../../shell/palette/key-table.ts'
import type { Note } from '../../document/document.ts'
import type { ActionContext, EditorAction } from './editor-action.ts'

export const noteColors = [
  'yellow',
  'green',
  'blue',
  'purple',
  'red',
  'gray',
] as const satisfies readonly Note['color'][]

/** Adding notes, and the actions on one selected note. */
export function noteActions({ actions, state, at }: ActionContext): EditorAction[] {
  const id = actions.onlyNote()
  const note = id === undefined ? undefined : state.document.notes?.[id]
  const add: EditorAction = {
    id: 'note',
    label: 'Add note',
    group: 'add',
    icon: StickyNote,
    keys: allKeysOf('note'),
    words: 'comment sticky',
    on: ['canvas'],
    run: () => actions.addNote(at?.page),
  }
  if (!note) return [add]
  return [
    add,
    {
      id: 'edit-note',
      label: 'Edit note',
      group: 'add',
      icon: Pencil,
      keys: allKeysOf('inspect'),
      on: ['note'],
      run: () => actions.editNote(note.id),
    },
    ...noteColors.map(
      (color): EditorAction => ({
        ...{ id: `color-${color}`, label: `${color.charAt(0).toUpperCase()}${color.slice(1)}`, group: 'color' },
        ...{
          on: ['note'],
          isChecked: (note.color ?? 'yellow') === color,
          run: () => actions.setNote(note.id, { color }),
        },
      }),
    ),
  ]
}
