import { httpPeer } from './outbound/peers.ts'

export type RogueMessage = { id: number; method: string; params: Record<string, unknown> }

/** A server that opens sessions as it should, and answers other requests as a test says. */
export function rogueServer(
  answer: (message: RogueMessage, request: Request) => Response | object | Promise<Response | object>,
) {
  let onReply = () => {}
  const requests: { method: string; message: RogueMessage | undefined }[] = []
  const peer = httpPeer(async (request) => {
    const message = request.method === 'POST' ? ((await request.json()) as RogueMessage) : undefined
    requests.push({ method: request.method, message })
    if (message && message.method === undefined) onReply()
    if (message && (message.id === undefined || message.method === undefined))
      return new Response(null, { status: 202 })
    if (message?.method === 'initialize') {
      const result = {
        protocolVersion: '2025-06-18',
        capabilities: { tools: {} },
        serverInfo: { name: 'x', version: '1' },
      }
      return Response.json({ jsonrpc: '2.0', id: message.id, result }, { headers: { 'mcp-session-id': 's1' } })
    }
    const answered = await answer(message ?? { id: 0, method: request.method, params: {} }, request)
    return answered instanceof Response ? answered : Response.json({ jsonrpc: '2.0', ...answered })
  })
  const url = `http://127.0.0.1:${peer.port}/mcp`
  return {
    url,
    requests,
    /** Sets the function that is called with each reply of the client. */
    onReply: (call: () => void) => {
      onReply = call
    },
    [Symbol.asyncDispose]: () => peer.stop(true),
  }
}

/** A stream that sends each text, and then ends, or sends nothing more, or repeats the texts for ever. */
export function eventStream(
  texts: readonly (string | Promise<string>)[],
  then: 'end' | 'hang' | 'repeat' = 'end',
): Response {
  const queue = [...texts]
  const body = new ReadableStream<Uint8Array>({
    async pull(controller) {
      const text = await queue.shift()
      if (text === undefined && then === 'end') return controller.close()
      if (text === undefined) return await new Promise(() => {})
      if (then === 'repeat') queue.push(text)
      controller.enqueue(new TextEncoder().encode(text))
    },
  })
  return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
}

/** An event with a response. */
export function resultEvent(id: unknown, result: object = { content: [] }): string {
  return `data: ${JSON.stringify({ jsonrpc: '2.0', id, result })}\n\n`
}
