import type { RequestClaim } from './claim.ts'
import type { JobFacts, NewJob } from './job.ts'

/** `wait`: for a time. `approval`: for a person. `call`: for a request from another service. */
export const pauseKinds = ['wait', 'approval', 'call'] as const
export type PauseKind = (typeof pauseKinds)[number]

/** `answered`: by a person or a program. `expired`: its time came. `cancelled`: its run ended without it. */
export const pauseStates = ['open', 'answered', 'expired', 'cancelled'] as const
export type PauseState = (typeof pauseStates)[number]

/** A block at which a run stops until something happens. Times are in epoch milliseconds. */
export type NewPause = {
  /** Unguessable, and the same each time the block runs in this place of the run. */
  contextId: string
  /** The block's place in the run, unique in it. */
  place: string
  blockId: string
  blockName: string
  kind: PauseKind
  since: number
  /** When it ends by itself; null: never. */
  until: number | null
  /** The facts that the block needs again, encrypted; null for none. */
  content: Uint8Array | null
}

/** A pause on disk. `answer` is encrypted. */
export type StoredPause = NewPause & {
  executionId: string
  workflowId: string
  workspaceId: string
  state: PauseState
  endedAt: number | null
  answer: Uint8Array | null
}

/** How a pause ends. */
export type PauseEnd = {
  contextId: string
  state: Exclude<PauseState, 'open'>
  at: number
  answer: Uint8Array | null
}

/** `job`: the paused run, which now continues; null when it is still running, or has ended. */
export type EndedPause = { pause: StoredPause; isEndedNow: boolean; job: JobFacts | null }

/** Pauses whose time has come. `nextAt`: when the next one ends; null for never. */
export type DuePauses = { jobs: JobFacts[]; nextAt: number | null }

/** A part of the open pauses of a workspace, oldest first. `after`: the number of the last one before it. */
export type PausePage = { workspaceId: string; workflowId: string | undefined; after: number; limit: number }
export type ListedPause = StoredPause & { number: number; workflowName: string }

/**
 * A run that pauses. `accepts`: set when it is not an asynchronous run yet, with the steps that it has recorded and the
 * claim of its request. A run continues at once when one of its pauses has ended in the meantime.
 */
export type PauseWrite = {
  kind: 'job-pause'
  executionId: string
  at: number
  pauses: readonly NewPause[]
  accepts?: { row: NewJob; steps: readonly Uint8Array[]; claim?: RequestClaim }
}
