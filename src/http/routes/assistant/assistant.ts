import type { Static } from '@sinclair/typebox'
import { Elysia } from 'elysia'
import type { Assistant } from '../../../assistant/assistant.ts'
import type { ReplyEvent } from '../../../assistant/reply.ts'
import { AppError } from '../../../domain/errors.ts'
import { findWorkflow } from '../../access/auth.ts'
import { allowSilence } from '../../access/connection.ts'
import { type Door, sendAsIs } from '../../access/door.ts'
import { AssistantRequest, assistantDetail } from '../../openapi/assistant-operation.ts'
import { readShape } from '../../requests/body.ts'
import type { Services } from '../../services.ts'
import { EventStream, eventStreamHeaders } from '../../streams/event-stream.ts'
import { createManualStart } from '../editor/manual-start.ts'
import { type ApiCall, apiCallOf, type ToolRequests } from '../mcp/api-call.ts'
import { assistantTools } from './assistant-tools.ts'
import { DraftCopy, type Proposal } from './draft-copy.ts'
import { instructionsFor } from './instructions.ts'

/** The maximum number of characters of a conversation. */
const conversationCharsMax = 100_000

/** The assistant of the editor. */
export function assistantRoutes(services: Services, door: Door, { fetch, turns }: ToolRequests) {
  const { clock, settings } = services
  const startRun = createManualStart(services)
  return new Elysia().post(
    '/api/workflows/:id/assistant',
    async ({ request, set, params: { id }, server }) => {
      const caller = await door.requireKeyOrSession(request, set)
      door.note(request, { workflowId: id })
      const row = await findWorkflow(services, caller, id, 'write')
      const assistant = assertOn(services.assistant)
      const { messages, document } = await readShape(request, AssistantRequest, settings.documentBody)
      assertConversation(messages)
      const copy = await turns.run(() => DraftCopy.open(services, row, document))
      const { workspaceId } = row
      const leaving = new AbortController()
      const signal = AbortSignal.any([request.signal, leaving.signal])
      const leave = () => leaving.abort()
      const context = {
        ...{ services, workspaceId, startRun, signal, api: callerApi(fetch, request) },
        caller: { ...caller, workspaceId },
        inTurn: <Result>(work: () => Promise<Result>) => turns.run(work),
      }
      const stream = new EventStream({
        clock,
        bytesWaitingMax: services.runs.execute.settings.streamBufferBytes,
        onOverflow: leave,
      })
      const emit = (event: ReplyEvent | ({ event: 'proposal' } & Proposal)) => stream.message(JSON.stringify(event))
      const instructions = { role: 'system' as const, content: instructionsFor(id, copy.document) }
      const reply = assistant.reply(caller.userId, {
        ...{ workspaceId, signal, emit },
        messages: [instructions, ...messages],
        tools: assistantTools(context, { workflowId: id, copy }),
      })
      reply.done
        .then(async () => {
          const proposal = signal.aborted ? undefined : await turns.run(() => copy.proposal())
          if (proposal) emit({ event: 'proposal', ...proposal })
        })
        .catch((thrown: unknown) => {
          door.onAborted(request, thrown)
          emit({ event: 'failed', code: 'INTERNAL', message: 'Internal error' })
        })
        .finally(() => stream.end('[DONE]'))
      allowSilence(request, server)
      const headers = { ...(set.headers as Record<string, string>), ...eventStreamHeaders }
      return sendAsIs(set, new Response(stream as unknown as ReadableStream, { headers }))
    },
    { parse: 'none', detail: assistantDetail },
  )
}

function assertOn(assistant: Assistant | undefined): Assistant {
  if (assistant) return assistant
  const message =
    'The assistant is off. The operator turns it on with MILLRACE_ASSISTANT_MODEL and MILLRACE_ASSISTANT_API_KEY.'
  throw new AppError('CONFLICT', message)
}

function assertConversation(messages: Static<typeof AssistantRequest>['messages']): void {
  if (messages.at(-1)?.role !== 'user') {
    throw invalid(`messages[${messages.length - 1}].role`, 'The last message must have the role "user".')
  }
  const chars = messages.reduce((sum, { content }) => sum + content.length, 0)
  if (chars <= conversationCharsMax) return
  throw invalid('messages', `The conversation has ${chars} characters, and ${conversationCharsMax} is the limit.`)
}

function invalid(path: string, message: string): AppError {
  return new AppError('INVALID_INPUT', message, { details: [{ path, message }] })
}

/** Calls the API with the key or the session of the request. */
function callerApi(fetch: ToolRequests['fetch'], { headers }: Request): ApiCall {
  const call = apiCallOf(fetch, () => headers.get('x-api-key') ?? '')
  const own = ['cookie', 'host'].flatMap((name) => {
    const value = headers.get(name)
    return value === null ? [] : [[name, value] as const]
  })
  return (method, path, more = {}) =>
    call(method, path, { ...more, headers: { ...Object.fromEntries(own), ...more.headers } })
}
