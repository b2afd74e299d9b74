import { realpath } from 'node:fs/promises'
import { basename, dirname, isAbsolute, join, sep } from 'node:path'
import { DatabaseError } from '../../domain/database/database.ts'

export type SqliteFolders = {
  /** Files below these folders may be opened. */
  allowed: readonly string[]
  /** The data folder of the service. No file below it may be opened. */
  data: string | undefined
}

/** The path of a file without symbolic links. Throws `DatabaseError` when it is not below an allowed folder. */
export async function sqlitePath(written: string, { allowed, data }: SqliteFolders): Promise<string> {
  if (allowed.length === 0) {
    throw refused('This service opens no SQLite files. Its operator can name folders in MILLRACE_SQLITE_FOLDERS.')
  }
  if (!isAbsolute(written) || written.includes('\0')) {
    throw refused('The database of the credential must be the whole path of a file, such as /srv/data/shop.db.')
  }
  const path = await realPath(written)
  const folders = await Promise.all(allowed.map(realFolder))
  const isAllowed = folders.some((folder) => folder !== undefined && isBelow(path, folder))
  const own = data === undefined ? undefined : await realFolder(data)
  if (isAllowed && !(own !== undefined && isBelow(path, own))) return path
  throw refused('The file of the credential is not below a folder of MILLRACE_SQLITE_FOLDERS.')
}

/** A file that does not exist is created, in a folder that must exist. */
async function realPath(written: string): Promise<string> {
  try {
    return await realpath(written)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT')
      throw refused('The file of the credential cannot be opened.')
  }
  const folder = await realFolder(dirname(written))
  if (folder === undefined) throw refused('The folder of the file of the credential does not exist.')
  return join(folder, basename(written))
}

async function realFolder(folder: string): Promise<string | undefined> {
  return await realpath(folder).catch(() => undefined)
}

const isBelow = (path: string, folder: string) => path.startsWith(folder.endsWith(sep) ? folder : folder + sep)

const refused = (message: string) => new DatabaseError('ADDRESS_REFUSED', message)
