import { AppError } from '../../../domain/errors.ts'
import { runAlike } from '../../../domain/workflow/redeployment.ts'
import type { DeploymentRow, DeploymentTexts, SaveFacts, WorkflowRow } from '../../../store/workflow-store.ts'
import { findingsError } from '../../responses/findings-error.ts'
import type { Services, WorkflowCheck } from '../../services.ts'

type Deploying = Pick<Services, 'store' | 'clock' | 'secrets' | 'checkWorkflow' | 'deployments'>

/** A version that became the active one, and the check that it passed. */
export type Deployed = { version: number; at: number; check: WorkflowCheck }

/** Copies the draft to a new version and makes it active. Throws INVALID_INPUT with the findings that prevent it. */
export async function deployDraft(
  services: Deploying,
  { id, document, workspaceId }: Pick<WorkflowRow, 'id' | 'document' | 'workspaceId'>,
  userId: string,
  texts: DeploymentTexts = {},
): Promise<Deployed> {
  const { store, clock, secrets } = services
  const check = await checkToDeploy(services, document, workspaceId)
  const sealed = await secrets.sealed(document, workspaceId)
  const row = await store.deploy(id, sealed, clock.now(), userId, check.registrations, texts)
  services.deployments.forget(id)
  return { version: row.version, at: row.createdAt, check }
}

/** Makes a version active. Throws INVALID_INPUT when it is no longer valid. */
export async function activateVersion(
  services: Deploying,
  workspaceId: string,
  { workflowId, version, document }: DeploymentRow,
): Promise<Deployed> {
  // An old version may no longer be valid: a block type was removed, or a limit was lowered.
  const check = await checkToDeploy(services, document, workspaceId)
  const at = services.clock.now()
  await services.store.activate(workflowId, version, at, check.registrations)
  services.deployments.forget(workflowId)
  return { version, at, check }
}

/**
 * Makes an earlier version active; without a number, the last one before the active version. Throws INVALID_INPUT when
 * the workflow is not deployed or there is no earlier version, NOT_FOUND when it has no such version.
 */
export async function rollBack(
  services: Deploying,
  { id, workspaceId, activeVersion }: Pick<WorkflowRow, 'id' | 'workspaceId' | 'activeVersion'>,
  version: number | undefined,
): Promise<Deployed> {
  if (activeVersion === null) throw new AppError('INVALID_INPUT', 'The workflow is not deployed. Deploy it first.')
  if (version !== undefined) {
    return await activateVersion(services, workspaceId, await findVersion(services, id, String(version)))
  }
  const [previous] = await services.store.listDeployments(id, { before: activeVersion, limit: 1 })
  if (!previous) throw new AppError('INVALID_INPUT', `Version ${activeVersion} is active, and there is none before it.`)
  return await activateVersion(services, workspaceId, previous)
}

export async function undeployWorkflow(
  { store, deployments }: Pick<Services, 'store' | 'deployments'>,
  id: string,
): Promise<void> {
  await store.undeploy(id)
  deployments.forget(id)
}

/** `text`: the number of the version as in a path. Throws NOT_FOUND. */
export async function findVersion(
  { store }: Pick<Services, 'store'>,
  id: string,
  text: string,
): Promise<DeploymentRow> {
  const row = /^[1-9]\d{0,8}$/.test(text) ? await store.getDeployment(id, Number(text)) : undefined
  if (row) return row
  throw new AppError('NOT_FOUND', 'This workflow has no such version. GET …/deployments lists its versions.')
}

/** Loads a version back into the draft. CONFLICT as for a save. */
export async function loadVersion(
  { store, clock, secrets, editors }: Pick<Services, 'store' | 'clock' | 'secrets' | 'editors'>,
  { id, workspaceId, document: draft }: Pick<WorkflowRow, 'id' | 'workspaceId' | 'document'>,
  { document }: Pick<DeploymentRow, 'document'>,
  save: SaveFacts,
): Promise<WorkflowRow> {
  // Members that belong to the workflow and not to a version stay as they are.
  const { name, folder } = draft
  const kept = { name, ...(folder === undefined ? {} : { folder }) }
  const restored = { ...(await secrets.sealed(document, workspaceId)), ...kept, id }
  const row = await store.updateWorkflow(id, restored, clock.now(), undefined, save)
  await editors.saved(row)
  return row
}

/** Whether the draft would run differently from the active version. */
export async function needsRedeployment(
  { secrets }: Pick<Services, 'secrets'>,
  { document, workspaceId }: Pick<WorkflowRow, 'document' | 'workspaceId'>,
  active: Pick<DeploymentRow, 'document'> | undefined,
): Promise<boolean> {
  if (active === undefined) return false
  const [draft, deployed] = await Promise.all([
    secrets.shown(document, workspaceId, true),
    secrets.shown(active.document, workspaceId, true),
  ])
  return !runAlike(draft, deployed)
}

async function checkToDeploy(
  { checkWorkflow }: Pick<Services, 'checkWorkflow'>,
  document: WorkflowRow['document'],
  workspaceId: string,
): Promise<WorkflowCheck> {
  const check = await checkWorkflow(document, workspaceId)
  if (check.findings.some(({ level }) => level === 'error')) throw findingsError(check.findings, 'deployed')
  return check
}
