import { useQuery, useQueryClient } from '@tanstack/react-query'
import { CircleCheck, Puzzle } from 'lucide-react'
import { useState } from 'react'
import { Link } from 'wouter'
import { countOf } from '../../../parts/amount-text.ts'
import { Button } from '../../../parts/button.tsx'
import { Dialog, DialogActions, DialogBody } from '../../../parts/dialog.tsx'
import { ErrorNote } from '../../../parts/states.tsx'
import { useWorkspace } from '../../../shell/workspace.tsx'
import { freeName } from '../folder-tree.ts'
import { workflowsQuery } from '../workflow-queries.ts'
import { CredentialNeeds } from './credential-needs.tsx'
import { Fact, Folded, List } from './report-parts.tsx'
import { renamedSimFile, simNameOf } from './sim-file.ts'
import { type ImportReport, importedQuery, importSimFile, type SimFile, type SimOutcome } from './sim-imports.ts'

/** The reports about imported files: the converted blocks, and the tasks before a deployment. */
export function ImportReportDialog({
  outcomes,
  onChange,
  onClose,
}: {
  outcomes: readonly SimOutcome[]
  onChange: (outcomes: readonly SimOutcome[]) => void
  onClose: () => void
}) {
  const done = outcomes.filter((outcome) => 'report' in outcome).length
  return (
    <Dialog
      title="Import report"
      description={`${done} of ${countOf(outcomes.length, 'file')} imported.`}
      width="wide"
      onClose={onClose}
    >
      <DialogBody isRead>
        {outcomes.map((outcome, at) => (
          <OutcomeSection
            // biome-ignore lint/suspicious/noArrayIndexKey: the order never changes
            key={at}
            outcome={outcome}
            onChange={(next) => onChange(outcomes.with(at, next))}
            onLeave={onClose}
          />
        ))}
      </DialogBody>
      <DialogActions>
        <Button look="primary" onClick={onClose}>
          Done
        </Button>
      </DialogActions>
    </Dialog>
  )
}

function OutcomeSection({
  outcome,
  onChange,
  onLeave,
}: {
  outcome: SimOutcome
  onChange: (outcome: SimOutcome) => void
  onLeave: () => void
}) {
  const { from } = outcome
  const name = 'report' in outcome ? outcome.report.name : (simNameOf(outcome.document) ?? 'Imported workflow')
  return (
    <section aria-label={name} className="flex flex-col gap-3 rounded-lg border border-line p-4">
      <header className="flex flex-wrap items-baseline gap-x-3 gap-y-1">
        <h3 className="text-sm font-semibold break-words">
          {'report' in outcome ? (
            <Link
              href={`/workflows/${outcome.report.id}`}
              onClick={onLeave}
              className="text-accent-text underline underline-offset-2 hover:no-underline"
            >
              {name}
            </Link>
          ) : (
            name
          )}
        </h3>
        {from !== '' && <span className="text-xs break-all text-muted">{from}</span>}
      </header>
      {'report' in outcome ? (
        <Report report={outcome.report} />
      ) : (
        <Refused file={outcome} problem={outcome.problem} isTaken={outcome.isTaken} name={name} onChange={onChange} />
      )}
    </section>
  )
}

function Report({ report }: { report: ImportReport }) {
  const { mapped, placeholders, credentials, notes } = report
  return (
    <>
      <Fact icon={<CircleCheck size={15} className="text-ok-text" aria-hidden="true" />}>
        {countOf(mapped.length, 'block')} converted.
        {placeholders.length === 0 && ' No placeholders.'}
      </Fact>
      {placeholders.length > 0 && (
        <div>
          <Fact icon={<Puzzle size={15} className="text-warn-text" aria-hidden="true" />}>
            {placeholders.length === 1
              ? '1 block has no counterpart. Replace its placeholder before you deploy the workflow:'
              : `${placeholders.length} blocks have no counterpart. Replace their placeholders before you deploy the workflow:`}
          </Fact>
          <List label="Placeholders">
            {placeholders.map(({ blockId, name, from, needs }) => (
              <li key={blockId}>
                <span className="font-medium">{name}</span> <span className="font-mono text-xs text-muted">{from}</span>{' '}
                needs {needs}.
              </li>
            ))}
          </List>
        </div>
      )}
      {credentials.length > 0 && <CredentialNeeds workflowId={report.id} credentials={credentials} />}
      {notes.length > 0 && (
        <Folded title={`${countOf(notes.length, 'note')} about differences`} isOpen={notes.length <= 5}>
          <List label="Notes">
            {notes.map((note, at) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: the list never changes, and notes may repeat
              <li key={at}>{note}</li>
            ))}
          </List>
        </Folded>
      )}
      {mapped.length > 0 && (
        <Folded title="All converted blocks">
          <List label="Converted blocks">
            {mapped.map(({ blockId, from, to }) => (
              <li key={blockId} className="font-mono text-xs">
                {from} → {to} <span className="text-muted">{blockId}</span>
              </li>
            ))}
          </List>
        </Folded>
      )}
    </>
  )
}

/** A file that was not imported. If its name is taken, people can replace the earlier import or use another name. */
function Refused({
  file,
  problem,
  isTaken,
  name,
  onChange,
}: {
  file: SimFile
  problem: string
  isTaken: boolean
  name: string
  onChange: (outcome: SimOutcome) => void
}) {
  const { id: workspaceId } = useWorkspace()
  const queries = useQueryClient()
  const { data: workflows = [] } = useQuery(workflowsQuery(workspaceId))
  const present = isTaken ? workflows.find((each) => each.name === name) : undefined
  const { data: before } = useQuery({ ...importedQuery(present?.id ?? ''), enabled: present !== undefined })
  const [busy, setBusy] = useState<'update' | 'rename'>()
  const again = async (kind: 'update' | 'rename', next: SimFile) => {
    setBusy(kind)
    const outcome = await importSimFile(next, { workspaceId, update: kind === 'update' })
    setBusy(undefined)
    await Promise.all([
      queries.invalidateQueries(workflowsQuery(workspaceId)),
      queries.invalidateQueries({ queryKey: importedQuery('').queryKey.slice(0, 1) }),
    ])
    onChange(outcome)
  }
  if (!present) return <ErrorNote error={problem} />
  const isImported = before?.origin !== undefined
  const names = workflows.map((each) => each.name)
  const other = freeName(name, names)
  const renamed = { ...file, document: renamedSimFile(file.document, other) }
  return (
    <>
      <ErrorNote
        error={`The workspace already has a workflow named “${name}”${isImported ? ' from an earlier import' : ''}.`}
      />
      <div className="flex flex-wrap gap-2">
        {isImported && (
          <Button busy={busy === 'update'} disabled={busy !== undefined} onClick={() => void again('update', file)}>
            Replace the earlier import
          </Button>
        )}
        <Button busy={busy === 'rename'} disabled={busy !== undefined} onClick={() => void again('rename', renamed)}>
          Import as “{other}”
        </Button>
      </div>
    </>
  )
}
