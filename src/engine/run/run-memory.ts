import { AppError } from '../../domain/errors.ts'
import { limitSettings } from '../../domain/limits.ts'

/** A run that holds values. */
export type MemoryHolder = Readonly<{ executionId: string; workspaceId: string }>

export type RunMemoryOptions = { bytesMax: number; shareFactor: number }

/**
 * Limits the memory for the values of all runs together. Only runs that hold more than `uncountedBytes` are counted, so
 * ordinary runs are never affected.
 *
 * A workspace may take more while it holds less than `shareFactor` times the free memory: with the factor 4, a lone
 * workspace gets 80 %. The oldest counted run of a workspace may always go on, so that runs end and free their memory.
 * Any other run stops before its next block when the workspace has its share: an asynchronous run is suspended and
 * resumes later, a synchronous one waits. User code and responses to requests also wait. The service's own large
 * responses count like runs until they are read.
 */
export class RunMemory {
  readonly #bytesMax: number
  readonly #factor: number
  readonly #workspaces = new Map<string, Workspace>()
  #bytes = 0
  readonly #onFree: ((bytes: number) => void)[] = []

  constructor({ bytesMax, shareFactor }: RunMemoryOptions) {
    this.#bytesMax = bytesMax
    this.#factor = shareFactor
  }

  /** The bytes of all counted runs. */
  get bytes(): number {
    return this.#bytes
  }

  /** Adds a callback for when memory becomes free. */
  onFree(callback: (bytes: number) => void): void {
    this.#onFree.push(callback)
  }

  /** Whether the workspace may take more, after a run of it has taken `bytes`. */
  hasRoom(workspaceId: string, bytes = 0): boolean {
    const held = this.#workspaces.get(workspaceId)?.bytes ?? 0
    return held === 0 || held + bytes < this.#factor * (this.#bytesMax - this.#bytes - bytes)
  }

  /** Whether a run that is in flight may take more. */
  mayGrow({ executionId, workspaceId }: MemoryHolder): boolean {
    return this.hasRoom(workspaceId) || this.#workspaces.get(workspaceId)?.runs.keys().next().value === executionId
  }

  /** The bytes that a run is counted with. */
  heldBy({ executionId, workspaceId }: MemoryHolder): number {
    return this.#workspaces.get(workspaceId)?.runs.get(executionId) ?? 0
  }

  /** Counts a run with at least this many bytes until `release`. */
  hold({ executionId, workspaceId }: MemoryHolder, bytes: number): void {
    if (bytes <= uncountedBytes) return
    const workspace = this.#workspaces.get(workspaceId) ?? { bytes: 0, runs: new Map<string, number>() }
    const more = bytes - (workspace.runs.get(executionId) ?? 0)
    if (more <= 0) return
    this.#workspaces.set(workspaceId, workspace)
    workspace.runs.set(executionId, bytes)
    workspace.bytes += more
    this.#bytes += more
  }

  /** To be called when the run has ended and its log entry is written, or when it is suspended. */
  release({ executionId, workspaceId }: MemoryHolder): void {
    const workspace = this.#workspaces.get(workspaceId)
    const bytes = workspace?.runs.get(executionId)
    if (!workspace || bytes === undefined) return
    workspace.runs.delete(executionId)
    if (workspace.runs.size === 0) this.#workspaces.delete(workspaceId)
    workspace.bytes -= bytes
    this.#bytes -= bytes
    for (const callback of this.#onFree) callback(bytes)
  }

  /** Why a run may not go on. */
  refusal(holder: MemoryHolder): CrowdedOut {
    const message =
      `The runs in progress hold almost all of the ${this.#bytesMax} bytes that ${limitSettings.runsBytesMax} allows ` +
      'for their values together. Try again when some of them have ended.'
    return new CrowdedOut(message, this.heldBy(holder))
  }
}

/** A run was stopped because all runs together hold too much. */
export class CrowdedOut extends AppError {
  /** The memory that the run held, and will hold again when it resumes. */
  readonly bytes: number

  constructor(message: string, bytes: number) {
    super('OVERLOADED', message, { retryAfterS: 5 })
    this.bytes = bytes
  }
}

/** `runs`: the bytes of each counted run, the oldest one first. */
type Workspace = { bytes: number; runs: Map<string, number> }

/** A run that holds no more than this is not counted. */
export const uncountedBytes = 1_048_576
