import type { LucideIcon } from 'lucide-react'
import type { Key } from '../../../shell/palette/key-table.ts'
import type { Actions } from '../../document/actions.ts'
import type { Point } from '../../document/document.ts'
import type { Place } from '../../document/new-block.ts'
import type { Runs } from '../../run/use-runs.ts'
import type { DraftState } from '../../save/draft.ts'

/** The parts of the canvas that have a menu. `blocks` is a selection with at least one block. */
export type Target = 'canvas' | 'blocks' | 'line' | 'note'

/** One action of the editor. Menus, the toolbar of a selection, keys and the command palette offer the same ones. */
export type EditorAction = {
  id: string
  label: string
  icon?: LucideIcon
  /** The first is shown. */
  keys?: readonly Key[]
  /** More words by which the command palette finds it. */
  words?: string
  /** The menus that offer it, in groups with lines between them. */
  on: readonly Target[]
  group: 'add' | 'run' | 'copy' | 'arrange' | 'color' | 'view' | 'delete'
  /** Whether the toolbar of a selection has a button for it. */
  isTool?: boolean
  isDanger?: boolean
  isChecked?: boolean
  run: () => void
}

export type ActionContext = {
  actions: Actions
  runs: Runs
  state: DraftState
  readOnly: boolean
  /** Where a menu was opened, on the page and on the canvas. */
  at?: { page: Point; canvas: Point }
  onOffer: (place: Place, at?: Point) => void
  onConnect: (id: string) => void
  onFind: () => void
  onInspect: () => void
  onSeparate: () => void
  onMap: () => void
  onRunWith: () => void
  /** Pins the latest output of a block, or unpins it. Undefined for a block that cannot be pinned. */
  pinOf: (id: string) => { isPinned: boolean; toggle: () => void } | undefined
}
