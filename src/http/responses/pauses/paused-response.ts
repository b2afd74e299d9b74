import { type NewPause, outerBlockOf, type PauseLinks, type StoredPause } from '../../../domain/run/pause.ts'
import type { AskedPause } from '../../../engine/jobs/pause-answers.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { Paused } from '../../../engine/run/run-pauses.ts'
import { fieldFacts } from '../forms/form-facts.ts'
import { isoTime } from '../schema-parts.ts'
import type {
  AskedFacts,
  ListedPause,
  PauseDetail,
  PausedExecution,
  PausedResponse,
  PauseFacts,
} from './pause-schemas.ts'

/** The 202 response for a run that is paused, and continues without its caller. */
export function pausedResponse(end: RunEnd, headers: Record<string, string>, more: object = {}): Response {
  const facts = pausedFacts(end)
  headers['location'] = facts.statusUrl
  headers['content-type'] = 'application/json'
  return new Response(JSON.stringify({ ...facts, ...more }), { status: 202, headers })
}

/** The same facts for the caller of a stream. */
export function pausedFacts({ record, suspension }: RunEnd): PausedResponse {
  const { executionId } = record
  const pauses = suspension?.cause instanceof Paused ? suspension.cause.pauses : []
  return {
    ...{ success: true, status: 'paused', executionId },
    paused: pauses.map(pauseFacts),
    statusUrl: `/api/jobs/${executionId}`,
  }
}

/** A pause on the wire. */
export function pauseFacts({ contextId, blockId, blockName, kind, since, until }: NewPause): PauseFacts {
  return {
    ...{ contextId, blockId, blockName, kind, since: isoTime(since) },
    until: until === null ? null : isoTime(until),
  }
}

/** A pause with its run. */
export function listedPause(
  { pause, content }: Pick<AskedPause, 'pause' | 'content'>,
  workflowName: string | null = null,
): ListedPause {
  const { executionId, workflowId, kind } = pause
  const asks = kind === 'approval' ? { title: content.title, access: content.access } : { title: null, access: null }
  return { ...pauseFacts(pause), outerBlockId: outerBlockOf(pause), executionId, workflowId, workflowName, ...asks }
}

/** A pause with its question. `links`: undefined for callers who may not answer. */
export function pauseDetail(
  asked: AskedPause,
  workflowName: string | null,
  links: PauseLinks | undefined,
): PauseDetail {
  const { pause, content, answers } = asked
  return {
    ...listedPause(asked, workflowName),
    ...{ message: content.message, fields: content.fields.map(fieldFacts), accounts: [...content.accounts] },
    required: content.required,
    answers: answers.map(({ approved, by, at, fields }) => ({ approved, by, at: isoTime(at), fields })),
    mayAnswer: links !== undefined,
    url: pause.kind === 'approval' ? (links?.url ?? null) : null,
    callbackUrl: links?.callbackUrl ?? null,
  }
}

/** The facts that the page of a pause shows. */
export function askedFacts({ pause, content, answers }: AskedPause, by: { email: string } | null): AskedFacts {
  const { title, message, required } = content
  return {
    ...{ kind: pause.kind, title, message, required, answers: answers.length, by: by?.email ?? null },
    fields: content.fields.map(fieldFacts),
    ...{ since: isoTime(pause.since), until: pause.until === null ? null : isoTime(pause.until) },
  }
}

/** A run with its pauses, of which there is at least one. */
export function pausedExecution(pauses: readonly StoredPause[]): PausedExecution {
  const [first] = pauses
  const open = pauses.filter(({ state }) => state === 'open').length
  return {
    ...{ executionId: first?.executionId ?? '', workflowId: first?.workflowId ?? '' },
    status: open > 0 ? 'paused' : 'resumed',
    ...{ totalPauseCount: pauses.length, resumedCount: pauses.length - open, pausedAt: isoTime(first?.since ?? 0) },
    pausePoints: pauses.map(({ contextId, blockId, kind, since, until, state }) => ({
      ...{ contextId, blockId, kind, registeredAt: isoTime(since), resumeStatus: resumeStatuses[state] },
      expiresAt: until === null ? null : isoTime(until),
    })),
  }
}

const resumeStatuses = { open: 'paused', answered: 'resumed', expired: 'expired', cancelled: 'cancelled' } as const
