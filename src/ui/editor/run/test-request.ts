import { type QueryClient, useQuery } from '@tanstack/react-query'
import type { ResponseOf } from '../../api/call.ts'
import type { Document } from '../document/document.ts'
import { idle, type RunState } from './run-state.ts'

/** A test address of the open workflow. */
export type Listener = ResponseOf<'GET /api/editor/workflows/:id/listen/:token'>

type ListenerState = { listener?: Listener; isOver?: boolean }

/** The state of the test address is kept while other blocks are selected. */
export function listenerQuery(workflowId: string) {
  return {
    queryKey: ['listener', workflowId],
    queryFn: (): ListenerState => ({}),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: Number.POSITIVE_INFINITY,
  }
}

/** The test address of the open workflow, if it has taken a request. */
export function useTaken(workflowId: string): Listener | undefined {
  const { data } = useQuery(listenerQuery(workflowId))
  return data?.listener?.request ? data.listener : undefined
}

export function takenOf(queries: QueryClient, workflowId: string): Listener | undefined {
  const { listener } = queries.getQueryData<ListenerState>(listenerQuery(workflowId).queryKey) ?? {}
  return listener?.request ? listener : undefined
}

/** The kinds of triggers that have test addresses, and the word for one request. */
export const takes = {
  webhook: { blockType: 'webhook_trigger', thing: 'request' },
  chat: { blockType: 'chat_trigger', thing: 'message' },
} as const

/** The source of run data that is a request at a test address. Other sources are the ids of runs. */
export function listenedSource(token: string): string {
  return `${prefix}${token}`
}

/** The token of such a source; undefined for a run. */
export function listenedToken(source: string | undefined): string | undefined {
  return source?.startsWith(prefix) ? source.slice(prefix.length) : undefined
}

const prefix = 'listened '

/** A taken request as a run in which only the trigger has run. */
export function listenedRun({ token, trigger, request }: Listener, document: Document): RunState | undefined {
  const { blockType } = takes[trigger]
  const block = Object.values(document.blocks).find(({ type }) => type === blockType)
  if (!block || !request) return undefined
  const { id, name, type } = block
  const { receivedAt, fields } = request
  const spanId = `${token} ${id}`
  const times = { startTime: receivedAt, endTime: receivedAt, duration: 0 }
  const place = { iterations: [], depth: 0, parentId: null }
  const span = {
    ...{ id: spanId, name, type, blockId: id, status: 'success' as const },
    ...{ ...times, input: null, output: fields, children: [] },
  }
  const entry = { spanId, blockId: id, name, type, ...place, status: span.status, text: '', span }
  return { ...idle, phase: 'success', isPast: true, entries: [entry] }
}
