import { useSyncExternalStore } from 'react'
import { isTrigger } from '../document/document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { useStatus } from '../editor-queries.ts'
import type { Autosave } from '../save/autosave.ts'
import { triggerDetailsOf } from '../trigger-details.ts'
import { ApiCall } from './api-call.tsx'
import { EntryPointView, TriggerTitle } from './entry-point-view.tsx'
import { entryPoints } from './entry-points.ts'

/** The entry points of a workflow: how each trigger starts it. */
export function EndpointView({ autosave }: { autosave: Autosave }) {
  const { workflowId } = useEditing()
  const { revision, triggerDetails } = useSyncExternalStore(autosave.watch, autosave.info)
  const document = useDraft((state) => state.document)
  const { data: status } = useStatus(workflowId, revision)
  const triggers = Object.values(document.blocks).filter(isTrigger)
  const enabled = triggers.filter((block) => block.enabled !== false)
  const api = enabled.find(({ type }) => type === 'api_trigger')
  const others = entryPoints(document, triggerDetails, status?.isDeployed ? triggerDetailsOf(status) : undefined)
  if (enabled.length === 0) {
    return (
      <p className="m-5 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn-text">
        {triggers.length === 0
          ? 'This workflow has no trigger, so nothing can start it. Add a trigger and deploy.'
          : 'The trigger of this workflow is disabled, so nothing can start it. Enable the trigger and deploy.'}
      </p>
    )
  }
  return (
    <div className="flex flex-col gap-6 p-5">
      {api && (
        <section aria-label={api.name} className="flex flex-col gap-2">
          {others.length > 0 && <TriggerTitle type={api.type} name={api.name} />}
          <ApiCall />
        </section>
      )}
      {others.map((entryPoint) => (
        <EntryPointView key={entryPoint.id} entryPoint={entryPoint} />
      ))}
    </div>
  )
}
