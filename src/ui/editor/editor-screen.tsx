import { useQuery } from '@tanstack/react-query'
import { ReactFlowProvider } from '@xyflow/react'
import { useEffect, useMemo } from 'react'
import type { WorkflowResponse } from '../../http/responses/workflow-schemas.ts'
import { useMe } from '../api/session.ts'
import { Failed, Loading } from '../parts/states.tsx'
import { draftStorage } from '../shell/kept-drafts.ts'
import { useTitle } from '../shell/page.tsx'
import { useChooseWorkspace } from '../shell/workspace.tsx'
import { AssistantProvider } from './assistant/assistant-provider.tsx'
import { Portions } from './canvas/view/portions.ts'
import { documentOf } from './document/document-of.ts'
import { freshId } from './document/fresh-id.ts'
import { type BlockType, EditingProvider, useBlockTypes } from './editing.tsx'
import { workflowQuery } from './editor-queries.ts'
import { HeldProblems } from './held-problems.ts'
import { PinsProvider } from './pins/pins.tsx'
import { RunFocus } from './run/run-focus.ts'
import { RunWatch } from './run/run-watch.ts'
import { Autosave } from './save/autosave.ts'
import { Draft } from './save/draft.ts'
import { UnsavedCopies } from './save/unsaved-copies.ts'
import { Together } from './together/together.ts'
import { TogetherProvider } from './together/together-context.tsx'
import { VariableCreator } from './variable-creator.tsx'
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
  const { workspaces, user } = useMe()
  const choose = useChooseWorkspace()
  useEffect(() => choose(workspaceId), [choose, workspaceId])
  useTitle(workflow.name)
  const readOnly = workspaces.find((workspace) => workspace.id === workspaceId)?.role === 'viewer'
  // biome-ignore lint/correctness/useExhaustiveDependencies: the draft starts once, from the loaded workflow
  const [editing, autosave, together, copies] = useMemo(() => {
    const draft = new Draft(documentOf(workflow))
    const run = new RunWatch(id)
    const copies = new UnsavedCopies(draftStorage(), { userId: user.id, workflowId: id })
    return [
      {
        workflowId: id,
        workspaceId,
        draft,
        run,
        focus: new RunFocus(),
        held: new HeldProblems(draft),
        portions: new Portions(),
        types,
        readOnly,
      },
      new Autosave(draft, id, workflow.revision, copies.keeper(freshId(), Date.now)),
      new Together(id, user.id),
      copies,
    ] as const
  }, [id, readOnly, types])
  useEffect(() => {
    const onLeave = (event: BeforeUnloadEvent) => {
      if (autosave.info().save.phase === 'saved') return
      void autosave.flush()
      event.preventDefault()
    }
    const onHide = () => autosave.keepCopy()
    addEventListener('beforeunload', onLeave)
    addEventListener('pagehide', onHide)
    return () => {
      removeEventListener('beforeunload', onLeave)
      removeEventListener('pagehide', onHide)
      autosave.leave()
    }
  }, [autosave])
  useEffect(() => () => editing.run.leave(), [editing])
  return (
    <EditingProvider value={editing}>
      <ReactFlowProvider>
        <TogetherProvider value={together}>
          <VariableCreator autosave={autosave}>
            <PinsProvider workflowId={editing.workflowId} autosave={autosave}>
              <AssistantProvider>
                <Workbench autosave={autosave} together={together} copies={copies} />
              </AssistantProvider>
            </PinsProvider>
          </VariableCreator>
        </TogetherProvider>
      </ReactFlowProvider>
    </EditingProvider>
  )
}
