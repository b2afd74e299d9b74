import { AppError } from '../../domain/errors.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import type { ListeningTrigger } from '../../triggers/test-listeners.ts'
import type { Services } from '../services.ts'
import { mayStillExecute } from './auth.ts'

/**
 * The workflow whose draft takes a test request at this address; undefined when nobody listens. A person who may no
 * longer run the workflow no longer listens. Throws CONFLICT when the listener has a request already: then nothing else
 * is read.
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
  if (!(await mayStillExecute(services, listener.userId, workflow.workspaceId))) {
    listeners.close(token)
    return undefined
  }
  if (listener.request) throw alreadyTaken(trigger)
  return workflow
}

export function alreadyTaken(trigger: ListeningTrigger): AppError {
  const taken = trigger === 'chat' ? 'message' : 'request'
  return new AppError('CONFLICT', `This test address has already taken a ${taken}. Listen again in the editor.`)
}
