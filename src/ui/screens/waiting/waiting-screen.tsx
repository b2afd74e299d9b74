import { useQuery } from '@tanstack/react-query'
import { useSearchParams } from 'wouter'
import { DocsLink, docs } from '../../parts/docs-link.tsx'
import { Select } from '../../parts/field.tsx'
import { Segments } from '../../parts/segments.tsx'
import { Page } from '../../shell/page.tsx'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { workflowNamesQuery } from '../logs/log-queries.ts'
import { OpenRuns } from './open-runs.tsx'
import { PauseList } from './pause-list.tsx'
import { PausePanel } from './pause-panel.tsx'
import { kindLabels, kinds, openStatuses, statusLabels } from './pause-queries.ts'
import { RunPanel } from './run-panel.tsx'

type Change = Partial<Record<'view' | 'workflow' | 'kind' | 'status' | 'pause' | 'run', string | undefined>>

/** The open pauses of a workspace, and its unfinished runs. Filters and the open item are stored in the URL. */
export function WaitingScreen() {
  const { id: workspaceId, name } = useWorkspace()
  const mayWrite = useMayWrite()
  const [search, setSearch] = useSearchParams()
  const names = useQuery(workflowNamesQuery(workspaceId))
  const view = search.get('view') === 'runs' ? 'runs' : 'pauses'
  const workflowId = search.get('workflow') ?? undefined
  const kind = kinds.find((each) => each === search.get('kind'))
  const status = openStatuses.find((each) => each === search.get('status')) ?? 'processing'
  const contextId = view === 'pauses' ? (search.get('pause') ?? undefined) : undefined
  const executionId = view === 'runs' ? (search.get('run') ?? undefined) : undefined
  const go = (change: Change) =>
    setSearch((before) => {
      const all = { ...Object.fromEntries(before), ...change }
      return new URLSearchParams(Object.entries(all).filter((pair): pair is [string, string] => pair[1] !== undefined))
    })
  const workflows = [
    { value: '', label: 'All workflows' },
    ...(names.data?.data ?? []).map((workflow) => ({ value: workflow.id, label: workflow.name })),
  ]
  return (
    <Page title="Waiting" crumbs={[{ label: name }]} actions={<DocsLink to={docs.waiting} />}>
      <div className="flex min-h-0 flex-1">
        <div className="flex min-w-0 flex-1 flex-col">
          <div
            role="toolbar"
            aria-label="Filters"
            className="flex shrink-0 flex-wrap items-center gap-2 border-b border-line px-4 py-2 md:px-6"
          >
            <Segments
              label="Show"
              value={view}
              onChange={(next) => go({ view: next === 'runs' ? 'runs' : undefined, pause: undefined, run: undefined })}
              options={[
                { value: 'pauses', label: 'Waiting' },
                { value: 'runs', label: 'Unfinished runs' },
              ]}
            />
            {view === 'pauses' ? (
              <Segments
                label="Kind"
                value={kind ?? 'all'}
                onChange={(next) => go({ kind: next === 'all' ? undefined : next, pause: undefined })}
                options={[
                  { value: 'all', label: 'All' },
                  ...kinds.map((value) => ({ value, label: kindLabels[value] })),
                ]}
              />
            ) : (
              <Segments
                label="Status"
                value={status}
                onChange={(next) => go({ status: next, run: undefined })}
                options={openStatuses.map((value) => ({ value, label: statusLabels[value] }))}
              />
            )}
            <Select
              aria-label="Workflow"
              className="max-w-56"
              value={workflowId ?? ''}
              options={workflows}
              onChange={({ target: { value } }) =>
                go({ workflow: value === '' ? undefined : value, pause: undefined, run: undefined })
              }
            />
          </div>
          {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
          <section aria-label="List" tabIndex={0} className="min-h-0 flex-1 overflow-y-auto -outline-offset-2">
            <div className="flex min-h-full w-full max-w-280 flex-col px-4 py-5 md:px-6">
              {view === 'pauses' ? (
                <PauseList
                  workspaceId={workspaceId}
                  workflowId={workflowId}
                  kind={kind}
                  chosen={contextId}
                  onChoose={(pause) => go({ pause })}
                />
              ) : (
                <OpenRuns
                  workspaceId={workspaceId}
                  workflowId={workflowId}
                  status={status}
                  mayWrite={mayWrite}
                  chosen={executionId}
                  onChoose={(run) => go({ run })}
                />
              )}
            </div>
          </section>
        </div>
        {contextId !== undefined && (
          <PausePanel
            key={contextId}
            workspaceId={workspaceId}
            contextId={contextId}
            mayWrite={mayWrite}
            onClose={() => go({ pause: undefined })}
          />
        )}
        {executionId !== undefined && (
          <RunPanel
            key={executionId}
            workspaceId={workspaceId}
            executionId={executionId}
            mayWrite={mayWrite}
            onClose={() => go({ run: undefined })}
          />
        )}
      </div>
    </Page>
  )
}
