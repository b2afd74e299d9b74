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
  const command = (group: string, id: string, label: string, run: () => void, words = '', keys?: string) => ({
    ...{ id, label, group, run, words },
    ...(keys === undefined ? {} : { keys }),
  })
  const withWords = 'start test execute payload trigger'
  useCommands(
    [
      ...(readOnly
        ? []
        : [
            command('Canvas', 'add-block', 'Add block', onPalette, 'new insert', '/'),
            ...(one
              ? [command('Canvas', 'connect', 'Connect this block to…', () => onConnect(one), 'edge link', 'C')]
              : []),
            command('Canvas', 'note', 'Add note', actions.addNote, 'comment sticky', 'N'),
            command('Canvas', 'tidy', 'Tidy up', actions.tidy, 'auto layout arrange', 'L'),
            command('Canvas', 'undo', 'Undo', actions.undo, '', 'Mod+Z'),
            command('Canvas', 'redo', 'Redo', actions.redo, '', 'Mod+Shift+Z'),
            command('Canvas', 'duplicate', 'Duplicate', () => actions.duplicate(), 'copy', 'Mod+D'),
            command('Canvas', 'toggle', 'Enable or disable', () => actions.toggle(), '', 'D'),
            command('Canvas', 'delete', 'Delete', () => actions.remove(), 'remove', 'Backspace'),
            command('Run', 'run', 'Run', () => void runs.runAll(), 'start test execute', 'Mod+Enter'),
            command('Run', 'run-with', 'Run with custom input…', () => onDialog('run'), withWords, 'Mod+Shift+Enter'),
            ...(one
              ? [
                  command('Run', 'run-only', 'Run only this block', () => void runs.runOnly(one)),
                  command('Run', 'run-until', 'Run up to this block', () => void runs.runUntil(one)),
                  command('Run', 'run-from', 'Run from this block', () => void runs.runFrom(one)),
                ]
              : []),
            command('Workflow', 'deploy', 'Deploy…', () => onDialog('deploy'), 'publish version'),
          ]),
      command('Workflow', 'about', 'Variables and description', () => onDialog('about'), 'settings about'),
      command('Workflow', 'versions', 'Versions', () => onDialog('versions'), 'deployments history'),
      command('Workflow', 'endpoint', 'Entry points', () => onDialog('endpoint'), 'how to call endpoint url curl api'),
      command('Canvas', 'select-all', 'Select all', () => actions.selectAll(), '', 'Mod+A'),
      command('Canvas', 'fit', 'Fit to view', actions.fit, 'zoom show everything', 'F'),
      command('Canvas', 'map', 'Show or hide minimap', onMap, 'map'),
    ],
    `${one}${readOnly}`,
  )
}
