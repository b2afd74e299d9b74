import type { Role } from '../../domain/account/role.ts'
import { AppError } from '../../domain/errors.ts'
import type { KeyRow } from '../../store/account-store.ts'
import type { SignedIn } from '../../store/session-store.ts'
import type { WorkflowRow } from '../../store/workflow-store.ts'
import type { Services } from '../services.ts'

/** The principal of a request and what it may reach: an API key, or a signed-in account. */
export type Caller = Pick<KeyRow, 'userId' | 'workspaceId' | 'roles'>

/** A signed-in account acts in every workspace that it is a member of, like its personal keys. */
export function callerOf({ userId, roles }: SignedIn): Caller {
  return { userId, roles, workspaceId: null }
}

/**
 * The key in `X-API-Key`. Returns it at once when it is cached. Throws (or rejects with) `API_KEY_REQUIRED` or
 * `INVALID_API_KEY`.
 */
export function authenticate({ lookUpKey }: Pick<Services, 'lookUpKey'>, headers: Headers): KeyRow | Promise<KeyRow> {
  const text = headers.get('x-api-key')
  if (text === null || text === '') {
    throw new AppError('API_KEY_REQUIRED', 'This request needs a key: send it in the header X-API-Key.')
  }
  const found = lookUpKey(text)
  return found instanceof Promise ? found.then(accept) : accept(found)
}

function accept(found: KeyRow | 'malformed' | undefined): KeyRow {
  if (found === 'malformed') {
    throw new AppError(
      'INVALID_API_KEY',
      'The key in X-API-Key is incomplete or misspelt: a key is "mrk_" followed by 36 letters and digits.',
    )
  }
  if (found === undefined) {
    throw new AppError('INVALID_API_KEY', 'The key in X-API-Key does not exist, was revoked, or has expired.')
  }
  return found
}

/** The caller's role in a workspace; undefined when the caller cannot see the workspace. */
export function roleOf({ workspaceId: only, roles }: Caller, workspaceId: string): Role | undefined {
  if (only !== null && only !== workspaceId) return undefined
  // The caller chooses the id, and `constructor` must not be found on the prototype.
  return Object.hasOwn(roles, workspaceId) ? roles[workspaceId] : undefined
}

/** Whether a caller may edit the workflows of a workspace, and so see the secrets in them. */
export function mayEdit(caller: Caller, workspaceId: string): boolean {
  const role = roleOf(caller, workspaceId)
  return role !== undefined && role !== 'viewer'
}

/** The ids of the workspaces that a caller can see. */
export function workspacesOf(caller: Caller): string[] {
  return Object.keys(caller.roles).filter((id) => roleOf(caller, id) !== undefined)
}

/**
 * Viewers may only read: a run has effects outside, and the owner pays for it. Editors and owners may do everything.
 */
export type Need = 'read' | 'write' | 'execute'

/**
 * Throws when a caller may not do something in a workspace. An object that the caller cannot see gives the same
 * `NOT_FOUND` as one that does not exist, so that ids cannot be guessed. `what` names the object: "workflow".
 */
export function assertMay(caller: Caller, workspaceId: string | undefined, need: Need, what: string): void {
  const role = workspaceId === undefined ? undefined : roleOf(caller, workspaceId)
  if (role === undefined) throw new AppError('NOT_FOUND', `There is no ${what} with this id that you can see.`)
  if (need !== 'read' && role === 'viewer') {
    const wanted = need === 'write' ? 'change it' : 'run its workflows'
    throw new AppError('FORBIDDEN', `You can read this workspace but not ${wanted}.`)
  }
}

/** Loads a workflow and checks that the caller may read or write it. */
export async function findWorkflow(
  { store }: Pick<Services, 'store'>,
  caller: Caller,
  id: string,
  need: Need,
): Promise<WorkflowRow> {
  const row = await store.getWorkflow(id)
  assertMay(caller, row?.workspaceId, need, 'workflow')
  return row as WorkflowRow
}

/** Checks access to the runs of a workflow, deleted or not: log entries outlive their workflow until retention. */
export async function assertMayOfRuns(
  { store }: Pick<Services, 'store'>,
  caller: Caller,
  id: string,
  need: Need,
): Promise<void> {
  const row = (await store.getWorkflow(id)) ?? (await store.findDeletedWorkflow(id))
  assertMay(caller, row?.workspaceId, need, 'workflow')
}

/**
 * Whether an account may start runs in a workspace now. For work that goes on after the request that started it: the
 * account may have lost its access meanwhile.
 */
export async function mayStillExecute(
  { store }: Pick<Services, 'store'>,
  userId: string,
  workspaceId: string,
): Promise<boolean> {
  const member = (await store.listMembers(workspaceId)).find((each) => each.userId === userId)
  return member !== undefined && member.role !== 'viewer'
}

/**
 * The workspace of a request: the one it names; otherwise the only one that the caller can see; otherwise the only one
 * that the caller owns. An invitation to another workspace therefore never changes what a request means. Throws
 * `INVALID_PARAMETERS` when there is no such workspace.
 */
export function chooseWorkspace(caller: Caller, named: string | undefined, need: Need): string {
  const chosen = named === undefined || named === '' ? impliedWorkspace(caller) : named
  assertMay(caller, chosen, need, 'workspace')
  return chosen
}

function impliedWorkspace(caller: Caller): string {
  const seen = workspacesOf(caller)
  const candidates = seen.length > 1 ? seen.filter((id) => roleOf(caller, id) === 'owner') : seen
  const [only, ...others] = candidates
  if (only !== undefined && others.length === 0) return only
  const message =
    seen.length === 0
      ? 'You cannot see any workspace. The account of this key may have been removed from the workspace of the key.'
      : `You can see several workspaces and own ${only === undefined ? 'none' : 'more than one'} of them. Name one with ` +
        'workspaceId. GET /api/workspaces lists them.'
  throw new AppError('INVALID_PARAMETERS', 'The request must name a workspace.', {
    details: [{ path: 'workspaceId', message }],
  })
}
