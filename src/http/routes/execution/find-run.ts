import { AppError } from '../../../domain/errors.ts'
import { assertMay, type Caller, type Need } from '../../access/auth.ts'
import type { PeerCall } from '../../peers/peers.ts'
import type { Services } from '../../services.ts'

/** The workflow and the workspace of a run, which a caller must be allowed to see. */
export type OwnedRun = { workflowId: string; workspaceId: string }

/**
 * Finds a run in this process, or in the store. For a run in flight in another process, returns the response of that
 * process. `workflowId`: the workflow that the caller names, if any.
 */
export async function findRun<Found extends OwnedRun>(
  { peers }: Pick<Services, 'peers'>,
  call: PeerCall,
  find: () => Promise<Found | undefined>,
  wanted: { caller: Caller; executionId: string; need: Need; workflowId?: string },
): Promise<Found | Response> {
  const { caller, executionId, need, workflowId } = wanted
  const first = await find()
  const elsewhere = first ? undefined : await peers.forward(call, { kind: 'run', id: executionId })
  if (elsewhere) return elsewhere
  // It may have ended while the others were asked.
  const run = first ?? (peers.exist ? await find() : undefined)
  const isOther = workflowId !== undefined && run?.workflowId !== workflowId
  assertMay(caller, isOther ? undefined : run?.workspaceId, need, 'run')
  return run as Found
}

/** Cancels a run that had not ended when it was found. `false`: it has ended since then. */
export async function cancelRun(
  { jobs, runner, peers }: Pick<Services, 'jobs' | 'runner' | 'peers'>,
  call: PeerCall,
  executionId: string,
): Promise<boolean | Response> {
  const cancelled = (await jobs.cancel(executionId)) || runner.cancel(executionId, 'CANCELLED')
  if (cancelled !== 'elsewhere') return cancelled
  const elsewhere = await peers.forward(call, { kind: 'run', id: executionId })
  if (elsewhere) return elsewhere
  throw new AppError('OVERLOADED', 'Another process is about to take over this run. Try again in a moment.')
}
