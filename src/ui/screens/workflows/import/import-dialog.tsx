import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useLocation } from 'wouter'
import { call } from '../../../api/call.ts'
import { messageOf } from '../../../api/message-of.ts'
import { countOf } from '../../../parts/amount-text.ts'
import { FormDialog } from '../../../parts/dialog.tsx'
import { DocsLink, docs } from '../../../parts/docs-link.tsx'
import { Field, TextArea } from '../../../parts/field.tsx'
import { FileDrop } from '../../../parts/file-drop.tsx'
import { useToast } from '../../../parts/toast.tsx'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { freeName } from '../folder-tree.ts'
import { type WorkflowOverview, workflowsQuery } from '../workflow-queries.ts'
import { ImportReportDialog } from './import-report.tsx'
import { type Importable, readImport } from './read-import.ts'
import { importSimFile, type SimFile, type SimOutcome } from './sim-imports.ts'

/**
 * Imports workflows from files or pasted text. A name that is taken gets a number. The service converts files of Sim,
 * and the report about them replaces the dialog.
 */
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
  const [outcomes, setOutcomes] = useState<readonly SimOutcome[]>()
  const queries = useQueryClient()
  const toast = useToast()
  const [, navigate] = useLocation()
  const importAll = async () => {
    const texts = await Promise.all(chosen.map(async (file) => ({ from: file.name, text: await file.text() })))
    if (text.trim() !== '') texts.push({ from: '', text })
    if (texts.length === 0) throw new Error('Choose a file or paste a document.')
    // Reads all documents before creating the first workflow, so that an invalid one leaves no partial import.
    const documents: Importable[] = []
    const simFiles: SimFile[] = []
    for (const { from, text: content } of texts) {
      try {
        const found = readImport(content)
        documents.push(...found.documents)
        simFiles.push(...found.simFiles.map((document) => ({ from, document })))
      } catch (error) {
        throw new Error(from === '' ? messageOf(error) : `${from}: ${messageOf(error)}`)
      }
    }
    const ids = await createAll(documents)
    const reports: SimOutcome[] = []
    for (const file of simFiles) reports.push(await importSimFile(file, { workspaceId }))
    await queries.invalidateQueries(workflowsQuery(workspaceId))
    if (ids.length > 0) toast.show({ text: `${countOf(ids.length, 'workflow')} imported.` })
    if (reports.length > 0) setOutcomes(reports)
    else if (ids.length === 1) navigate(`/workflows/${ids[0]}`)
    else onClose()
  }
  const createAll = async (documents: readonly Importable[]) => {
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
    return ids
  }
  if (outcomes) return <ImportReportDialog outcomes={outcomes} onChange={setOutcomes} onClose={onClose} />
  return (
    <FormDialog
      title="Import workflows"
      description={
        <>
          Import one or more exported workflow documents. Files that Sim exported are converted.{' '}
          <DocsLink to={docs.import} />
        </>
      }
      submit="Import"
      onClose={onClose}
      onSubmit={importAll}
    >
      <FileDrop label="Files to import" accept=".json,application/json" multiple files={chosen} onChange={setChosen} />
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
