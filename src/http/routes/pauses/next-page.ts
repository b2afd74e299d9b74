import type { PauseAccess, StoredPause } from '../../../domain/run/pause.ts'
import type { FormParameters } from '../../../domain/workflow/form.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { PauseServices } from '../../run-services.ts'

/** The next page in the run of a form. `waits`: for something else. `unknown`: no form leads on in this run. */
export type NextPage = { state: 'asks'; url: string } | { state: 'works' | 'waits' | 'ended' | 'unknown'; url: null }

export type NextPageServices = Pick<PauseServices, 'answers' | 'linksOf' | 'store' | 'deploymentOf'>

/** The page of the first approval in the run of a form; null when there is none that its sender may answer. */
export async function firstPage(
  services: NextPageServices,
  { executionId, form }: { executionId: string; form: FormParameters },
): Promise<string | null> {
  const found = (await openApprovals(services, executionId)).find((pause) => mayLead(services, pause, form))
  return found ? services.linksOf(found.contextId).url : null
}

/**
 * The page after one that was answered. Approvals with blocks at their port `notify` are skipped: their links are for
 * somebody else.
 */
export async function pageAfter(
  services: NextPageServices,
  { executionId, contextId }: Pick<StoredPause, 'executionId' | 'contextId'>,
): Promise<NextPage> {
  const job = await services.store.findJob(executionId)
  if (!job) return { state: 'ended', url: null }
  const deployment = job.trigger === 'form' ? await services.deploymentOf(job.workflowId, job.version) : undefined
  const form = deployment?.plan?.triggers.get('form')?.params as FormParameters | undefined
  if (!deployment?.plan || form?.respond !== 'next') return { state: 'unknown', url: null }
  const { document } = deployment.plan
  const open = await openApprovals(services, executionId)
  const found = open.find(
    (pause) => pause.contextId !== contextId && mayLead(services, pause, form) && !notifies(document, pause),
  )
  if (found) return { state: 'asks', url: services.linksOf(found.contextId).url }
  return { state: job.state === 'paused' ? 'waits' : 'works', url: null }
}

/** The open approvals of a run, oldest first. */
async function openApprovals({ store }: NextPageServices, executionId: string): Promise<StoredPause[]> {
  const pauses = await store.listRunPauses(executionId)
  return pauses
    .filter(({ kind, state }) => kind === 'approval' && state === 'open')
    .sort((one, other) => one.since - other.since)
}

/** Whether those who may send the form may answer the approval. */
function mayLead({ answers }: NextPageServices, pause: StoredPause, { access }: FormParameters): boolean {
  const accesses: readonly PauseAccess[] = access === 'members' ? ['link', 'members'] : ['link']
  return accesses.includes(answers.read(pause).content.access)
}

function notifies({ edges }: WorkflowDocument, { blockId }: StoredPause): boolean {
  return edges.some(({ source, sourceHandle }) => source === blockId && sourceHandle === 'notify')
}
