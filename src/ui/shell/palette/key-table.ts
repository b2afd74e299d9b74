/**
 * The keys of every action in the editor and the dashboard; the first of several is shown. Menus, toolbars, tooltips,
 * the command palette and the dialog behind `?` all take them from here. `Mod` is ⌘ on a Mac and Ctrl elsewhere.
 */
const keysById = {
  palette: ['Mod+K'],
  keys: ['?'],
  find: ['Mod+F'],
  'next-match': ['Enter'],
  'previous-match': ['Shift+Enter'],
  'add-block': ['/'],
  connect: ['C'],
  walk: ['Alt+Arrows'],
  move: ['Arrows'],
  'move-far': ['Shift+Arrows'],
  'resize-note': ['Mod+Arrows'],
  inspect: ['Enter'],
  wide: ['Mod+.'],
  escape: ['Escape'],
  toggle: ['D'],
  pin: ['P'],
  note: ['N'],
  tidy: ['L'],
  fit: ['F'],
  'zoom-in': ['+'],
  'zoom-out': ['-'],
  menu: ['Shift+F10'],
  undo: ['Mod+Z'],
  redo: ['Mod+Shift+Z', 'Mod+Y'],
  copy: ['Mod+C'],
  cut: ['Mod+X'],
  paste: ['Mod+V'],
  duplicate: ['Mod+D'],
  'select-all': ['Mod+A'],
  delete: ['Delete', 'Backspace'],
  run: ['Mod+Enter'],
  'run-with': ['Mod+Shift+Enter'],
  'workflow-search': ['/'],
  'gallery-search': ['/'],
  'log-walk': ['Arrows'],
  'log-failed': ['E'],
  'log-live': ['L'],
  'log-refresh': ['R'],
} as const

export type KeyId = keyof typeof keysById

type KeyRow = { ids: readonly KeyId[]; action: string }

/** The rows of the dialog behind `?` and of the table in `docs/editor.md`; a test compares both. */
export const keyTable: readonly { group: string; rows: readonly KeyRow[] }[] = [
  {
    group: 'Everywhere',
    rows: [
      { ids: ['palette'], action: 'search and run commands' },
      { ids: ['keys'], action: 'show the keys' },
    ],
  },
  {
    group: 'Editor',
    rows: [
      { ids: ['find'], action: 'find and replace in the workflow' },
      { ids: ['next-match', 'previous-match'], action: 'in the find bar: next, previous match' },
      { ids: ['add-block'], action: 'add a block after the focused one' },
      { ids: ['connect'], action: 'connect the focused block' },
      { ids: ['walk'], action: 'move along connections' },
      { ids: ['move', 'move-far'], action: 'move the selection; in larger steps' },
      { ids: ['resize-note'], action: 'resize the selected note' },
      { ids: ['inspect'], action: 'open the inspector, or edit the note' },
      { ids: ['wide'], action: 'open the inspector wide' },
      { ids: ['escape'], action: 'back to the canvas, then deselect' },
      { ids: ['toggle'], action: 'disable or enable' },
      { ids: ['pin'], action: 'pin the output, or unpin it' },
      { ids: ['note'], action: 'add a note' },
      { ids: ['tidy'], action: 'tidy up the layout, or the selection' },
      { ids: ['fit'], action: 'show everything' },
      { ids: ['zoom-in', 'zoom-out'], action: 'zoom in, out' },
      { ids: ['menu'], action: 'open the menu (or press the menu key)' },
      { ids: ['undo', 'redo'], action: 'undo, redo' },
      { ids: ['copy', 'cut', 'paste'], action: 'copy, cut, paste' },
      { ids: ['duplicate', 'select-all', 'delete'], action: 'duplicate, select all, delete' },
      { ids: ['run'], action: 'run' },
      { ids: ['run-with'], action: 'run with other input' },
    ],
  },
  { group: 'Workflows', rows: [{ ids: ['workflow-search'], action: 'search the list of workflows' }] },
  { group: 'Gallery', rows: [{ ids: ['gallery-search'], action: 'search the gallery' }] },
  {
    group: 'Logs',
    rows: [
      { ids: ['log-walk'], action: 'move from run to run' },
      { ids: ['log-failed'], action: 'show failed runs only' },
      { ids: ['log-live'], action: 'start or stop live updates' },
      { ids: ['log-refresh'], action: 'refresh' },
    ],
  },
]

/** A key that the table has. */
export type Key = (typeof keysById)[KeyId][number]

/** All keys of an action. */
export function allKeysOf(id: KeyId): readonly Key[] {
  return keysById[id]
}

/** The key of an action that is shown. */
export function keyOf(id: KeyId): Key {
  return keysById[id][0]
}
