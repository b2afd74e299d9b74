import { generateKey } from '../../accounts/keys.ts'
import { hashToken, newToken } from '../../accounts/sessions.ts'
import type { Config } from '../../config.ts'
import { newId } from '../../domain/ids.ts'
import type { WorkflowDocument } from '../../domain/workflow/workflow.ts'
import type { NewKey, UserRow } from '../../store/account-store.ts'
import type { Store } from '../../store/store.ts'
import { CommandError } from '../command.ts'
import { mayHoldInstallation, openStoreForCommand, placeOf, usesPostgres } from './open-store.ts'

/** The result of a first start. Nobody else knows the key and the token, and they cannot be shown again. */
export type NewInstallation = { userId: string; workspaceId: string; apiKey: string; signInToken: string }

/** Creates an owner, a workspace, a key and a deployed sample in one step. Undefined when an installation exists. */
export async function createInstallation(
  store: Store,
  now: number,
  sample?: { id: string; document: WorkflowDocument },
): Promise<NewInstallation | undefined> {
  const userId = newId()
  const workspaceId = newId()
  const key = firstKey(userId, now)
  const signInToken = newToken()
  const made = await store.createInstallation({
    userId,
    email: 'owner@localhost',
    workspaceId,
    workspaceName: 'Default',
    key: key.row,
    signInTokenHash: hashToken(signInToken),
    at: now,
    ...(sample && { sample }),
  })
  return made ? { userId, workspaceId, apiKey: key.text, signInToken } : undefined
}

/**
 * Completes an installation whose first start was interrupted before it could show its key: creates another key and
 * another link. Undefined, without changes, when there is no such installation.
 */
export async function renewInstallation(
  store: Store,
  now: number,
  sample?: WorkflowDocument,
): Promise<(NewInstallation & { sampleId: string | null }) | undefined> {
  const { row, text } = firstKey('', now)
  const signInToken = newToken()
  const renewed = await store.renewInstallation({ key: row, signInTokenHash: hashToken(signInToken), sample, at: now })
  return renewed && { ...renewed, apiKey: text, signInToken }
}

/** Opens the installation for one command, and always closes it afterwards. */
export async function withInstallation<Result>(
  config: Config,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const place = placeOf(config)
  const hint = usesPostgres(config)
    ? 'Create one: millrace init. Use --store or MILLRACE_STORE for another database.'
    : `Create one: millrace init --data ${config.data}. Use --data or MILLRACE_DATA for another folder.`
  if (!(await mayHoldInstallation(config))) throw new CommandError(`There is no installation in ${place}.`, hint)
  const store = await openStoreForCommand(config)
  try {
    if (!(await store.isInitialised())) throw new CommandError(`The installation in ${place} is empty.`, hint)
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The account that a command line names by its ID or e-mail; the installation's owner when it names none. */
export async function accountOf(store: Store, named: string | undefined): Promise<UserRow> {
  const [first] = named === undefined ? await store.listUsers() : [await store.findUser(named)]
  if (first) return first
  throw new CommandError(`Unknown account ${named}.`, 'List all accounts: millrace users list')
}

/** The first key of a new account: its row, and the text that is shown once. */
export function firstKey(userId: string, createdAt: number): { row: NewKey; text: string } {
  const { hash, lastFour, text } = generateKey()
  const row = { id: newId(), hash, lastFour, name: 'First key', userId, workspaceId: null, createdAt, expiresAt: null }
  return { row, text }
}
