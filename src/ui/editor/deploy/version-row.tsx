import { Ellipsis, Eye, GitCompareArrows, Pencil, PowerOff, Rocket, Undo2 } from 'lucide-react'
import { useState } from 'react'
import { Badge } from '../../parts/badge.tsx'
import { Button, IconButton } from '../../parts/button.tsx'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, TextArea } from '../../parts/field.tsx'
import { Menu, type MenuEntry } from '../../parts/menu.tsx'
import { TimeAgo } from '../../parts/time-ago.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useEditing } from '../editing.tsx'
import { NameField } from '../name-field.tsx'
import type { Version } from './version-queries.ts'

export type VersionActions = {
  preview: () => void
  compare: () => void
  undeploy: () => void
  activate: (version: number) => void
  restore: (version: number) => void
  describe: (version: number, texts: { name?: string | null; description?: string | null }) => Promise<void>
}

/** One version: its number, name and note, who deployed it and when, and its actions. */
export function VersionRow({
  version: { version, name, description, createdAt, author, isActive },
  actions,
}: {
  version: Version
  actions: VersionActions
}) {
  const { readOnly } = useEditing()
  const toast = useToast()
  const [isEditing, setIsEditing] = useState(false)
  const change: MenuEntry[] = [
    {
      label: description ? 'Edit note' : 'Add note',
      icon: <Pencil size={15} />,
      onSelect: () => setIsEditing(true),
    },
    'separator',
    {
      label: 'Restore into draft',
      icon: <Undo2 size={15} />,
      onSelect: () => actions.restore(version),
    },
    isActive
      ? { label: 'Undeploy', icon: <PowerOff size={15} />, danger: true, onSelect: actions.undeploy }
      : { label: 'Make live', icon: <Rocket size={15} />, onSelect: () => actions.activate(version) },
  ]
  return (
    <li className="flex flex-wrap items-start gap-x-3 gap-y-1.5 px-5 py-2.5">
      <span className="w-8 pt-1 text-sm font-semibold tabular-nums">v{version}</span>
      <div className="min-w-40 flex-1">
        <div className="flex flex-wrap items-center gap-x-2">
          <NameField
            label={`Name of version ${version}`}
            name={name ?? 'Unnamed'}
            readOnly={readOnly}
            onRename={(next) => void actions.describe(version, { name: next }).catch(toast.fail)}
            className={name ? 'font-medium' : 'text-muted'}
          />
          {isActive && <Badge tone="ok">Live</Badge>}
        </div>
        {description && <p className="mt-0.5 text-sm break-words whitespace-pre-line">{description}</p>}
        <div className="text-xs text-muted">
          <TimeAgo at={createdAt} /> by {author ?? 'a deleted account'}
        </div>
      </div>
      <span className="flex gap-1.5">
        <Button size="small" icon={<Eye size={13} />} onClick={actions.preview}>
          Preview
        </Button>
        <Button size="small" icon={<GitCompareArrows size={13} />} onClick={actions.compare}>
          Compare
        </Button>
        {!readOnly && (
          <Menu
            align="end"
            trigger={<IconButton label={`More for version ${version}`} size="small" icon={<Ellipsis size={15} />} />}
            entries={change}
          />
        )}
      </span>
      {isEditing && (
        <NoteDialog
          version={version}
          note={description ?? ''}
          onSave={(text) => actions.describe(version, { description: text || null })}
          onClose={() => setIsEditing(false)}
        />
      )}
    </li>
  )
}

function NoteDialog({
  version,
  note,
  onSave,
  onClose,
}: {
  version: number
  note: string
  onSave: (note: string) => Promise<void>
  onClose: () => void
}) {
  const [text, setText] = useState(note)
  const save = async () => {
    await onSave(text.trim())
    onClose()
  }
  return (
    <FormDialog title={`Note of version ${version}`} submit="Save" onClose={onClose} onSubmit={save}>
      <Field label="What changed, and why" optional>
        {(tied) => (
          <TextArea
            {...tied}
            autoFocus
            rows={4}
            maxLength={10_000}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}
