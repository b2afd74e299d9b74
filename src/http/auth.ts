import { AppError } from '../domain/errors.ts'
import type { SignedIn } from '../store/session-store.ts'
import type { KeyRow, Role, WorkflowRow } from '../store/store.ts'
import type { Services } from './services.ts'

/** Who sends a request, and what they reach: the holder of a key, or an account that is signed in. */
export type Caller = Pick<KeyRow, 'userId' | 'workspaceId' | 'roles'>

/** An account that is signed in acts in every workspace it is a member of, as its personal keys do. */
export function callerOf({ userId, roles }: SignedIn): Caller {
  return { userId, roles, workspaceId: null }
}

/**
 * The key that a request carries in `X-API-Key`; at once when it is known already, so that the execute endpoint need
 * not wait. Throws (or rejects with) `API_KEY_REQUIRED` or `INVALID_API_KEY`.
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
      'The key in X-API-Key is misspelt or cut: a key is "mrk_" and 36 letters and digits.',
    )
  }
  if (found === undefined) {
    throw new AppError('INVALID_API_KEY', 'The key in X-API-Key is not known here, was revoked, or has expired.')
  }
  return found
}

/** What a caller may do in a workspace; undefined when they cannot even see it. */
export function roleOf({ workspaceId: only, roles }: Caller, workspaceId: string): Role | undefined {
  if (only !== null && only !== workspaceId) return undefined
  // A caller chooses the text: `constructor` is no workspace.
  return Object.hasOwn(roles, workspaceId) ? roles[workspaceId] : undefined
}

/** The ids of the workspaces that a caller can see. */
export function workspacesOf(caller: Caller): string[] {
  return Object.keys(caller.roles).filter((id) => roleOf(caller, id) !== undefined)
}

/** A viewer reads, and no more: a run acts on the world and uses up what the owner pays for. Editor and owner do all. */
export type Need = 'read' | 'write' | 'execute'

/**
 * Refuses what a caller may not do in a workspace. What they cannot see is `NOT_FOUND` with the same words as what does not
 * exist (`what`: "workflow"), so that ids cannot be guessed.
 */
export function assertMay(caller: Caller, workspaceId: string | undefined, need: Need, what: string): void {
  const role = workspaceId === undefined ? undefined : roleOf(caller, workspaceId)
  if (role === undefined) throw new AppError('NOT_FOUND', `There is no ${what} with this id that you can see.`)
  if (need !== 'read' && role === 'viewer') {
    const wanted = need === 'write' ? 'change anything' : 'run workflows'
    throw new AppError('FORBIDDEN', `You may read in this workspace, but not ${wanted}.`)
  }
}

/** A workflow that a caller may read, or write. */
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

/** The same of one that may have been deleted: what its runs left is there until retention, and so is who may see it. */
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
 * The workspace that a request means: the one it names; else the only one that its caller can see; else the only one that
 * belongs to the caller, so that being let into another one's workspace never changes what calls mean.
 * `INVALID_PARAMETERS` when that is not one.
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
      ? 'You see no workspace: perhaps the key was made for one that its account is no member of any more.'
      : `workspaceId must be given, because ${only === undefined ? 'none' : 'more than one'} of the workspaces that you see is yours. GET /api/workspaces lists them.`
  throw new AppError('INVALID_PARAMETERS', 'The workspace must be named.', {
    details: [{ path: 'workspaceId', message }],
  })
}
