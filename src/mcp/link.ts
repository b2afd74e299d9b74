import { type McpAccess, McpError } from '../domain/mcp-server.ts'
import { OutboundError, type OutboundRequest, type OutboundStream } from '../domain/outbound-request.ts'
import type { Slices } from '../domain/slices.ts'
import { EventReader, type StreamEvent } from './event-reader.ts'

/** Bytes of the responses to one request. */
const exchangeBytesMax = 10_485_760

/** The deadline of the work, and the signal that may end it earlier. */
export type Bounds = { timeoutMs(): number; signal: AbortSignal }

/** Sends single HTTP requests to a server. Rejects with `McpError`. */
export class Link {
  readonly access: McpAccess
  readonly host: string

  constructor(access: McpAccess) {
    this.access = access
    this.host = URL.parse(access.url)?.host ?? access.url
  }

  /** `takesNoSlot`: for a message that the holder of a slot waits for. */
  async open(
    request: Pick<OutboundRequest, 'url' | 'method' | 'headers' | 'takesNoSlot'> & { body?: string },
    { timeoutMs, signal }: Bounds,
  ): Promise<OutboundStream> {
    const { access } = this
    const left = timeoutMs()
    if (left <= 0) throw this.timedOut()
    const authorization = await this.#authorization()
    const outcome = await access.open({
      ...request,
      followRedirects: 0,
      timeoutMs: left,
      responseBytesMax: exchangeBytesMax,
      signal,
      workspaceId: access.workspaceId,
      ...(authorization ? { authorization } : {}),
    })
    if (outcome.ok) return outcome.response
    // A credential that cannot be used says nothing about the server.
    const prefix = outcome.code.startsWith('CREDENTIAL_') ? '' : `The MCP server ${this.host} could not be reached: `
    throw new McpError(outcome.code, `${prefix}${outcome.message}`)
  }

  async #authorization() {
    try {
      return await this.access.authorization()
    } catch (error) {
      if (error instanceof OutboundError) throw new McpError(error.code, error.message)
      throw error
    }
  }

  /** The rest of a body as text. */
  async text({ body }: OutboundStream, charsMax = Number.POSITIVE_INFINITY): Promise<string> {
    const decoder = new TextDecoder()
    const parts: string[] = []
    let chars = 0
    try {
      for (let part = await this.#part(body); part && chars < charsMax; part = await this.#part(body)) {
        const text = decoder.decode(part, { stream: true })
        chars += text.length
        parts.push(text)
      }
      return parts.join('')
    } finally {
      body.close()
    }
  }

  /**
   * The events of a body until it ends. Closes it when the caller stops. Parts arrive faster than their events are
   * handled, so others have turns in between.
   */
  async *events({ body }: OutboundStream): AsyncGenerator<StreamEvent> {
    const reader = new EventReader()
    try {
      for (let part = await this.#part(body); part; part = await this.#part(body)) {
        const events = reader.read(part)
        yield* events
        if (events.length > eventsPerTurn) await this.access.inSlices(pause())
      }
    } finally {
      body.close()
    }
  }

  async #part(body: OutboundStream['body']): Promise<Uint8Array | undefined> {
    try {
      return await body.read()
    } catch (error) {
      if (!(error instanceof OutboundError)) throw error
      throw new McpError(error.code, `The response of the MCP server ${this.host} broke off: ${error.message}`)
    }
  }

  timedOut(): McpError {
    return new McpError('TIMEOUT', `The MCP server ${this.host} took too long`)
  }

  /** A server that names its metadata document lets people sign in. */
  #signInHint({ headers }: OutboundStream): string {
    const challenge = [headers['www-authenticate'] ?? []].flat().join(', ')
    if (this.access.credential !== '' || !challenge.includes('resource_metadata=')) return ''
    return ' People can sign in at this server: create a credential of the kind "MCP server: sign in" (mcp_oauth).'
  }

  /** The error for a status from 300. */
  async refusal(response: OutboundStream): Promise<McpError> {
    const { status } = response
    const { credential } = this.access
    const said = (await this.text(response, 2_000).catch(() => '')).trim().slice(0, 300)
    const hint =
      status === 401 || status === 403
        ? ` Check the credential${credential === '' ? ': none is chosen' : ` "${credential}"`}.${this.#signInHint(response)}`
        : status < 400
          ? ' It redirects, which MCP does not allow. Use the address that it redirects to.'
          : ''
    const quoted = said === '' || status < 400 ? '' : ` It said: ${said}`
    const message = `The MCP server ${this.host} returned the status ${status}.${hint}${quoted}`
    return new McpError('HTTP_ERROR', message, status)
  }
}

/** A server that sends single events waits for nothing. */
const eventsPerTurn = 10

function* pause(): Slices<void> {
  yield
}
