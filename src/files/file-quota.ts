import type { Clock } from '../domain/clock.ts'
import { AppError } from '../domain/errors.ts'
import type { FileOwner } from '../domain/run/file.ts'

/** The number of stored files, and their bytes. */
export type FileUsage = { files: number; bytes: number }

export type FileQuotaOptions = {
  /** The stored files of a workspace whose runs are in the log, until they are deleted. */
  getFileUsage(workspaceId: string): Promise<FileUsage>
  filesMax: number
  bytesMax: number
  clock: Clock
}

/**
 * Limits the stored files of each workspace. The log knows the files of recorded runs; its sums are read when a
 * workspace stores its first file, again after files were deleted, and every hour. The files of runs that are not
 * recorded yet are counted here. A crash forgets these: such files are deleted, or counted when their run is recorded.
 */
export class FileQuota {
  readonly #options: FileQuotaOptions
  /** Workspaces that stored files. */
  readonly #workspaces = new Map<string, Workspace>()

  constructor(options: FileQuotaOptions) {
    this.#options = options
  }

  /** Counts a file that is about to be stored. Rejects with PAYLOAD_TOO_LARGE, or with the store's errors. */
  async take({ workspaceId, executionId }: FileOwner, bytes: number): Promise<void> {
    const { filesMax, bytesMax, clock } = this.#options
    const workspace = this.#of(workspaceId)
    if (clock.now() >= workspace.freshUntil) {
      workspace.reading ??= this.#read(workspaceId, workspace)
      await workspace.reading
    }
    const { recorded, pending, runs } = workspace
    if (recorded.files + pending.files + 1 > filesMax) {
      throw tooLarge(`The workspace has ${filesMax} stored files, the most that MILLRACE_WORKSPACE_FILES_MAX allows.`)
    }
    if (recorded.bytes + pending.bytes + bytes > bytesMax) {
      const limit = `${bytesMax} bytes, the most that MILLRACE_WORKSPACE_FILE_BYTES allows`
      throw tooLarge(`With this file, the stored files of the workspace would exceed ${limit}.`)
    }
    const run = runs.get(executionId) ?? { files: 0, bytes: 0 }
    runs.set(executionId, run)
    for (const usage of [run, pending]) add(usage, { files: 1, bytes })
  }

  /** Stops counting a file that could not be stored. */
  failed({ workspaceId, executionId }: FileOwner, bytes: number): void {
    const { pending, runs } = this.#of(workspaceId)
    const run = runs.get(executionId)
    if (run) for (const usage of [run, pending]) add(usage, { files: -1, bytes: -bytes })
  }

  /** The log entry of a run is on disk. Its files stay. */
  recorded({ workspaceId, executionId }: Omit<FileOwner, 'workflowId'>): void {
    const workspace = this.#of(workspaceId)
    const run = this.#forget(workspace, executionId)
    // Without `run`, an earlier process stored the files. A sum being read may or may not include them.
    if (run && !workspace.reading) add(workspace.recorded, run)
    else outdate(workspace)
  }

  /** The files of a run have been deleted. */
  deleted({ workspaceId, executionId }: Omit<FileOwner, 'workflowId'>): void {
    const workspace = this.#of(workspaceId)
    if (!this.#forget(workspace, executionId)) outdate(workspace)
  }

  /** Other processes may store and delete files, too: sums become outdated sooner. Call it every second. */
  refresh(): void {
    const until = this.#options.clock.now() + freshWithOthersMs
    for (const workspace of this.#workspaces.values()) workspace.freshUntil = Math.min(workspace.freshUntil, until)
  }

  #of(workspaceId: string): Workspace {
    let workspace = this.#workspaces.get(workspaceId)
    if (!workspace) {
      const none = () => ({ files: 0, bytes: 0 })
      workspace = { recorded: none(), pending: none(), runs: new Map(), freshUntil: 0, changes: 0, reading: undefined }
      this.#workspaces.set(workspaceId, workspace)
    }
    return workspace
  }

  async #read(workspaceId: string, workspace: Workspace): Promise<void> {
    try {
      let changes: number
      let recorded: FileUsage
      do {
        changes = workspace.changes
        recorded = await this.#options.getFileUsage(workspaceId)
      } while (changes !== workspace.changes)
      workspace.recorded = recorded
      workspace.freshUntil = this.#options.clock.now() + freshMs
    } finally {
      workspace.reading = undefined
    }
  }

  #forget(workspace: Workspace, executionId: string): FileUsage | undefined {
    const run = workspace.runs.get(executionId)
    if (!run) return undefined
    workspace.runs.delete(executionId)
    add(workspace.pending, { files: -run.files, bytes: -run.bytes })
    return run
  }
}

type Workspace = {
  /** The files of recorded runs. */
  recorded: FileUsage
  /** The files of `runs` together. */
  pending: FileUsage
  /** By execution ID: runs of this process that are not recorded yet. */
  runs: Map<string, FileUsage>
  /** When `recorded` must be read again. Epoch milliseconds. */
  freshUntil: number
  /** Counts the changes that make a sum wrong while it is being read. */
  changes: number
  reading: Promise<void> | undefined
}

const freshMs = 3_600_000
const freshWithOthersMs = 30_000

function add(usage: FileUsage, { files, bytes }: FileUsage): void {
  usage.files += files
  usage.bytes += bytes
}

function outdate(workspace: Workspace): void {
  workspace.changes += 1
  workspace.freshUntil = 0
}

function tooLarge(message: string): AppError {
  return new AppError('PAYLOAD_TOO_LARGE', message)
}
