import { useQuery } from '@tanstack/react-query'
import { Workflow } from 'lucide-react'
import { useLocation } from 'wouter'
import { ApiError } from '../../../api/api-error.ts'
import { editorAddress } from '../../../editor/run/run-address.ts'
import { Button } from '../../../parts/button.tsx'
import { CopyButton } from '../../../parts/copy-button.tsx'
import { Failed, Loading } from '../../../parts/states.tsx'
import { Page } from '../../../shell/page.tsx'
import { useWorkspaceOf } from '../../../shell/workspace.tsx'
import { logQuery } from '../log-queries.ts'
import { RunWhole, TestOfEntry } from './entry-panel.tsx'
import { EntryView } from './entry-view.tsx'

/** A log entry on its own page: `/logs/<id>`, in whichever workspace it belongs to. */
export function EntryScreen({ params: { id } }: { params: { id: string } }) {
  const { data, error, refetch } = useQuery(logQuery(id))
  const [, navigate] = useLocation()
  const workspace = useWorkspaceOf(data?.workspaceId)
  const mayRun = workspace.role !== 'viewer'
  return (
    <Page
      title={data ? data.workflow.name : 'Log entry'}
      crumbs={[{ label: workspace.name }, { label: 'Logs', href: `/w/${workspace.id}/logs` }]}
      actions={
        data && (
          <>
            <Button
              size="small"
              icon={<Workflow size={14} />}
              onClick={() => navigate(editorAddress(data.workflowId, data.executionId))}
            >
              Open in editor
            </Button>
            {mayRun && <RunWhole entry={data} />}
            {mayRun && <TestOfEntry entry={data} />}
            <CopyButton label="Copy link" size="normal" text={() => location.href} />
          </>
        )
      }
    >
      {error ? (
        <Failed
          error={error}
          retry={() => void refetch()}
          title={
            error instanceof ApiError && error.status === 404
              ? 'Log entry not found'
              : 'This log entry could not be loaded'
          }
        />
      ) : data ? (
        <EntryView entry={data} mayRun={mayRun} />
      ) : (
        <Loading />
      )}
    </Page>
  )
}
