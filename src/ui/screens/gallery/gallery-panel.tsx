import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useMemo } from 'react'
import { Link, useLocation } from 'wouter'
import { call } from '../../api/call.ts'
import { FrozenCanvas } from '../../editor/canvas/frozen-canvas.tsx'
import type { Document } from '../../editor/document/document.ts'
import { openDocument } from '../../editor/document/edit.ts'
import type { BlockRun } from '../../editor/run/block-run.ts'
import { Button } from '../../parts/button.tsx'
import { SidePanel } from '../../parts/side-panel.tsx'
import { useToast } from '../../parts/toast.tsx'
import { useMayWrite, useWorkspace } from '../../shell/workspace.tsx'
import { freeName } from '../workflows/folder-tree.ts'
import { workflowsQuery } from '../workflows/workflow-queries.ts'
import type { GalleryItem } from './gallery-screen.tsx'

/** A preview of a ready workflow, the variables that it needs, and a button that creates it in the workspace. */
export function GalleryPanel({ item, onClose }: { item: GalleryItem; onClose: () => void }) {
  const { id: workspaceId, name: workspaceName } = useWorkspace()
  const mayWrite = useMayWrite()
  const queries = useQueryClient()
  const toast = useToast()
  const [, navigate] = useLocation()
  const { document, needs } = item
  // Nothing has run yet. A new map would reset the canvas.
  const runs = useMemo(() => new Map<string, BlockRun>(), [])
  const use = useMutation({
    mutationFn: async () => {
      const taken = await queries.fetchQuery(workflowsQuery(workspaceId))
      const name = freeName(
        document.name,
        taken.map((workflow) => workflow.name),
      )
      const placed = openDocument(document as unknown as Document)
      const body = { ...placed, name, workspaceId } as unknown as Parameters<typeof create>[0]
      return await create(body)
    },
    onSuccess: ({ id }) => {
      void queries.invalidateQueries(workflowsQuery(workspaceId))
      navigate(`/workflows/${id}`)
    },
    onError: toast.fail,
  })
  return (
    <SidePanel
      label={document.name}
      title={<h2 className="truncate text-sm font-semibold">{document.name}</h2>}
      actions={
        mayWrite && (
          <Button look="primary" size="small" busy={use.isPending} onClick={() => use.mutate()}>
            Use this workflow
          </Button>
        )
      }
      onClose={onClose}
    >
      <div className="flex min-h-0 flex-1 flex-col overflow-y-auto">
        <div className="relative h-72 shrink-0 border-b border-line">
          <FrozenCanvas
            workflowId={item.id}
            workspaceId={workspaceId}
            document={document as unknown as Document}
            blocks={runs}
          />
        </div>
        <div className="flex flex-col gap-4 p-4 text-sm">
          <p>{document.description}</p>
          {needs.length === 0 ? (
            <p className="text-muted">It needs nothing else: create it and press Run.</p>
          ) : (
            <Needs needs={needs} workspaceId={workspaceId} workspaceName={workspaceName} />
          )}
        </div>
      </div>
    </SidePanel>
  )
}

/** The environment variables to set, and which of them the workspace has. */
function Needs({
  needs,
  workspaceId,
  workspaceName,
}: {
  needs: GalleryItem['needs']
  workspaceId: string
  workspaceName: string
}) {
  const { data } = useQuery({
    queryKey: ['environment', workspaceId],
    queryFn: ({ signal }) => call('GET /api/workspaces/:id/environment', { params: { id: workspaceId }, signal }),
  })
  const isSet = (name: string) => data?.data.some((variable) => variable.name === name)
  return (
    <section>
      <h3 className="mb-1 font-medium">Environment variables</h3>
      <p className="mb-2 text-muted">
        Set them under{' '}
        <Link
          to={`/w/${workspaceId}/settings/environment`}
          className="text-accent-text underline underline-offset-2 hover:no-underline"
        >
          Settings, Environment variables
        </Link>{' '}
        before you run the workflow.
      </p>
      <dl className="divide-y divide-line rounded-lg border border-line">
        {needs.map(({ name, meaning }) => (
          <div key={name} className="px-3 py-2">
            <dt className="flex flex-wrap items-center justify-between gap-2 font-mono text-xs">
              {name}
              {isSet(name) && <span className="font-sans text-ok-text">Set in {workspaceName}</span>}
            </dt>
            <dd className="mt-0.5 text-xs text-muted">{meaning}</dd>
          </div>
        ))}
      </dl>
    </section>
  )
}

function create(body: Parameters<typeof call<'POST /api/workflows'>>[1]['body']) {
  return call('POST /api/workflows', { body })
}
