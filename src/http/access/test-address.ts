import type { WorkflowRow } from '../../store/workflow-store.ts'
import type { ListeningTrigger } from '../../triggers/test-listeners.ts'
import type { Services } from '../services.ts'
import { mayStillExecute } from './auth.ts'

/**
 * The workflow whose draft takes a test request at this address; undefined when nobody listens. A person who may no
 * longer run the workflow no longer listens.
 */
export async function workflowAt(
  services: Pick<Services, 'listeners' | 'store'>,
  trigger: ListeningTrigger,
  token: string,
): Promise<WorkflowRow | undefined> {
  const { listeners, store } = services
  const listener = listeners.at(trigger, token)
  const workflow = listener && (await store.getWorkflow(listener.workflowId))
  if (!listener || !workflow) return undefined
  if (await mayStillExecute(services, listener.userId, workflow.workspaceId)) return workflow
  listeners.close(token)
  return undefined
}
