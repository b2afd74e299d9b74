import type { ServerResponse } from 'node:http'
import type { ScriptedResponse } from './model-server.ts'

export type Protocol = 'openai' | 'anthropic' | 'google'

export function protocolOf(path: string): Protocol {
  if (path.endsWith('/chat/completions')) return 'openai'
  return path.endsWith('/messages') ? 'anthropic' : 'google'
}

/** Writes a scripted response in a protocol. */
export async function writeResponse(
  response: ServerResponse,
  protocol: Protocol,
  said: ScriptedResponse,
): Promise<void> {
  if (said.trouble === 'hang') return
  if (said.status !== undefined) {
    response.writeHead(said.status, { 'content-type': 'application/json', ...said.headers })
    response.end(JSON.stringify(errorBodies[protocol](said.status, said.said ?? `stand-in says ${said.status}`)))
    return
  }
  response.writeHead(200, { 'content-type': 'text/event-stream', ...said.headers })
  const events = eventsOf[protocol](said)
  for (const text of events.before) response.write(text)
  for (const piece of said.text ?? []) {
    await said.gate?.()
    response.write(events.piece(piece))
  }
  if (said.trouble === 'garbage') response.write('data: {"broken\n\n')
  if (said.trouble === 'break') {
    await said.hasArrived
    response.destroy()
    return
  }
  if (said.trouble !== 'end') for (const text of events.after) response.write(text)
  response.end()
}

type Events = { before: string[]; piece(text: string): string; after: string[] }

const data = (value: unknown) => `data: ${JSON.stringify(value)}\n\n`
const event = (value: { type: string }) => `event: ${value.type}\n${data(value)}`

const eventsOf: Record<Protocol, (said: ScriptedResponse) => Events> = {
  openai({ thinking = [], toolCalls = [], refusal, usage = { prompt: 1, completion: 1 }, finish = 'stop' }) {
    const chunk = (delta: object, finish_reason: string | null = null) =>
      data({
        id: 'c1',
        object: 'chat.completion.chunk',
        created: 1,
        model: 'stand-in',
        choices: [{ index: 0, delta, finish_reason }],
      })
    return {
      before: [
        chunk({ role: 'assistant', content: '' }),
        ...thinking.map((text) => chunk({ reasoning_content: text })),
      ],
      piece: (text) => chunk({ content: text }),
      after: [
        ...(refusal === undefined ? [] : [chunk({ refusal })]),
        ...toolCalls.flatMap(({ id, name, arguments: text }, index) => {
          const half = Math.ceil(text.length / 2)
          return [
            chunk({
              tool_calls: [{ index, id, type: 'function', function: { name, arguments: text.slice(0, half) } }],
            }),
            chunk({ tool_calls: [{ index, function: { arguments: text.slice(half) } }] }),
          ]
        }),
        chunk({}, refusal !== undefined ? 'content_filter' : toolCalls.length > 0 ? 'tool_calls' : finish),
        ...(usage
          ? [
              data({
                id: 'c1',
                choices: [],
                usage: {
                  prompt_tokens: usage.prompt,
                  completion_tokens: usage.completion,
                  total_tokens: usage.prompt + usage.completion,
                  prompt_tokens_details: { cached_tokens: usage.cached ?? 0 },
                },
              }),
            ]
          : []),
        'data: [DONE]\n\n',
      ],
    }
  },
  anthropic({ text = [], toolCalls = [], refusal, usage, finish = 'stop' }) {
    const { prompt = 1, cached = 0, completion = 1 } = usage ?? {}
    const stop = toolCalls.length > 0 ? 'tool_use' : finish === 'length' ? 'max_tokens' : 'end_turn'
    const tokens = { input_tokens: prompt - cached, cache_read_input_tokens: cached, output_tokens: 1 }
    const message = { id: 'm1', type: 'message', role: 'assistant', model: 'stand-in', content: [], usage: tokens }
    const first = text.length > 0 ? 1 : 0
    return {
      before: [
        event({ type: 'message_start', message: { ...message, stop_reason: null, stop_sequence: null } } as never),
        ...(first === 0
          ? []
          : [event({ type: 'content_block_start', index: 0, content_block: { type: 'text', text: '' } } as never)]),
      ],
      piece: (piece) =>
        event({ type: 'content_block_delta', index: 0, delta: { type: 'text_delta', text: piece } } as never),
      after: [
        ...(first === 0 ? [] : [event({ type: 'content_block_stop', index: 0 } as never)]),
        ...toolCalls.flatMap(({ id, name, arguments: json }, at) => [
          event({
            type: 'content_block_start',
            index: first + at,
            content_block: { type: 'tool_use', id, name, input: {} },
          } as never),
          event({
            type: 'content_block_delta',
            index: first + at,
            delta: { type: 'input_json_delta', partial_json: json },
          } as never),
          event({ type: 'content_block_stop', index: first + at } as never),
        ]),
        event({
          type: 'message_delta',
          delta: { stop_reason: refusal === undefined ? stop : 'refusal', stop_sequence: null },
          usage: { output_tokens: completion },
        } as never),
        event({ type: 'message_stop' }),
      ],
    }
  },
  google({ toolCalls = [], refusal, usage = { prompt: 1, completion: 1 }, finish = 'stop' }) {
    const chunk = (parts: object[], more: object = {}, finishReason?: string) =>
      data({
        candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason && { finishReason }) }],
        ...more,
      })
    const counts = usage && {
      usageMetadata: {
        promptTokenCount: usage.prompt,
        cachedContentTokenCount: usage.cached ?? 0,
        candidatesTokenCount: usage.completion,
        totalTokenCount: usage.prompt + usage.completion,
      },
    }
    const reason = refusal !== undefined ? 'SAFETY' : finish === 'length' ? 'MAX_TOKENS' : 'STOP'
    const calls = toolCalls.map(({ name, arguments: text }) => ({ functionCall: { name, args: JSON.parse(text) } }))
    return {
      before: [],
      piece: (text) => chunk([{ text }]),
      after: [chunk(calls, counts ?? {}, reason)],
    }
  },
}

const errorBodies: Record<Protocol, (status: number, message: string) => unknown> = {
  openai: (_, message) => ({ error: { message, type: 'error', code: null, param: null } }),
  anthropic: (_, message) => ({ type: 'error', error: { type: 'error', message } }),
  google: (status, message) => ({ error: { code: status, message, status: 'UNAVAILABLE' } }),
}
