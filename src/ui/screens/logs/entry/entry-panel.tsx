import { useQuery } from '@tanstack/react-query'
import { ExternalLink, Maximize2, Workflow } from 'lucide-react'
import { Link, useLocation } from 'wouter'
import { editorAddress } from '../../../editor/run/run-address.ts'
import { MakeTest } from '../../../editor/tests/make-test.tsx'
import { IconButton } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { SidePanel } from '../../../parts/side-panel.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { useMayWrite } from '../../../shell/workspace.tsx'
import { type LogDetail, logQuery } from '../log-queries.ts'
import { EntryView } from './entry-view.tsx'
import { RunAgain } from './run-again.tsx'
import { spansOf } from './trace.ts'

/** A log entry next to the list. */
export function EntryPanel({ id, onClose }: { id: string; onClose: () => void }) {
  const mayRun = useMayWrite()
  const [, navigate] = useLocation()
  const { data, error, refetch } = useQuery(logQuery(id))
  return (
    <SidePanel
      label="Log entry"
      title={<EntryTitle entry={data} />}
      onClose={onClose}
      actions={
        <>
          {data && mayRun && <RunWhole entry={data} />}
          {data && mayRun && <TestOfEntry entry={data} />}
          <CopyButton label="Copy link" size="normal" text={() => `${location.origin}/logs/${id}`} />
          <IconButton
            label="Open full page"
            icon={<Maximize2 size={15} />}
            onClick={() => navigate(`/logs/${id}${viewOf(location.search)}`)}
          />
        </>
      }
    >
      <div id="log-entry" tabIndex={-1} className="flex min-h-0 flex-1 flex-col outline-none">
        {error ? (
          <Failed error={error} retry={() => void refetch()} title="This log entry could not be loaded" />
        ) : data ? (
          <EntryView entry={data} mayRun={mayRun} />
        ) : (
          <Loading />
        )}
      </div>
    </SidePanel>
  )
}

/** The workflow's name, as a link to the editor with this run. */
export function EntryTitle({ entry }: { entry: LogDetail | undefined }) {
  if (!entry) return <span className="text-sm text-muted">Log entry</span>
  return (
    <Link
      href={editorAddress(entry.workflowId, entry.executionId)}
      className="inline-flex max-w-full items-center gap-1.5 rounded-sm text-sm font-semibold hover:underline"
    >
      <Workflow size={15} className="shrink-0 text-muted" aria-hidden="true" />
      <span className="truncate">{entry.workflow.name}</span>
      <ExternalLink size={12} className="shrink-0 text-muted" aria-hidden="true" />
    </Link>
  )
}

/** Runs the workflow again, with the same input. */
export function RunWhole({ entry }: { entry: LogDetail }) {
  const hasBegun = spansOf(entry)[0]?.children.some(({ type, status }) => isTrigger(type) && status === 'success')
  return hasBegun ? <RunAgain size="small" label="Run again" entry={entry} /> : null
}

/** Makes a test of the run. A run of a part of the workflow cannot be one. */
export function TestOfEntry({ entry: { workflowId, executionId, partial, status } }: { entry: LogDetail }) {
  const [, navigate] = useLocation()
  if (partial || status === 'cancelled') return null
  const onShow = () => navigate(`/workflows/${workflowId}`, { state: { dialog: 'tests' } })
  return <MakeTest workflowId={workflowId} executionId={executionId} onShow={onShow} />
}

function isTrigger(type: string): boolean {
  return type === 'schedule' || type.endsWith('_trigger')
}

function viewOf(search: string): string {
  const all = new URLSearchParams(search)
  const kept = new URLSearchParams([...all].filter(([name]) => name === 'view' || name === 'span'))
  return kept.size === 0 ? '' : `?${kept}`
}
