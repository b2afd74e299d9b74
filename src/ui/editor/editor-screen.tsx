import { useQuery } from '@tanstack/react-query'
import { ReactFlowProvider } from '@xyflow/react'
import { useEffect, useMemo } from 'react'
import type { WorkflowResponse } from '../../http/responses/workflow-schemas.ts'
import { useMe } from '../api/session.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { useTitle } from '../shell/page.tsx'
import { useChooseWorkspace } from '../shell/workspace.tsx'
import { documentOf } from './document/document-of.ts'
import { type BlockType, EditingProvider, useBlockTypes } from './editing.tsx'
import { workflowQuery } from './editor-queries.ts'
import { RunWatch } from './run/run-watch.ts'
import { Autosave } from './save/autosave.ts'
import { Draft } from './save/draft.ts'
import { Workbench } from './workbench.tsx'

/** The editor of one workflow. */
export function EditorScreen({ params: { id } }: { params: { id: string } }) {
  const types = useBlockTypes()
  const { data, error, refetch } = useQuery(workflowQuery(id))
  if (error) return <Failed error={error} title="This workflow could not be opened" retry={() => void refetch()} />
  if (!data || !types) return <Loading label="Opening workflow" />
  return <Opened key={id} workflow={data} types={types} />
}

function Opened({ workflow, types }: { workflow: WorkflowResponse; types: ReadonlyMap<string, BlockType> }) {
  const { id, workspaceId } = workflow
  const { workspaces } = useMe()
  const choose = useChooseWorkspace()
  useEffect(() => choose(workspaceId), [choose, workspaceId])
  useTitle(workflow.name)
  const readOnly = workspaces.find((workspace) => workspace.id === workspaceId)?.role === 'viewer'
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft starts once, from the loaded workflow
  const [editing, autosave] = useMemo(() => {
    const draft = new Draft(documentOf(workflow))
    const run = new RunWatch(id)
    return [
      { workflowId: id, workspaceId, draft, run, types, readOnly },
      new Autosave(draft, id, workflow.revision),
    ] as const
  }, [id, readOnly, types])
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent) => {
      if (autosave.info().save.phase === 'saved') return
      void autosave.flush()
      event.preventDefault()
    }
    addEventListener('beforeunload', onLeave)
    return () => {
      removeEventListener('beforeunload', onLeave)
      void autosave.flush()
    }
  }, [autosave])
  useEffect(() => () => editing.run.leave(), [editing])
  return (
    <EditingProvider value={editing}>
      <ReactFlowProvider>
        <Workbench autosave={autosave} />
      </ReactFlowProvider>
    </EditingProvider>
  )
}
