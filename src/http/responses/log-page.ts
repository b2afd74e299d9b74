import type { FreshenFiles } from '../../domain/run/file.ts'
import type { LogPage, LogPosition, LogQuery } from '../../store/log-query.ts'
import type { Store } from '../../store/store.ts'
import { writeCursor } from '../requests/cursor.ts'
import { type LogRequest, scopeOf } from '../requests/log-query.ts'

/** The response for a page of entries: complete, or in parts when its texts are long. */
export type PageResponse = { text: string } | { parts: AsyncGenerator<string> }

export type PageOptions = {
  store: Pick<Store, 'queryLogs'>
  request: LogRequest
  after: LogPosition | undefined
  /** The limits object, as JSON. */
  limits: string
  freshenFiles: FreshenFiles
  /** Whether failed runs have their `error`. */
  showFailures: boolean
}

/**
 * Responds with a page. The first part is read before anything is sent, so that an early failure gets its own status.
 * Each further part is read when the caller has taken the one before; a disconnect ends the reading. A failure breaks
 * the connection, because half a page must not look complete.
 */
export async function respondWithPage(options: PageOptions): Promise<PageResponse> {
  const { store, request, after } = options
  const first = await freshened(options, await store.queryLogs(queryOf(options, after, request.limit)))
  const parts = new PageParts(options, first)
  return first.end === 'size' ? { parts: partsOf(parts) } : { text: parts.begin() + parts.end() }
}

/** Its file objects get freshly signed URLs. */
async function freshened({ freshenFiles }: PageOptions, page: LogPage): Promise<LogPage> {
  return page.files.length === 0 ? page : { ...page, entries: await freshenFiles(page.entries, page.files) }
}

/** The parts of one page, in order. */
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

  /** Undefined when no part is left. */
  async next(): Promise<string | undefined> {
    const { store, request } = this.#options
    const { end, position } = this.#latest
    if (end !== 'size' || position === null) return undefined
    const query = queryOf(this.#options, position, request.limit - this.#count)
    this.#latest = await freshened(this.#options, await store.queryLogs(query))
    this.#count += this.#latest.count
    return this.#latest.count === 0 ? '' : `,${this.#latest.entries}`
  }

  end(): string {
    return `],"nextCursor":${JSON.stringify(this.#nextCursor())},"limits":${this.#options.limits}}`
  }

  /**
   * With `order=desc`, null on the last page. With `order=asc`, present whenever the page has entries, so that a poller
   * can continue with it later; null on an empty page at the end, where the poller keeps its cursor.
   */
  #nextCursor(): string | null {
    const { request } = this.#options
    const { end, position } = this.#latest
    const isOver = end === 'last' && (request.order === 'desc' || this.#count === 0)
    return isOver || position === null ? null : writeCursor(position, scopeOf(request))
  }
}

async function* partsOf(parts: PageParts): AsyncGenerator<string> {
  yield parts.begin()
  for (;;) {
    const part = await parts.next()
    yield part ?? parts.end()
    if (part === undefined) return
  }
}

function queryOf({ request: wanted, showFailures }: PageOptions, after: LogPosition | undefined, limit: number) {
  const { workspaceId, filter, order, ...request } = wanted
  const { details, includeFinalOutput: finalOutput, includeTraceSpans: traceSpans } = request
  const show = { details: details === 'full', finalOutput, traceSpans, failure: showFailures }
  return { workspaceId, filter, order, after, limit, show } satisfies LogQuery
}
