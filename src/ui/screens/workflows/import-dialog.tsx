import { useQueryClient } from '@tanstack/react-query'
import { FileUp } from 'lucide-react'
import { type DragEvent, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../api/call.ts'
import { messageOf } from '../../api/message-of.ts'
import { countOf } from '../../parts/amount-text.ts'
import { Button } from '../../parts/button.tsx'
import { classes } from '../../parts/class-names.ts'
import { FormDialog } from '../../parts/dialog.tsx'
import { Field, TextArea } from '../../parts/field.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useWorkspace } from '../../shell/workspace.tsx'
import { freeName } from './folder-tree.ts'
import { readImport } from './read-import.ts'
import { type WorkflowOverview, workflowsQuery } from './workflow-queries.ts'

/** Imports workflows from files or pasted text. A number is appended to names that are taken. */
export function ImportDialog({
  taken,
  files,
  onClose,
}: {
  taken: readonly WorkflowOverview[]
  /** Files dropped before the dialog opened. */
  files: readonly File[]
  onClose: () => void
}) {
  const { id: workspaceId } = useWorkspace()
  const [text, setText] = useState('')
  const [chosen, setChosen] = useState<readonly File[]>(files)
  const [isOver, setIsOver] = useState(false)
  const picker = useRef<HTMLInputElement>(null)
  const queries = useQueryClient()
  const toast = useToast()
  const [, navigate] = useLocation()
  const importAll = async () => {
    const texts = await Promise.all(chosen.map(async (file) => ({ from: `${file.name}: `, text: await file.text() })))
    if (text.trim() !== '') texts.push({ from: '', text })
    if (texts.length === 0) throw new Error('Choose a file or paste a document.')
    // Reads all documents before creating the first workflow, so that an invalid one leaves no partial import.
    const documents = texts.flatMap(({ from, text: content }) => {
      try {
        return readImport(content)
      } catch (error) {
        throw new Error(from + messageOf(error))
      }
    })
    const names = taken.map(({ name }) => name)
    const ids: string[] = []
    for (const document of documents) {
      const name = freeName(document.name, names)
      names.push(name)
      const { workspaceId: _, mocks = [], ...rest } = document
      const body = { ...rest, name, workspaceId } as unknown as Parameters<typeof create>[0]
      const { id } = await create(body)
      ids.push(id)
      for (const { block, output } of mocks) {
        const params = { id, blockId: block }
        await call('PUT /api/workflows/:id/pins/:blockId', { params, body: { output } }).catch(toast.fail)
      }
    }
    await queries.invalidateQueries(workflowsQuery(workspaceId))
    toast.show({ text: `${countOf(ids.length, 'workflow')} imported.` })
    if (ids.length === 1) navigate(`/workflows/${ids[0]}`)
    else onClose()
  }
  const drop = (event: DragEvent) => {
    event.preventDefault()
    setIsOver(false)
    setChosen([...event.dataTransfer.files])
  }
  return (
    <FormDialog
      title="Import workflows"
      description="Import exported workflow documents: one document or a list of them."
      submit="Import"
      onClose={onClose}
      onSubmit={importAll}
    >
      {/* biome-ignore lint/a11y/noStaticElementInteractions: the button inside does the same */}
      <div
        onDragOver={(event) => {
          event.preventDefault()
          setIsOver(true)
        }}
        onDragLeave={() => setIsOver(false)}
        onDrop={drop}
        className={classes(
          'flex flex-col items-center gap-2 rounded-lg border border-dashed px-4 py-6 text-center text-sm',
          isOver ? 'border-accent bg-accent-soft' : 'border-line-strong',
        )}
      >
        <FileUp size={20} className="text-muted" aria-hidden="true" />
        {chosen.length > 0 ? (
          <p className="font-medium break-all">{chosen.map(({ name }) => name).join(', ')}</p>
        ) : (
          <p className="text-muted">Drop files here</p>
        )}
        <Button size="small" onClick={() => picker.current?.click()}>
          Choose files
        </Button>
        <input
          ref={picker}
          type="file"
          multiple
          accept=".json,application/json"
          aria-label="Files to import"
          className="sr-only"
          tabIndex={-1}
          onChange={(event) => setChosen([...(event.target.files ?? [])])}
        />
      </div>
      <Field label="Or paste a document">
        {(tied) => (
          <TextArea
            {...tied}
            rows={6}
            className="font-mono text-xs"
            placeholder={'{ "name": "…", "blocks": { … }, "edges": [ … ] }'}
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
    </FormDialog>
  )
}

function create(body: Parameters<typeof call<'POST /api/workflows'>>[1]['body']) {
  return call('POST /api/workflows', { body })
}
