import { join } from 'node:path'
import type { Clock } from '../domain/clock.ts'
import { messageOf } from '../domain/errors.ts'
import type { RunRecord } from '../domain/run/log.ts'
import type { Store } from '../store/store.ts'
import { createDiskStorage } from './disk.ts'
import { FileQuota } from './file-quota.ts'
import { FileSweep, type FileSweepOptions } from './file-sweep.ts'
import { Files } from './files.ts'
import { createS3Storage } from './s3.ts'
import { type SignedParts, UrlSigner } from './signed-url.ts'
import { Spool } from './spool.ts'

/** The settings that concern files. */
export type FileSettings = {
  /** The data folder. */
  data: string
  /** `full`: an acknowledged file survives a power cut. */
  sync: 'full' | 'normal'
  fileUrlTtlS: number
  /** If set, files are stored in this bucket. */
  s3Bucket?: string | undefined
  s3Endpoint?: string | undefined
  s3Region?: string | undefined
  s3ForcePathStyle: boolean
  s3Prefix?: string | undefined
  s3PublicEndpoint?: string | undefined
  workspaceFilesMax: number
  workspaceFileBytes: number
}

export type FilesOptions = {
  settings: FileSettings
  /** The keys that sign URLs: the current one and older ones. `make`: create a key if there is none. */
  keys(make: boolean): readonly Uint8Array[]
  baseUrl(): string
  store: FileSweepOptions['store'] & Pick<Store, 'getFileUsage'>
  clock: Clock
  /** See `FileSweep`. */
  isLeader(): boolean
  logger: { error(message: string, facts: Record<string, unknown>): void }
}

/** Opens everything that concerns files. Removes partial uploads of an earlier process. */
export function openFiles({ settings, keys, baseUrl, store, clock, isLeader, logger }: FilesOptions) {
  const { data, sync, fileUrlTtlS } = settings
  const isDurable = sync === 'full'
  const root = join(data, 'files')
  const signer = new UrlSigner(keys, baseUrl)
  const spool = new Spool(join(root, '.incoming'), { isDurable })
  spool.clear()
  const storage = bucketOf(settings, clock.now) ?? createDiskStorage({ root, signer, isDurable })
  const quota = new FileQuota({
    getFileUsage: (workspaceId) => store.getFileUsage(workspaceId),
    filesMax: settings.workspaceFilesMax,
    bytesMax: settings.workspaceFileBytes,
    clock,
  })
  const files = new Files({ storage, spool, quota, clock, urlTtlS: fileUrlTtlS })
  const onFailure = (error: unknown) =>
    logger.error('files of old runs could not be deleted', { reason: messageOf(error) })
  const onDeleted = (folder: string) => {
    const [workspaceId = '', , executionId = ''] = folder.split('/')
    quota.deleted({ workspaceId, executionId })
  }
  const sweep = new FileSweep({ store, storage, onDeleted, clock, isLeader, onFailure })
  const served = { verify: (parts: SignedParts) => signer.verify(parts, clock.now()), read: storage.read }
  return {
    receive: files.receive,
    receiveForm: files.receiveForm,
    remove: files.remove,
    /** The log entry of a run is on disk. */
    recorded(run: RunRecord): void {
      if (run.files?.some(({ key }) => key !== null)) quota.recorded(run)
    },
    /** Other processes store files, too: see `FileQuota`. */
    refreshQuota: () => quota.refresh(),
    freshen: files.freshen,
    freshenAt: files.freshenAt,
    /** The capabilities for runs. */
    power: { store: files.store, read: files.read, open: files.open, hold: files.hold, drafts: files.drafts },
    /** The files that the service serves under its own URLs. */
    served: settings.s3Bucket === undefined ? served : undefined,
    stop: () => sweep.stop(),
  }
}

export type OpenFiles = ReturnType<typeof openFiles>

type BucketSettings = Pick<FileSettings, Extract<keyof FileSettings, `s3${string}`>>

/** The bucket in the settings; undefined when none is set. */
export function bucketOf(settings: BucketSettings, now: () => number) {
  const { s3Bucket, s3Endpoint, s3Region, s3ForcePathStyle, s3Prefix, s3PublicEndpoint } = settings
  if (s3Bucket === undefined) return undefined
  const prefix = s3Prefix?.replace(/^\/+|\/+$/g, '') ?? ''
  return createS3Storage({
    bucket: s3Bucket,
    endpoint: s3Endpoint,
    region: s3Region,
    forcePathStyle: s3ForcePathStyle,
    prefix: prefix === '' ? '' : `${prefix}/`,
    publicEndpoint: s3PublicEndpoint,
    now,
  })
}
