import { useSyncExternalStore } from 'react'
import type { Autosave } from '../autosave.ts'
import { isTrigger } from '../document.ts'
import { useDraft, useEditing } from '../editing.tsx'
import { useStatus } from '../editor-queries.ts'
import { startedOf } from '../started.ts'
import { ApiCall } from './api-call.tsx'
import { WayInView } from './way-in-view.tsx'
import { waysIn } from './ways-in.ts'

/** How the workflow is started, by each of its triggers. */
export function EndpointView({ autosave }: { autosave: Autosave }) {
  const { workflowId } = useEditing()
  const { save, started } = useSyncExternalStore(autosave.watch, autosave.info)
  const document = useDraft((state) => state.document)
  const { data: status } = useStatus(workflowId, save.phase === 'saved')
  const triggers = Object.values(document.blocks).filter(isTrigger)
  const hasApi = triggers.some(({ type }) => type === 'api_trigger')
  const others = waysIn(document, started, status?.isDeployed ? startedOf(status) : undefined)
  if (triggers.length === 0) {
    return (
      <p className="m-5 rounded-md bg-warn-soft px-3 py-2 text-sm text-warn-text">
        This workflow has no trigger, so nothing can start it: add one to the canvas, and deploy.
      </p>
    )
  }
  return (
    <div className="flex flex-col gap-6 p-5">
      {others.map((way) => (
        <WayInView key={way.id} way={way} />
      ))}
      {hasApi && <ApiCall />}
    </div>
  )
}
