import type { FreshenFiles } from '../domain/run/file.ts'
import type { LogPage, LogQuery } from '../store/log-query.ts'
import type { Store } from '../store/store.ts'
import { writeCursor } from './cursor.ts'
import { type LogRequest, scopeOf } from './log-query.ts'

/** What a page of entries is responded to with: at once, or, when its long texts are long, piece by piece. */
export type PageResponse = { text: string } | { stream: ReadableStream<Uint8Array> }

export type PageOptions = {
  store: Pick<Store, 'queryLogs'>
  request: LogRequest
  after: number | undefined
  /** The limits object, as JSON. */
  limits: string
  freshenFiles: FreshenFiles
  /** Told when a part of a page that has begun could not be read. */
  onFailure(cause: unknown): void
}

/**
 * Responds with a page. The first part is read before anything is sent, so that what fails at once has a status of its
 * own. The parts that follow are read when the caller has taken those before; a caller that leaves ends the reading. One
 * that fails breaks the connection: half a page must not look like a whole one.
 */
export async function respondWithPage(options: PageOptions): Promise<PageResponse> {
  const { store, request, after } = options
  const first = await freshened(options, await store.queryLogs(queryOf(request, after, request.limit)))
  const parts = new PageParts(options, first)
  return first.end === 'size' ? { stream: streamOf(parts, options.onFailure) } : { text: parts.begin() + parts.end() }
}

/** File objects in it get URLs that open now. */
async function freshened({ freshenFiles }: PageOptions, page: LogPage): Promise<LogPage> {
  return page.files.length === 0 ? page : { ...page, entries: await freshenFiles(page.entries, page.files) }
}

/** The parts of one page, in their order. */
class PageParts {
  readonly #options: PageOptions
  #latest: LogPage
  #count: number

  constructor(options: PageOptions, first: LogPage) {
    this.#options = options
    this.#latest = first
    this.#count = first.count
  }

  begin(): string {
    return `{"data":[${this.#latest.entries}`
  }

  /** Undefined when there is none left. */
  async next(): Promise<string | undefined> {
    const { store, request } = this.#options
    const { end, position } = this.#latest
    if (end !== 'size' || position === null) return undefined
    const query = queryOf(request, position, request.limit - this.#count)
    this.#latest = await freshened(this.#options, await store.queryLogs(query))
    this.#count += this.#latest.count
    return this.#latest.count === 0 ? '' : `,${this.#latest.entries}`
  }

  end(): string {
    return `],"nextCursor":${JSON.stringify(this.#nextCursor())},"limits":${this.#options.limits}}`
  }

  /**
   * Newest first, null on the last page. Oldest first, there whenever the page has entries, so that a poller can come
   * back with it, and null on an empty page that reached the end: the poller keeps the cursor that it has.
   */
  #nextCursor(): string | null {
    const { request } = this.#options
    const { end, position } = this.#latest
    const isOver = end === 'last' && (request.order === 'desc' || this.#count === 0)
    return isOver || position === null ? null : writeCursor([position], scopeOf(request))
  }
}

function streamOf(parts: PageParts, onFailure: PageOptions['onFailure']): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder()
  let hasBegun = false
  let hasLeft = false
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        try {
          const part = hasBegun ? await parts.next() : parts.begin()
          hasBegun = true
          if (hasLeft) return
          controller.enqueue(encoder.encode(part ?? parts.end()))
          if (part === undefined) controller.close()
        } catch (error) {
          if (hasLeft) return
          onFailure(error)
          // Bun closes the connection without the end of the body. An `Error` it would also print, as no line of the log is.
          controller.error()
        }
      },
      cancel() {
        hasLeft = true
      },
    },
    // Nothing is read before it is wanted.
    { highWaterMark: 0 },
  )
}

function queryOf({ workspaceId, filter, order, ...request }: LogRequest, after: number | undefined, limit: number) {
  const { details, includeFinalOutput: finalOutput, includeTraceSpans: traceSpans } = request
  const show = { details: details === 'full', finalOutput, traceSpans }
  return { workspaceId, filter, order, after, limit, show } satisfies LogQuery
}
