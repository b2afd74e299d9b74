import type { PauseAccess, StoredPause } from '../../../domain/run/pause.ts'
import type { FormParameters } from '../../../domain/workflow/form.ts'
import type { WorkflowDocument } from '../../../domain/workflow/workflow.ts'
import type { Plan } from '../../../engine/compile/plan.ts'
import type { PauseServices } from '../../run-services.ts'

/** The next page of a form. `waits`: the run waits for something else. `unknown`: the run has no form with pages. */
export type NextPage = { state: 'asks'; url: string } | { state: 'works' | 'waits' | 'ended' | 'unknown'; url: null }

export type NextPageServices = Pick<PauseServices, 'answers' | 'linksOf' | 'store' | 'deploymentOf'>

/**
 * The page of the oldest open approval that the senders of the form may answer; null without one. `after`: the pause of
 * the previous page. After the first page, approvals with an edge at their handle `notify` are skipped, because their
 * links are for somebody else.
 */
export async function openPage(
  { answers, linksOf, store }: Pick<NextPageServices, 'answers' | 'linksOf' | 'store'>,
  { document, triggers }: Pick<Plan, 'document' | 'triggers'>,
  { executionId, after }: { executionId: string; after?: string },
): Promise<string | null> {
  const form = leadingForm(triggers)
  if (!form) return null
  const accesses: readonly PauseAccess[] = form.access === 'members' ? ['link', 'members'] : ['link']
  const found = (await store.listRunPauses(executionId))
    .filter(({ kind, state, contextId }) => kind === 'approval' && state === 'open' && contextId !== after)
    .toSorted((one, other) => one.since - other.since)
    .filter((pause) => after === undefined || !notifies(document, pause))
    .find((pause) => accesses.includes(answers.read(pause).content.access))
  return found ? linksOf(found.contextId).url : null
}

/** The page that follows after an answer. */
export async function pageAfter(
  services: NextPageServices,
  { executionId, contextId }: Pick<StoredPause, 'executionId' | 'contextId'>,
): Promise<NextPage> {
  const job = await services.store.findJob(executionId)
  if (!job) return { state: 'ended', url: null }
  const plan = job.trigger === 'form' ? (await services.deploymentOf(job.workflowId, job.version))?.plan : undefined
  if (!plan || !leadingForm(plan.triggers)) return { state: 'unknown', url: null }
  const url = await openPage(services, plan, { executionId, after: contextId })
  if (url !== null) return { state: 'asks', url }
  return { state: job.state === 'paused' ? 'waits' : 'works', url: null }
}

/** The form of a workflow, if it has `respond: next`. */
function leadingForm(triggers: Plan['triggers']): FormParameters | undefined {
  const form = triggers.get('form')?.params as FormParameters | undefined
  return form?.respond === 'next' ? form : undefined
}

function notifies({ edges }: WorkflowDocument, { blockId }: StoredPause): boolean {
  return edges.some(({ source, sourceHandle }) => source === blockId && sourceHandle === 'notify')
}
