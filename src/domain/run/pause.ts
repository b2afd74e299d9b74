import type { PauseEvent } from '../webhook/run-event.ts'
import type { WebhookAuthentication } from '../webhook/webhook-trigger.ts'
import type { FormField } from '../workflow/form.ts'
import type { RequestClaim } from './claim.ts'
import type { JobFacts, NewJob } from './job.ts'

/** `wait`: for a time. `approval`: for a person. `call`: for a request from another service. */
export const pauseKinds = ['wait', 'approval', 'call'] as const
export type PauseKind = (typeof pauseKinds)[number]

/** `answered`: by a person or a program. `expired`: its time was over. `cancelled`: its run ended before. */
export const pauseStates = ['open', 'answered', 'expired', 'cancelled'] as const
export type PauseState = (typeof pauseStates)[number]

/** How long an ended pause is kept. After that, an answer gets 404. */
export const endedPauseMs = 30 * 86_400_000

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
  /** The interval of reminders: the blocks behind the handle `notify` run again. Absent: no reminders. */
  remindEveryMs?: number
  /** How many reminders have been due so far; absent: 0. */
  reminders?: number
  /** Set when an earlier write has opened the pause. */
  isOpened?: true
}

/** Who may answer a pause: anyone with its link, members of the workspace who may run workflows, or named accounts. */
export const pauseAccesses = ['link', 'members', 'accounts'] as const
export type PauseAccess = (typeof pauseAccesses)[number]

/** The facts of an approval or a call that are kept until it ends. */
export type PauseContent = {
  title: string
  message: string
  fields: readonly FormField[]
  access: PauseAccess
  /** E-mail addresses, for `accounts`. */
  accounts: readonly string[]
  /** How many people must agree. */
  required: number
  /** For a call: how the caller is verified. Absent when its address is enough. */
  authentication?: WebhookAuthentication
}

/** The content of a pause that asks people for nothing. */
export const nothingAsked: PauseContent = {
  ...{ title: '', message: '', fields: [], access: 'link', accounts: [], required: 1 },
}

/** An answer of a person or a program. `by`: an account's e-mail, or null for someone with the link. */
export type PauseAnswer = {
  approved: boolean
  by: string | null
  /** Epoch milliseconds. */
  at: number
  fields: Readonly<Record<string, unknown>>
  /** For a call: the body, headers and query of the request. */
  data?: unknown
  headers?: Readonly<Record<string, string>>
  query?: Readonly<Record<string, string>>
}

/** The addresses at which a pause is answered: a page for people, and an address for programs. */
export type PauseLinks = { url: string; callbackUrl: string }

/** The most reminders of a pause. */
export const remindersMax = 100

/** The first time that a new pause is due, to end or for a reminder; null: never. */
export function firstDueAt({ since, until, remindEveryMs }: NewPause): number | null {
  const remindAt = remindEveryMs === undefined ? null : since + remindEveryMs
  return until === null || remindAt === null ? (until ?? remindAt) : Math.min(until, remindAt)
}

/** An open pause, as the blocks that run before it can read it. */
export type OpenPause = PauseLinks & { id: string }

/** A pause that a block asks for. */
export type PauseRequest = {
  kind: Exclude<PauseKind, 'wait'>
  /** When it ends by itself (epoch milliseconds); null: never. */
  until: number | null
  content: PauseContent
  /** Tells several pauses of one block apart. */
  within?: string
  remindEveryMs?: number | undefined
  /** Called for each reminder that was due, numbered from 1. `isOver`: the pause has ended, so nothing new is sent. */
  reminded?(number: number, isOver: boolean): void
  /** Called when the pause is on disk, with the outputs of the block until it ends. */
  opened(pause: OpenPause): void
}

/** `answers`: in their order; none when it has expired. */
export type PauseOutcome = { pause: OpenPause; isExpired: boolean; endedAt: number; answers: readonly PauseAnswer[] }

/** The period of a pause. `endedAt`: null while it is open. */
type Interval = { since: number; endedAt: number | null }

/** How long at least one of these pauses was open until `at`. Undefined without pauses. */
export function pausedMsOf(pauses: readonly Interval[], at: number): number | undefined {
  if (pauses.length === 0) return undefined
  let [sum, until] = [0, Number.NEGATIVE_INFINITY]
  for (const { since, endedAt } of pauses.toSorted((one, other) => one.since - other.since)) {
    const end = Math.min(endedAt ?? at, at)
    sum += Math.max(0, end - Math.max(since, until))
    until = Math.max(until, end)
  }
  return sum
}

/** A pause on disk. `answer`: the encrypted list of its answers. */
export type StoredPause = NewPause & {
  executionId: string
  workflowId: string
  workspaceId: string
  state: PauseState
  endedAt: number | null
  answer: Uint8Array | null
  reminders: number
  /** Whether a webhook event has announced its end. */
  isAnnounced: boolean
}

/**
 * How a pause ends, or gets one of several answers and stays open. `after`: the answer that it had before; without it,
 * any.
 */
export type PauseEnd = {
  contextId: string
  state: PauseState
  after?: Uint8Array | null
  at: number
  answer: Uint8Array | null
}

/** `job`: the paused run, which now continues; null when it is still running, or has ended. */
export type EndedPause = { pause: StoredPause; isEndedNow: boolean; job: JobFacts | null }

/** Runs whose pauses have ended or have reminders due. `nextAt`: when the next pauses are due; null: never. */
export type DuePauses = { jobs: JobFacts[]; nextAt: number | null }

/** A part of the open pauses of a workspace, oldest first. `after`: the number of the last one before it. */
export type PausePage = {
  workspaceId: string
  workflowId: string | undefined
  kind?: PauseKind | undefined
  after: number
  limit: number
}
export type ListedPause = StoredPause & { number: number; workflowName: string }

/** A query for the number of open pauses in a workspace. The store counts at most the oldest `max` of each kind. */
export type PauseCountQuery = { workspaceId: string; workflowId: string | undefined; max: number }

/** The number of open pauses of one kind: at one block of the workflow in the query, or in the whole workspace. */
export type PauseCount = { blockId: string | null; kind: PauseKind; count: number }

/**
 * The block of the run's own workflow at which it waits. In a called workflow, and in a tool of an agent, it is the
 * block that leads there. See `placeOf` in engine/run/block-context.ts.
 */
export function outerBlockOf({ place, blockId }: Pick<NewPause, 'place' | 'blockId'>): string {
  return place.split('/', 2)[1] || blockId
}

/**
 * A run that pauses. `accepts`: set when it is not an asynchronous run yet, with the steps that it has recorded and the
 * claim of its request. A run continues at once when one of its pauses has ended in the meantime.
 */
export type PauseWrite = {
  kind: 'job-pause'
  executionId: string
  at: number
  pauses: readonly NewPause[]
  /** The run goes on: other blocks of it still work. */
  goesOn?: true
  event?: PauseEvent
  accepts?: { row: NewJob; steps: readonly Uint8Array[]; claim?: RequestClaim }
}
