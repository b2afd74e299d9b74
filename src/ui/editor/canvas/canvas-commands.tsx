import { useCommands } from '../../shell/commands.tsx'
import type { Actions } from '../document/actions.ts'
import type { EditorDialog } from '../editor-dialog.ts'
import type { Runs } from '../run/use-runs.ts'

/** The commands of the editor in the command palette. */
export function useCanvasCommands({
  actions,
  readOnly,
  one,
  onPalette,
  onConnect,
  onMap,
  onDialog,
  runs,
}: {
  actions: Actions
  readOnly: boolean
  /** The selected block, when exactly one is selected. */
  one: string | undefined
  onPalette: () => void
  onConnect: (id: string) => void
  onMap: () => void
  onDialog: (dialog: EditorDialog) => void
  runs: Runs
}): void {
  const canvas = (id: string, label: string, keys: string | undefined, run: () => void, words = '') => ({
    ...{ id, label, group: 'Canvas', run, words },
    ...(keys === undefined ? {} : { keys }),
  })
  useCommands(
    [
      ...(readOnly
        ? []
        : [
            canvas('add-block', 'Add block', '/', onPalette, 'new insert'),
            ...(one ? [canvas('connect', 'Connect this block to…', 'C', () => onConnect(one), 'edge link')] : []),
            canvas('note', 'Add note', 'N', actions.addNote, 'comment sticky'),
            canvas('tidy', 'Tidy up', 'L', actions.tidy, 'auto layout arrange'),
            canvas('undo', 'Undo', 'Mod+Z', actions.undo),
            canvas('redo', 'Redo', 'Mod+Shift+Z', actions.redo),
            canvas('duplicate', 'Duplicate', 'Mod+D', () => actions.duplicate(), 'copy'),
            canvas('toggle', 'Enable or disable', 'D', () => actions.toggle()),
            canvas('delete', 'Delete', 'Backspace', () => actions.remove(), 'remove'),
            {
              id: 'run',
              label: 'Run',
              group: 'Run',
              keys: 'Mod+Enter',
              words: 'start test execute',
              run: () => void runs.runAll(),
            },
            {
              id: 'run-with',
              label: 'Run with custom input…',
              group: 'Run',
              keys: 'Mod+Shift+Enter',
              words: 'start test execute payload trigger',
              run: () => onDialog('run'),
            },
            ...(one
              ? [
                  { id: 'run-only', label: 'Run only this block', group: 'Run', run: () => void runs.runOnly(one) },
                  { id: 'run-until', label: 'Run up to this block', group: 'Run', run: () => void runs.runUntil(one) },
                  {
                    id: 'run-from',
                    label: 'Run from this block',
                    group: 'Run',
                    run: () => void runs.runFrom(one),
                  },
                ]
              : []),
            {
              id: 'deploy',
              label: 'Deploy…',
              group: 'Workflow',
              words: 'publish version',
              run: () => onDialog('deploy'),
            },
          ]),
      {
        id: 'about',
        label: 'Variables and description',
        group: 'Workflow',
        words: 'settings about',
        run: () => onDialog('about'),
      },
      {
        id: 'versions',
        label: 'Versions',
        group: 'Workflow',
        words: 'deployments history',
        run: () => onDialog('versions'),
      },
      {
        id: 'endpoint',
        label: 'Entry points',
        group: 'Workflow',
        words: 'how to call endpoint url curl api',
        run: () => onDialog('endpoint'),
      },
      canvas('select-all', 'Select all', 'Mod+A', () => actions.selectAll()),
      canvas('fit', 'Fit to view', 'F', actions.fit, 'zoom show everything'),
      canvas('map', 'Show or hide minimap', undefined, onMap, 'map'),
    ],
    `${one}${readOnly}`,
  )
}
