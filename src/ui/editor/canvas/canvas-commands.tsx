import { useCommandSource, useCommands } from '../../shell/commands.tsx'
import type { Actions } from '../document/actions.ts'
import { useEditing } from '../editing.tsx'
import type { EditorDialog } from '../editor-dialog.ts'
import { BlockIcon } from './block-icon.tsx'
import type { EditorAction } from './menus/editor-action.ts'

/** The commands of the editor in the command palette: the actions of the canvas, and the dialogs. */
export function useCanvasCommands({
  actions,
  list,
  readOnly,
  onDialog,
  version,
}: {
  actions: Actions
  list: readonly EditorAction[]
  readOnly: boolean
  onDialog: (dialog: EditorDialog) => void
  /** Changes when the list offers other actions. */
  version: string
}): void {
  const { draft, types } = useEditing()
  useCommandSource(() =>
    Object.values(draft.state().document.blocks).map(({ id, name, type }) => ({
      id: `block-${id}`,
      label: name,
      group: 'Blocks',
      words: `${types.get(type)?.label ?? type} block`,
      icon: <BlockIcon type={type} size="small" />,
      run: () => actions.goTo(id),
    })),
  )
  const dialog = (id: EditorDialog, label: string, words: string) => ({
    ...{ id, label, group: 'Workflow', words, run: () => onDialog(id) },
  })
  useCommands(
    [
      ...list.map(({ id, label, group, words = '', keys, run }) => ({
        ...{ id, label: group === 'color' ? `Colour the note ${label.toLowerCase()}` : label, words, run },
        group: group === 'run' ? 'Run' : 'Canvas',
        ...(keys?.[0] ? { keys: keys[0] } : {}),
      })),
      ...(readOnly ? [] : [dialog('deploy', 'Deploy…', 'publish version')]),
      dialog('about', 'Description, run variables and limits', 'settings about'),
      dialog('assistants', 'Offer to assistants (MCP)', 'tool model context protocol claude agent'),
      dialog('versions', 'Versions', 'deployments history'),
      dialog('tests', 'Tests', 'run tests expectations check'),
      dialog('endpoint', 'Entry points', 'how to call endpoint url curl api'),
    ],
    version,
  )
}
