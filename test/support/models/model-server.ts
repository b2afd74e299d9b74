import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { type Protocol, protocolOf, writeResponse } from './model-protocols.ts'

/** The scripted response to one request. */
export type ScriptedResponse = {
  /** Pieces of text, one event each. */
  text?: readonly string[]
  /** Pieces of reasoning before the text, as servers with the protocol of OpenAI send them. */
  thinking?: readonly string[]
  toolCalls?: readonly { id: string; name: string; arguments: string }[]
  refusal?: string
  /** Null: the response reports no tokens. */
  usage?: { prompt: number; cached?: number; completion: number } | null
  /** `length`: truncated at the limit. */
  finish?: 'stop' | 'length'
  /** The status of an error response. */
  status?: number
  /** The message of the error. */
  said?: string
  headers?: Record<string, string>
  /** `hang`: no response. `break`: the connection is cut after the text. `garbage`: an event that is not valid JSON. */
  trouble?: 'hang' | 'break' | 'garbage' | 'end'
  /** Waited for before each piece of text. */
  gate?: () => Promise<void>
  /** With `break`: waited for before the connection is cut. The text must have arrived by then. */
  hasArrived?: Promise<void>
}

export type SeenRequest = {
  protocol: Protocol
  path: string
  headers: IncomingMessage['headers']
  body: Record<string, unknown>
  /** Resolves when the caller has closed the connection before the response was complete. */
  left: Promise<void>
}

/**
 * A stand-in for language model services that sends scripted responses. It speaks the protocols of OpenAI (chat
 * completions), Anthropic (messages) and Google (streamGenerateContent) over a real socket.
 */
export class ModelServer implements AsyncDisposable {
  readonly requests: SeenRequest[] = []
  readonly #server: Server
  #script: (request: SeenRequest, index: number) => ScriptedResponse

  private constructor(script: (request: SeenRequest, index: number) => ScriptedResponse) {
    this.#script = script
    this.#server = createServer((request, response) => void this.#respond(request, response))
  }

  /**
   * `script`: by the request and its number, from 0; a list is used in order, its last entry for all later requests.
   */
  static async start(
    script: readonly ScriptedResponse[] | ((request: SeenRequest, index: number) => ScriptedResponse),
    port = 0,
  ): Promise<ModelServer> {
    const say =
      typeof script === 'function' ? script : (_: SeenRequest, at: number) => script[at] ?? script.at(-1) ?? {}
    const server = new ModelServer(say)
    await new Promise<void>((resolve) => server.#server.listen(port, '127.0.0.1', resolve))
    return server
  }

  get port(): number {
    return (this.#server.address() as AddressInfo).port
  }

  /** The `baseUrl` of a block that calls it. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v1`
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#server.closeAllConnections()
    await new Promise((resolve) => this.#server.close(resolve))
  }

  async #respond(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let text = ''
    for await (const chunk of request) text += String(chunk)
    const path = request.url ?? ''
    const left = new Promise<void>((resolve) => {
      response.on('close', () => {
        if (!response.writableFinished) resolve()
      })
    })
    const body = JSON.parse(text) as Record<string, unknown>
    const seen = { protocol: protocolOf(path), path, headers: request.headers, body, left }
    const index = this.requests.push(seen) - 1
    await writeResponse(response, seen.protocol, this.#script(seen, index))
  }
}
