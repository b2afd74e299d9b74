import type { Clock } from '../domain/clock.ts'
import { estimateSize } from '../domain/estimate-size.ts'
import {
  type McpAccess,
  type McpContent,
  McpError,
  type McpResult,
  type McpServer,
  type McpTool,
  type McpToolCall,
} from '../domain/mcp-server.ts'
import { isObject } from '../domain/run/input.ts'
import { EventTransport } from './event-transport.ts'
import { type Bounds, Link } from './link.ts'
import { McpSession } from './session.ts'
import { type StreamableSession, StreamableTransport } from './streamable-transport.ts'
import { listTools } from './tool-list.ts'
import type { Transport } from './transport.ts'

/** The knowledge about a server, for one workspace and credential. */
type Known = {
  usedAt: number
  /** Whether it uses the transport of 2024. */
  isOld: boolean
  /** The ID of the last request. Questions share a session at the same time, so they must not use the same IDs. */
  lastId: number
  session: StreamableSession | undefined
  tools: { list: readonly McpTool[]; at: number } | undefined
}

/**
 * How long a list of tools is used without asking the server again. Servers also report changes in their responses;
 * reports between them are not received, because no connection stays open.
 */
const toolsFreshMs = 60_000
/** A session that was not used for so long may have ended on the server. */
const sessionIdleMs = 600_000
const knownMax = 200
/** Bytes of a list of tools that is remembered. A larger one is read each time. */
const knownListBytesMax = 262_144

/**
 * Connects to MCP servers, and remembers their sessions and tools between runs. A session is shared by all runs of a
 * workspace that use the same address and credential.
 */
export class McpServers {
  readonly #clock: Clock
  readonly #clientVersion: string
  /** The least recently used first. */
  readonly #known = new Map<string, Known>()

  constructor(options: { clock: Clock; clientVersion: string }) {
    this.#clock = options.clock
    this.#clientVersion = options.clientVersion
  }

  readonly connect = (access: McpAccess): McpServer => ({
    tools: ({ timeoutMs, fresh = false }) => this.#tools(access, this.#bounds(access, timeoutMs), fresh),
    call: (call) => this.#call(access, this.#bounds(access, call.timeoutMs), call),
  })

  async #tools(access: McpAccess, bounds: Bounds, fresh: boolean): Promise<readonly McpTool[]> {
    const known = this.#knownOf(access)
    const { tools } = known
    if (tools && !fresh && this.#clock.now() - tools.at < toolsFreshMs) return tools.list
    const list = await this.#within(access, known, bounds, (session, { host }) => listTools(session, host, bounds))
    const isSmall = estimateSize(list, knownListBytesMax) <= knownListBytesMax
    known.tools = isSmall ? { list, at: this.#clock.now() } : undefined
    return list
  }

  async #call(access: McpAccess, bounds: Bounds, { tool, arguments: given }: McpToolCall): Promise<McpResult> {
    const known = this.#knownOf(access)
    return await this.#within(access, known, bounds, async (session, { host }) => {
      try {
        return readResult(await session.request('tools/call', { name: tool, arguments: given }, bounds), host)
      } catch (error) {
        if (!(error instanceof McpError)) throw error
        // The tool may be unknown because the list is old.
        if (error.code === 'MCP_ERROR') known.tools = undefined
        if (error.code !== 'TIMEOUT' || session.progress === '') throw error
        throw new McpError('TIMEOUT', `${error.message} (last progress: ${session.progress})`)
      }
    })
  }

  /** Does work in the server's session, or in a new one if the server has ended it. */
  async #within<Result>(
    access: McpAccess,
    known: Known,
    bounds: Bounds,
    work: (session: McpSession, link: Link) => Promise<Result>,
  ): Promise<Result> {
    const link = new Link(access)
    if (known.session && !known.isOld) {
      const transport = new StreamableTransport(link, this.#clock, known.session)
      try {
        return await work(this.#sessionOn(transport, link, known), link)
      } catch (error) {
        if (!(error instanceof McpError) || !isRefusal(error.status)) throw error
        known.session = undefined
      }
    }
    const { transport, session } = await this.#start(link, known, bounds)
    try {
      return await work(session, link)
    } finally {
      transport.close()
    }
  }

  async #start(link: Link, known: Known, bounds: Bounds): Promise<{ transport: Transport; session: McpSession }> {
    if (!known.isOld) {
      const transport = new StreamableTransport(link, this.#clock)
      const session = this.#sessionOn(transport, link, known)
      try {
        await session.initialize(bounds)
        known.session = transport.session
        return { transport, session }
      } catch (error) {
        if (!(error instanceof McpError) || !mayBeOld(error.status)) throw error
        const transport = await EventTransport.open(link, bounds).catch(() => undefined)
        if (!transport) throw error
        known.isOld = true
        return await this.#startOld(transport, link, known, bounds)
      }
    }
    try {
      return await this.#startOld(await EventTransport.open(link, bounds), link, known, bounds)
    } catch (error) {
      // The server may have been replaced by a newer one.
      known.isOld = false
      throw error
    }
  }

  async #startOld(transport: EventTransport, link: Link, known: Known, bounds: Bounds) {
    const session = this.#sessionOn(transport, link, known)
    try {
      await session.initialize(bounds)
      return { transport, session }
    } catch (error) {
      transport.close()
      throw error
    }
  }

  #sessionOn(transport: Transport, { host }: Link, known: Known): McpSession {
    const toolsChanged = () => {
      known.tools = undefined
    }
    const newId = () => {
      known.lastId += 1
      return known.lastId
    }
    return new McpSession({ transport, host, clientVersion: this.#clientVersion, newId, toolsChanged })
  }

  #bounds({ signal }: McpAccess, timeoutMs: number): Bounds {
    const startedAt = this.#clock.monotonic()
    return { signal, timeoutMs: () => Math.ceil(timeoutMs - (this.#clock.monotonic() - startedAt)) }
  }

  #knownOf({ workspaceId, url, credential }: McpAccess): Known {
    const key = JSON.stringify([workspaceId, credential, url])
    const now = this.#clock.now()
    const found = this.#known.get(key) ?? { usedAt: now, isOld: false, lastId: 0, session: undefined, tools: undefined }
    if (now - found.usedAt > sessionIdleMs) found.session = undefined
    found.usedAt = now
    this.#known.delete(key)
    this.#known.set(key, found)
    const [oldest] = this.#known.keys()
    if (this.#known.size > knownMax && oldest !== undefined) this.#known.delete(oldest)
    return found
  }
}

/** Whether a server may have refused a request because it has ended the session. */
function isRefusal(status: number | undefined): boolean {
  return status === 400 || status === 404
}

/** Whether a server may know only the transport of 2024: it refuses a POST to the address of its event stream. */
function mayBeOld(status: number | undefined): boolean {
  return status === 400 || status === 404 || status === 405
}

function readResult(result: Record<string, unknown>, host: string): McpResult {
  const { content = [], structuredContent, isError } = result
  if (!Array.isArray(content) || !content.every(isContent))
    throw new McpError(
      'INVALID_RESPONSE',
      `The result of the MCP server ${host} cannot be read: its content is not a list of parts.`,
    )
  return { content, structured: isObject(structuredContent) ? structuredContent : null, isError: isError === true }
}

function isContent(part: unknown): part is McpContent {
  return isObject(part) && typeof part['type'] === 'string'
}
