import {
  BoxSelect,
  ClipboardPaste,
  Copy,
  CopyPlus,
  FolderOutput,
  Info,
  LayoutGrid,
  Map as MapIcon,
  Maximize,
  Play,
  Plus,
  Power,
  Redo2,
  Repeat,
  Search,
  Split,
  Trash2,
  Undo2,
} from 'lucide-react'
import { allKeysOf } from '../../../shell/palette/key-table.ts'
import { oneBlockActions } from './block-actions.ts'
import type { ActionContext, EditorAction } from './editor-action.ts'
import { noteActions } from './note-actions.ts'

/** Everything that can be done now, in the order of the menus. */
export function editorActions(context: ActionContext): EditorAction[] {
  const { actions, state, readOnly, onMap } = context
  const changing = readOnly ? [] : changingActions(context)
  const [only, ...others] = state.selected
  const isBlock = only !== undefined && others.length === 0 && state.document.blocks[only] !== undefined
  const inspect: EditorAction = {
    ...{ id: 'inspect', label: readOnly ? 'Show settings' : 'Edit settings', group: 'add', icon: Info },
    ...{ keys: allKeysOf('inspect'), words: 'inspector', on: ['blocks'], run: context.onInspect },
  }
  const copy: EditorAction = {
    ...{ id: 'copy', label: 'Copy', group: 'copy', icon: Copy, keys: allKeysOf('copy'), isTool: true },
    ...{ on: ['blocks', 'note'], run: actions.copy },
  }
  const list: EditorAction[] = [
    copy,
    ...changing,
    ...(isBlock ? [inspect] : []),
    {
      ...{ id: 'find', label: 'Find and replace…', group: 'view', icon: Search, keys: allKeysOf('find') },
      ...{ words: 'search text code', on: ['canvas'], run: context.onFind },
    },
    {
      ...{
        id: 'select-all',
        label: 'Select all',
        group: 'view',
        icon: BoxSelect,
        keys: allKeysOf('select-all'),
        on: ['canvas'],
      },
      run: actions.selectAll,
    },
    {
      ...{ id: 'fit', label: 'Fit to view', group: 'view', icon: Maximize, keys: allKeysOf('fit'), on: ['canvas'] },
      ...{ words: 'zoom show everything', run: actions.fit },
    },
    {
      id: 'map',
      label: 'Show or hide minimap',
      group: 'view',
      icon: MapIcon,
      words: 'map',
      on: ['canvas'],
      run: onMap,
    },
  ]
  // Without a selection there is nothing to copy.
  return list.filter(({ id }) => id !== 'copy' || state.selected.size > 0)
}

function changingActions(context: ActionContext): EditorAction[] {
  const { actions, state, at, onOffer, onRunWith, runs } = context
  const { document, selected, selectedEdges } = state
  const blocks = [...selected].flatMap((id) => document.blocks[id] ?? [])
  const [line] = selected.size === 0 ? selectedEdges : []
  const isOff = blocks.length > 0 && blocks.every((block) => block.enabled === false)
  const addHere = () => (at ? onOffer({ point: at.canvas }, at.page) : onOffer(actions.nextPlace(false)))
  return [
    {
      ...{
        id: 'add-block',
        label: 'Add block…',
        group: 'add',
        icon: Plus,
        keys: allKeysOf('add-block'),
        words: 'new insert',
      },
      ...{ on: ['canvas'], run: blocks.length === 0 ? addHere : () => onOffer(actions.nextPlace(false)) },
    },
    ...(line === undefined
      ? []
      : [
          {
            ...{ id: 'insert', label: 'Insert block…', group: 'add', icon: Plus, on: ['line'] },
            run: () => onOffer({ onEdge: line }, at?.page),
          } satisfies EditorAction,
        ]),
    ...oneBlockActions(context),
    ...noteActions(context),
    {
      id: 'run',
      label: 'Run',
      group: 'run',
      icon: Play,
      keys: allKeysOf('run'),
      words: 'start test execute',
      on: ['canvas'],
      run: () => void runs.runAll(),
    },
    {
      id: 'run-with',
      label: 'Run with custom input…',
      group: 'run',
      keys: allKeysOf('run-with'),
      words: 'start test execute payload trigger',
      on: [],
      run: onRunWith,
    },
    {
      id: 'paste',
      label: 'Paste',
      group: 'copy',
      icon: ClipboardPaste,
      keys: allKeysOf('paste'),
      on: ['canvas', 'blocks'],
      run: () => void actions.pasteCopied(at?.page),
    },
    {
      id: 'duplicate',
      label: 'Duplicate',
      group: 'copy',
      icon: CopyPlus,
      keys: allKeysOf('duplicate'),
      on: ['blocks', 'note'],
      isTool: true,
      run: actions.duplicate,
    },
    {
      id: 'toggle',
      label: isOff ? 'Enable' : 'Disable',
      group: 'arrange',
      icon: Power,
      keys: allKeysOf('toggle'),
      words: 'enable disable',
      on: ['blocks'],
      isTool: true,
      run: actions.toggle,
    },
    {
      id: 'wrap-loop',
      label: 'Move into a loop',
      group: 'arrange',
      icon: Repeat,
      words: 'container repeat',
      on: ['blocks'],
      isTool: true,
      run: () => actions.wrap('loop'),
    },
    {
      id: 'wrap-parallel',
      label: 'Move into a parallel',
      group: 'arrange',
      icon: Split,
      words: 'container',
      on: ['blocks'],
      isTool: true,
      run: () => actions.wrap('parallel'),
    },
    {
      id: 'separate',
      label: 'Move into a separate workflow…',
      group: 'arrange',
      icon: FolderOutput,
      words: 'extract sub-workflow',
      on: ['blocks'],
      isTool: true,
      run: context.onSeparate,
    },
    {
      id: 'tidy',
      label: 'Tidy up',
      group: 'arrange',
      icon: LayoutGrid,
      keys: allKeysOf('tidy'),
      words: 'auto layout arrange',
      on: blocks.length > 1 ? ['canvas', 'blocks'] : ['canvas'],
      isTool: blocks.length > 1,
      run: actions.tidy,
    },
    { id: 'undo', label: 'Undo', group: 'view', icon: Undo2, keys: allKeysOf('undo'), on: [], run: actions.undo },
    { id: 'redo', label: 'Redo', group: 'view', icon: Redo2, keys: allKeysOf('redo'), on: [], run: actions.redo },
    {
      id: 'delete',
      label: line === undefined ? 'Delete' : 'Delete connection',
      group: 'delete',
      icon: Trash2,
      keys: allKeysOf('delete'),
      words: 'remove',
      on: ['blocks', 'note', 'line'],
      isTool: true,
      isDanger: true,
      run: actions.remove,
    },
  ]
}

/** The action that a key starts. `pressed` is a text such as `Mod+Shift+Z`. */
export function actionForKey(list: readonly EditorAction[], pressed: string): EditorAction | undefined {
  const wanted = pressed.toLowerCase()
  // The actions on a selection come first where two have the same key.
  return list.findLast(({ keys }) => keys?.some((key) => key.toLowerCase() === wanted))
}
