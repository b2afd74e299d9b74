import { existsSync } from 'node:fs'
import { generateKey } from '../accounts/keys.ts'
import type { Config } from '../config.ts'
import { newId } from '../domain/ids.ts'
import { databasePath } from '../store/sqlite/open.ts'
import { openSqliteStore } from '../store/sqlite/sqlite-store.ts'
import type { Store } from '../store/store.ts'
import { CommandError } from './command.ts'

/** What the first start made. The key and the token are known to nobody else, and never again. */
export type NewInstallation = { userId: string; workspaceId: string; apiKey: string; signInToken: string }

/** Makes owner, workspace and key. Undefined, and nothing changed, when there is an installation already. */
export async function createInstallation(store: Store, now: number): Promise<NewInstallation | undefined> {
  const userId = newId()
  const workspaceId = newId()
  const key = generateKey()
  const signInToken = Buffer.from(crypto.getRandomValues(new Uint8Array(32))).toString('base64url')
  const made = await store.createInstallation({
    userId,
    email: 'owner@localhost',
    workspaceId,
    workspaceName: 'Default',
    key: {
      id: newId(),
      hash: key.hash,
      lastFour: key.lastFour,
      name: 'First key',
      userId,
      workspaceId: null,
      createdAt: now,
      expiresAt: null,
    },
    signInTokenHash: new Bun.CryptoHasher('sha256').update(signInToken).digest(),
    at: now,
  })
  return made ? { userId, workspaceId, apiKey: key.text, signInToken } : undefined
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

/** The account that commands act for when none is named: the first one, whose key was made first. */
export async function ownerOf(store: Store): Promise<string> {
  const keys = await store.listKeys()
  const first = keys.toSorted((a, b) => a.createdAt - b.createdAt)[0]
  if (!first) throw new CommandError('The installation has no account with a key.')
  return first.userId
}
