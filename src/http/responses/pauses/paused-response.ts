import type { ListedPause as ListedRow, NewPause, StoredPause } from '../../../domain/run/pause.ts'
import type { AskedPause } from '../../../engine/jobs/pause-answers.ts'
import type { RunEnd } from '../../../engine/run/run-end.ts'
import { Paused } from '../../../engine/run/run-pauses.ts'
import { isoTime } from '../schema-parts.ts'
import type { AskedFacts, ListedPause, PausedExecution, PausedResponse, PauseFacts } from './pause-schemas.ts'

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
export function listedPause(pause: StoredPause & Partial<Pick<ListedRow, 'workflowName'>>): ListedPause {
  const { executionId, workflowId, workflowName = null } = pause
  return { ...pauseFacts(pause), executionId, workflowId, workflowName }
}

/** The facts that the page of a pause shows. */
export function askedFacts({ pause, content, answers }: AskedPause, by: { email: string } | null): AskedFacts {
  const { title, message, fields, required } = content
  return {
    ...{ kind: pause.kind, title, message, required, answers: answers.length, by: by?.email ?? null },
    fields: fields.map(
      ({ name, type, label = null, description = null, options = [], required: isRequired = false }) => {
        return { name, type, label, description, options: [...options], required: isRequired }
      },
    ),
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
