import { existsSync, readdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { keyFileName } from '../../accounts/key-file.ts'
import { databaseName } from '../../store/sqlite/open.ts'
import { syncFolder } from '../../sync-folder.ts'
import { filesName } from './contents.ts'

/** The parts of an installation. The database comes last, because it makes the folder an installation. */
export const installationParts = [filesName, keyFileName, databaseName] as const

/** The names of the drafts of a restore in the data folder begin with this. */
export const draftPrefix = '.restore-'

/** The file in a draft that lists the parts on their way into the data folder. */
const listName = 'placing'

/** Moves the parts of a checked draft into a data folder that contains none of them. */
export async function putInPlace(draft: string, data: string): Promise<void> {
  const there = installationParts.filter((part) => existsSync(join(draft, part)))
  writeFileSync(join(draft, listName), there.join('\n'), { mode: 0o600, flush: true })
  await syncFolder(draft)
  for (const part of there) renameSync(join(draft, part), join(data, part))
  await syncFolder(data)
}

/** Whether a data folder has a database. An interrupted first start leaves an empty one, which is no installation. */
export function hasDatabase(data: string): boolean {
  return !!statSync(join(data, databaseName), { throwIfNoEntry: false })?.size
}

/**
 * Moves parts back into their draft when a restore ended before all of them were in place. A part belongs to the
 * restore if the list has it and the draft does not: the restore found no such part in the data folder when it began.
 * Once the data folder has a database, also of a service that was started meanwhile, its parts stay.
 */
export function takeBackParts(data: string): void {
  if (hasDatabase(data)) return
  for (const name of readdirSync(data)) {
    if (!name.startsWith(draftPrefix)) continue
    const draft = join(data, name)
    if (!existsSync(join(draft, listName))) continue
    for (const part of readFileSync(join(draft, listName), 'utf8').split('\n')) {
      const isPart = installationParts.some((known) => known === part)
      if (isPart && !existsSync(join(draft, part)) && existsSync(join(data, part)))
        renameSync(join(data, part), join(draft, part))
    }
  }
}
