import type { Span } from '../../domain/run/log.ts'
import type { BlockPlace, RunObserver } from '../../domain/run/run-observer.ts'
import { finish, isLargeValue, jsonInSlices } from '../../domain/slices.ts'
import { replyOf } from '../../domain/workflow/chat.ts'
import type { Plan } from '../../engine/compile/plan.ts'
import type { RunEnd } from '../../engine/run/run-end.ts'
import { RunEvents } from '../streams/run-events.ts'
import { runResponse, type Writing } from './run-response.ts'

/** Collects the text that a stream of the run would send without selected outputs. */
export class Listening implements RunObserver {
  readonly #events: RunEvents
  readonly #texts = new Map<string, string>()

  constructor(plan: Plan) {
    this.#events = new RunEvents(plan, [], (message) => {
      const { blockId, chunk } = JSON.parse(message) as { blockId: string; chunk: string }
      this.#texts.set(blockId, (this.#texts.get(blockId) ?? '') + chunk)
    })
  }

  chunk(span: Span, text: string, place: BlockPlace): void {
    this.#events.chunk(span, text, place)
  }

  /** The reply as text: the data of a response block, otherwise the streamed text, otherwise the output. */
  replyOf({ record, response }: RunEnd): string {
    if (response) return replyOf(response.data)
    return this.#texts.size > 0 ? [...this.#texts.values()].join('\n\n') : replyOf(record.output)
  }
}

/** Members of every response about a run. */
export type ChatFacts = { reply: string; conversationId: string }

/** The response for a run that ended. A failed run gives the same response as on the execute endpoint. */
export async function chatResponse(end: RunEnd, facts: ChatFacts, writing: ChatWriting): Promise<Response> {
  const { record, response } = end
  const { headers, inSlices, unsent } = writing
  if (record.failure) return await runResponse(end, headers, writing)
  headers['content-type'] = 'application/json'
  const output = (response ? response.data : record.output) ?? null
  const body = jsonInSlices({ success: true, output, ...facts, executionId: record.executionId })
  const text = (isLargeValue(output) ? await inSlices(body) : finish(body)) as string
  return new Response(unsent.body(record.workspaceId, text), { headers })
}

type ChatWriting = Writing & { headers: Record<string, string> }
