import { join } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import { createDiskStorage } from './disk.ts'
import { FileSweep, type FileSweepOptions } from './file-sweep.ts'
import { Files } from './files.ts'
import { type SignedParts, UrlSigner } from './signed-url.ts'
import { Spool } from './spool.ts'

/** The settings that files know. */
export type FileSettings = {
  /** The data folder. */
  data: string
  /** `full`: a file that was acknowledged survives a power cut. */
  sync: 'full' | 'normal'
  fileUrlTtlS: number
}

export type FilesOptions = {
  settings: FileSettings
  /** What URLs are signed with: the first, and those before it. `make`: there has to be one. */
  keys(make: boolean): readonly Uint8Array[]
  baseUrl(): string
  store: FileSweepOptions['store']
  clock: Clock
  logger: { error(message: string, facts: Record<string, unknown>): void }
}

/** Everything about files, ready for use. What an earlier process left half received is gone. */
export function openFiles({ settings, keys, baseUrl, store, clock, logger }: FilesOptions) {
  const { data, sync, fileUrlTtlS } = settings
  const isDurable = sync === 'full'
  const root = join(data, 'files')
  const signer = new UrlSigner(keys, baseUrl)
  const spool = new Spool(join(root, '.incoming'), { isDurable })
  spool.clear()
  const storage = createDiskStorage({ root, signer, isDurable })
  const files = new Files({ storage, spool, clock, urlTtlS: fileUrlTtlS })
  const onFailure = (error: unknown) =>
    logger.error('files of old runs could not be deleted', { reason: messageOf(error) })
  const sweep = new FileSweep({ store, storage, clock, onFailure })
  return {
    receive: files.receive,
    freshen: files.freshen,
    /** For runs. */
    power: { store: files.store, read: files.read },
    /** What the service serves under URLs of its own. */
    served: {
      verify: (parts: SignedParts) => signer.verify(parts, clock.now()),
      read: storage.read,
    },
    stop: () => sweep.stop(),
  }
}
