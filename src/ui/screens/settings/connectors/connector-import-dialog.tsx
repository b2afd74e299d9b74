import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import type { Connector } from '../../../../domain/connector/connector.ts'
import { call } from '../../../api/call.ts'
import { countOf } from '../../../parts/amount-text.ts'
import { FormDialog } from '../../../parts/dialog.tsx'
import { Field, TextArea, TextField } from '../../../parts/field.tsx'
import { FileDrop } from '../../../parts/file-drop.tsx'
import { useToast } from '../../../parts/toast.tsx'
import { type ConnectorSummary, connectorsQuery } from '../../../shell/connectors-query.ts'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { ImportedParts } from './imported-parts.tsx'

type Read = { connector: Connector; notTaken: readonly { path: string; reason: string }[] }

/** Imports a connector in two steps: reads the document, then adds the operations that the person selects. */
export function ConnectorImportDialog({
  present,
  onClose,
}: {
  present: readonly ConnectorSummary[]
  onClose: () => void
}) {
  const [read, setRead] = useState<Read>()
  return read ? <AddDialog {...{ read, present, onClose }} /> : <ReadDialog onRead={setRead} onClose={onClose} />
}

function ReadDialog({ onRead, onClose }: { onRead: (read: Read) => void; onClose: () => void }) {
  const { id } = useWorkspace()
  const [files, setFiles] = useState<readonly File[]>([])
  const [url, setUrl] = useState('')
  const [text, setText] = useState('')
  const readDocument = async () => {
    const [file] = files
    const pasted = text.trim()
    const source = file
      ? { document: await file.text() }
      : pasted !== ''
        ? { document: pasted }
        : url.trim() !== ''
          ? { url: url.trim() }
          : undefined
    if (!source) throw new Error('Choose a file, paste a document, or enter a URL.')
    const read = await call('POST /api/workspaces/:id/connectors/import', {
      params: { id },
      body: { ...source, preview: true },
    })
    onRead(read as Read)
  }
  return (
    <FormDialog
      title="Import connector"
      description="An OpenAPI document (2.0, 3.0 or 3.1), a Google Discovery document, a HAR file, or a cURL command."
      submit="Read"
      onClose={onClose}
      onSubmit={readDocument}
    >
      <FileDrop
        label="Document to import"
        accept=".json,.yaml,.yml,.har,application/json"
        files={files}
        onChange={setFiles}
      />
      <Field label="Or paste it">
        {(tied) => (
          <TextArea
            {...tied}
            rows={5}
            className="font-mono text-xs"
            placeholder="curl https://api.example.com/orders -H 'Accept: application/json'"
            value={text}
            onChange={(event) => setText(event.target.value)}
          />
        )}
      </Field>
      <TextField
        label="Or enter its URL"
        type="url"
        placeholder="https://api.example.com/openapi.json"
        value={url}
        onChange={setUrl}
      />
    </FormDialog>
  )
}

function AddDialog({
  read: { connector, notTaken },
  present,
  onClose,
}: {
  read: Read
  present: readonly ConnectorSummary[]
  onClose: () => void
}) {
  const { id: workspaceId } = useWorkspace()
  const queries = useQueryClient()
  const toast = useToast()
  const [name, setName] = useState(connector.name)
  const [id, setId] = useState(connector.id)
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set(Object.keys(connector.operations)))
  const same = present.find((each) => each.id === id.trim())
  const add = async () => {
    if (chosen.size === 0) throw new Error('Select at least one operation.')
    const operations = Object.fromEntries(
      Object.entries(connector.operations).filter(([operation]) => chosen.has(operation)),
    )
    await call('PUT /api/workspaces/:id/connectors/:connectorId', {
      params: { id: workspaceId, connectorId: id.trim() },
      body: { ...connector, id: id.trim(), name: name.trim(), operations },
    })
    await queries.invalidateQueries(connectorsQuery(workspaceId))
    toast.show({ text: `${name.trim()} was added with ${countOf(chosen.size, 'operation')}.` })
    onClose()
  }
  return (
    <FormDialog
      title="Import connector"
      description={`Requests go to ${connector.baseUrl}.`}
      width="wide"
      submit={same && !same.builtIn ? 'Replace connector' : 'Add connector'}
      onClose={onClose}
      onSubmit={add}
    >
      <div className="grid gap-4 md:grid-cols-2">
        <TextField label="Name" required value={name} onChange={setName} />
        <TextField label="ID" required note={idNote(same)} value={id} onChange={setId} />
      </div>
      <ImportedParts {...{ connector, notTaken, chosen }} onChange={setChosen} />
    </FormDialog>
  )
}

function idNote(same: ConnectorSummary | undefined): string {
  if (!same) return 'Workflow documents name the connector by its ID.'
  return same.builtIn
    ? `${same.name} is built in and has this ID. Enter another one.`
    : `${same.name} has this ID and will be replaced.`
}
