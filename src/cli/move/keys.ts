import { existsSync, readFileSync } from 'node:fs'
import { copyFile, mkdir, open, rename } from 'node:fs/promises'
import { keyPath } from '../../accounts/key-file.ts'
import { SecretBox, settingDecrypts } from '../../accounts/secret-box.ts'
import { syncFolder } from '../../sync-folder.ts'
import { CommandError } from '../command.ts'
import type { Side } from './sides.ts'

type Sides = { from: Side; to: Side }

/**
 * Throws `CommandError` unless a service on the target can decrypt what is sealed in the source. A database holds no
 * key, so there the setting has to be enough.
 */
export function assertDecrypts(
  { from, to }: Sides,
  { secretKey, heads }: { secretKey: string | undefined; heads: readonly Uint8Array[] },
): void {
  const keyFile = from.kind === 'sqlite' ? keyPath(from.folder) : undefined
  if (to.kind === 'postgres') {
    if (secretKey !== undefined && settingDecrypts(secretKey, heads)) return
    const problem =
      secretKey === undefined
        ? 'MILLRACE_SECRET_KEY is not set. With PostgreSQL, it has to hold the key of stored secrets.'
        : 'MILLRACE_SECRET_KEY does not decrypt the stored secrets. With PostgreSQL, it has to hold their key.'
    throw new CommandError(`${problem} Nothing was changed.`, adviceFor(keyFile))
  }
  if (from.kind === 'sqlite') assertSameKeyFile(keyPath(from.folder), keyPath(to.folder))
  // The key file moves from folder to folder.
  const directory = from.kind === 'sqlite' ? from.folder : to.folder
  const box = new SecretBox([], { directory, secretKey, heads })
  if (heads.every((head) => box.knows(head))) return
  throw new CommandError(
    'The keys at hand do not decrypt the stored secrets. Nothing was changed.',
    `Set MILLRACE_SECRET_KEY as for the service on ${from.name}.`,
  )
}

/** Copies the key file of one data folder to another one. */
export async function moveKeyFile({ from, to }: Sides): Promise<void> {
  if (from.kind !== 'sqlite' || to.kind !== 'sqlite') return
  const [here, there] = [keyPath(from.folder), keyPath(to.folder)]
  if (!existsSync(here) || existsSync(there)) return
  await mkdir(to.folder, { recursive: true, mode: 0o700 })
  const draft = `${there}.${crypto.randomUUID()}`
  await copyFile(here, draft)
  const file = await open(draft, 'r')
  await file.sync().finally(() => file.close())
  await rename(draft, there)
  await syncFolder(to.folder)
}

function adviceFor(keyFile: string | undefined): string {
  if (keyFile === undefined || !existsSync(keyFile)) return 'Set it as for the service that you move from.'
  return (
    `Set it to the key in ${keyFile}, for this command and for the service:\n` +
    `export MILLRACE_SECRET_KEY="$(paste -sd, '${keyFile}')"`
  )
}

function assertSameKeyFile(here: string, there: string): void {
  if (!existsSync(there)) return
  if (existsSync(here) && readFileSync(here, 'utf8') === readFileSync(there, 'utf8')) return
  throw new CommandError(`${there} already exists, with another key. Nothing was changed.`, 'Move to another folder.')
}
