import { type Clock, sleep, type Timer } from '../domain/clock.ts'
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
  target: McpTarget
  /** Work that uses it now. */
  uses: number
  /** Forgets the server after some time without use. */
  idle: Timer | undefined
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
/** A session that is not used for this long ends, so that the server need not keep it. */
const sessionIdleMs = 600_000
const knownMax = 200
/** For the message that ends a session. */
const farewellMs = 5_000
/** How long a stop of the service waits for these messages. */
const stopMs = 1_000
/** Bytes of a list of tools that is remembered. A larger one is read each time. */
const knownListBytesMax = 262_144

/** The server that a session is with, and whose credential it uses. */
export type McpTarget = Pick<McpAccess, 'url' | 'workspaceId' | 'credential'>

type Options = {
  clock: Clock
  clientVersion: string
  /** The service's own access to a server, for messages that no run sends. */
  ownAccess(target: McpTarget, signal: AbortSignal): McpAccess
}

/**
 * Connects to MCP servers, and remembers their sessions and tools between runs. A session is shared by all runs of a
 * workspace that use the same address and credential.
 */
export class McpServers {
  readonly #options: Options
  /** The least recently used first. */
  readonly #known = new Map<string, Known>()
  /** The messages that end sessions. They never reject. */
  readonly #farewells = new Set<Promise<void>>()
  readonly #stopped = new AbortController()

  constructor(options: Options) {
    this.#options = options
  }

  readonly connect = (access: McpAccess): McpServer => ({
    tools: ({ timeoutMs, fresh = false }) => this.#tools(access, this.#bounds(access, timeoutMs), fresh),
    call: (call) => this.#call(access, this.#bounds(access, call.timeoutMs), call),
  })

  /** Ends the sessions, and waits a moment for the servers to hear of it. */
  async stop(): Promise<void> {
    for (const known of [...this.#known.values()]) this.#forget(known)
    const waited = new AbortController()
    const late = sleep(this.#options.clock, stopMs, waited.signal).catch(() => undefined)
    await Promise.race([Promise.all(this.#farewells), late])
    waited.abort()
    this.#stopped.abort()
  }

  async #tools(access: McpAccess, bounds: Bounds, fresh: boolean): Promise<readonly McpTool[]> {
    const known = this.#knownOf(access)
    const { tools } = known
    if (tools && !fresh && this.#options.clock.now() - tools.at < toolsFreshMs) return tools.list
    const list = await this.#within(access, known, bounds, (session, { host }) => listTools(session, host, bounds))
    const isSmall = estimateSize(list, knownListBytesMax) <= knownListBytesMax
    known.tools = isSmall ? { list, at: this.#options.clock.now() } : undefined
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

  async #within<Result>(
    access: McpAccess,
    known: Known,
    bounds: Bounds,
    work: (session: McpSession, link: Link) => Promise<Result>,
  ): Promise<Result> {
    known.uses += 1
    known.idle?.cancel()
    try {
      return await this.#inSession(access, known, bounds, work)
    } finally {
      known.uses -= 1
      if (known.uses === 0) this.#rest(known)
    }
  }

  /** Does work in the server's session, or in a new one if the server has ended it. */
  async #inSession<Result>(
    access: McpAccess,
    known: Known,
    bounds: Bounds,
    work: (session: McpSession, link: Link) => Promise<Result>,
  ): Promise<Result> {
    const link = new Link(access)
    const { session: shared } = known
    if (shared && !known.isOld) {
      const transport = new StreamableTransport(link, this.#options.clock, shared)
      try {
        return await work(this.#sessionOn(transport, link, known), link)
      } catch (error) {
        if (!(error instanceof McpError) || !isRefusal(error.status)) throw error
        // Other work may have started another session meanwhile.
        if (known.session === shared) known.session = undefined
      }
    }
    const { transport, session } = await this.#start(link, known, bounds)
    try {
      return await work(session, link)
    } finally {
      transport.close()
      // Work that began at the same time may have started the session that is shared.
      if (transport instanceof StreamableTransport && transport.session !== known.session) {
        this.#endSession(known.target, transport.session)
      }
    }
  }

  /** Called when no work uses a server any more. */
  #rest(known: Known): void {
    const isKnown = this.#known.get(keyOf(known.target)) === known
    if (isKnown) known.idle = this.#options.clock.setTimer(sessionIdleMs, () => this.#forget(known))
    // It was forgotten while it was used.
    else this.#endSession(known.target, known.session)
  }

  #forget(known: Known): void {
    known.idle?.cancel()
    this.#known.delete(keyOf(known.target))
    if (known.uses === 0) this.#endSession(known.target, known.session)
  }

  /** The server may be gone, so the wait is short. */
  #endSession(target: McpTarget, session: StreamableSession | undefined): void {
    const { signal } = this.#stopped
    if (session?.id === undefined || signal.aborted) return
    const { clock, ownAccess } = this.#options
    const until = clock.monotonic() + farewellMs
    const bounds = { timeoutMs: () => Math.ceil(until - clock.monotonic()), signal }
    const ended = new StreamableTransport(new Link(ownAccess(target, signal)), clock, session)
      .end(bounds)
      .catch(() => undefined)
      .finally(() => this.#farewells.delete(ended))
    this.#farewells.add(ended)
  }

  async #start(link: Link, known: Known, bounds: Bounds): Promise<{ transport: Transport; session: McpSession }> {
    if (!known.isOld) {
      const transport = new StreamableTransport(link, this.#options.clock)
      const session = this.#sessionOn(transport, link, known)
      try {
        await session.initialize(bounds)
        known.session ??= transport.session
        return { transport, session }
      } catch (error) {
        this.#endSession(known.target, transport.session)
        if (!(error instanceof McpError) || !mayBeOld(error.status)) throw error
        const old = await EventTransport.open(link, bounds).catch(() => undefined)
        if (!old) throw error
        known.isOld = true
        return await this.#startOld(old, link, known, bounds)
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
    return new McpSession({ transport, host, clientVersion: this.#options.clientVersion, newId, toolsChanged })
  }

  #bounds({ signal }: McpAccess, timeoutMs: number): Bounds {
    const startedAt = this.#options.clock.monotonic()
    return { signal, timeoutMs: () => Math.ceil(timeoutMs - (this.#options.clock.monotonic() - startedAt)) }
  }

  #knownOf({ url, workspaceId, credential }: McpAccess): Known {
    const target = { url, workspaceId, credential }
    const key = keyOf(target)
    const found = this.#known.get(key) ?? {
      ...{ target, uses: 0, idle: undefined },
      ...{ isOld: false, lastId: 0, session: undefined, tools: undefined },
    }
    this.#known.delete(key)
    this.#known.set(key, found)
    const [oldest] = this.#known.values()
    if (this.#known.size > knownMax && oldest) this.#forget(oldest)
    return found
  }
}

function keyOf({ url, workspaceId, credential }: McpTarget): string {
  return JSON.stringify([workspaceId, credential, url])
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
