import { existsSync } from 'node:fs'
import { generateKey } from '../accounts/keys.ts'
import { hashToken, newToken } from '../accounts/sessions.ts'
import type { Config } from '../config.ts'
import { newId } from '../domain/ids.ts'
import type { WorkflowDocument } from '../domain/workflow.ts'
import { databasePath } from '../store/sqlite/open.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { NewKey, Store, UserRow } from '../store/store.ts'
import { CommandError } from './command.ts'

/** What the first start made. The key and the token are known to nobody else, and never again. */
export type NewInstallation = { userId: string; workspaceId: string; apiKey: string; signInToken: string }

/** Makes owner, workspace and key, and deploys a sample, all in one step. Undefined, and nothing changed, when there is an installation already. */
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
 * The same for an installation whose first start was cut before anybody could read its key: with another key, and another
 * link. Undefined, and nothing changed, when there is none.
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

/** Opens the installation in the data folder for one command, and closes it afterwards, whatever happens. */
export async function withInstallation<Result>(
  config: Config,
  work: (store: Store) => Promise<Result>,
): Promise<Result> {
  const hint = `Make one: millrace init --data ${config.data}. Name another folder with --data or MILLRACE_DATA.`
  if (!existsSync(databasePath(config.data)))
    throw new CommandError(`There is no installation in ${config.data}.`, hint)
  const store = await openSqliteStore({ directory: config.data, sync: config.sync, mode: 'direct' })
  try {
    if (!(await store.isInitialised())) throw new CommandError(`The installation in ${config.data} is empty.`, hint)
    return await work(store)
  } finally {
    await store.close()
  }
}

/** The account that a command line names by its id or e-mail, or the installation's owner when it names none. */
export async function accountOf(store: Store, named: string | undefined): Promise<UserRow> {
  const [first] = named === undefined ? await store.listUsers() : [await store.findUser(named)]
  if (first) return first
  throw new CommandError(`There is no account ${named}.`, 'All of them: millrace users list')
}

/** A new first key of a new account, and how it is shown this once. */
export function firstKey(userId: string, createdAt: number): { row: NewKey; text: string } {
  const { hash, lastFour, text } = generateKey()
  const row = { id: newId(), hash, lastFour, name: 'First key', userId, workspaceId: null, createdAt, expiresAt: null }
  return { row, text }
}
