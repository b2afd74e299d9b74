import { DatabaseError, type Databases } from '../../domain/database/database.ts'
import { estimateSize } from '../../domain/estimate-size.ts'
import { MailError, type SendMail } from '../../domain/mail/mail.ts'
import { type McpClient, McpError } from '../../domain/mcp-server.ts'
import type { OutboundFetch, OutboundRequest, RequestAuthorization } from '../../domain/outbound-request.ts'
import type { CallModel } from '../../domain/run/model-call.ts'
import { shorten } from '../../domain/text/shorten.ts'
import { addressCharsMax, type TestCall, type WorkflowTest } from '../../domain/workflow/workflow-test.ts'
import { databaseData, sqlResult } from './mocked-database.ts'
import { mailBody, sentMail } from './mocked-mail.ts'
import { mcpResult, mcpTools } from './mocked-mcp.ts'
import { modelOutcome } from './mocked-model.ts'

type Mock = NonNullable<WorkflowTest['mocks']>[number]

/**
 * Answers the requests of one test from its mocks. No request leaves the process. Mocks of the same request answer in
 * order, and the last one answers all further requests. A request without a mock is refused and remembered.
 */
export class MockedCalls {
  readonly #mocks: { mock: Mock; address: string | undefined; uses: number }[]
  /** In the order in which they were made. */
  readonly made: TestCall[] = []
  #bodyBytes = 0
  /** A message about each request without a mock: the request, and the mock to add. */
  readonly missing = new Set<string>()

  constructor(mocks: readonly Mock[]) {
    this.#mocks = mocks
      .filter(({ response }) => response !== undefined)
      .map((mock) => ({
        mock,
        address: mock.request?.url === undefined ? undefined : plain(mock.request.url),
        uses: 0,
      }))
  }

  readonly fetch: OutboundFetch = async (request) => {
    const { method, url } = request
    const body = await bodyOf(request)
    this.#note({ method, url, ...(body === undefined ? {} : { body }) })
    const response = this.#answer({ method, url, body }, request.blockName)
    if (!response) return { ok: false, code: 'INVALID_REQUEST', message: missingText(method, url) }
    const { status, headers = {}, data } = response
    const isText = typeof data === 'string'
    const type = isText ? 'text/plain;charset=utf-8' : 'application/json'
    const named = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]))
    const text = data === undefined ? '' : isText ? data : JSON.stringify(data)
    return {
      ok: true,
      response: { status, url, headers: { 'content-type': type, ...named }, body: new TextEncoder().encode(text) },
    }
  }

  /** A request to a model has the method `MODEL` and the address `provider/model`. */
  readonly model: CallModel = async (request) => {
    const url = `${request.provider}/${request.model}`
    this.#note({ method: 'MODEL', url })
    const response = this.#answer({ method: 'MODEL', url }, request.blockName)
    if (response) return modelOutcome(response)
    const failure = { code: 'INVALID_REQUEST', message: missingText('MODEL', url), mayPass: false }
    return { ok: false, failure, tokens: undefined, firstTokenMs: null }
  }

  /** A request to an MCP server has the method `MCP` and the address `server#tool`, without a tool for their list. */
  readonly mcp: McpClient = {
    open: async ({ method, url }) => ({ ok: false, code: 'INVALID_REQUEST', message: missingText(method, url) }),
    connect: ({ url, blockName }) => {
      const answer = (call: MadeCall) => {
        this.#note(call)
        const response = this.#answer(call, blockName)
        if (response) return response
        throw new McpError('INVALID_REQUEST', missingText(call.method, call.url))
      }
      return {
        tools: async () => mcpTools(answer({ method: 'MCP', url })),
        call: async ({ tool, arguments: body }) => mcpResult(answer({ method: 'MCP', url: `${url}#${tool}`, body })),
      }
    },
  }

  /** An e-mail has the method `EMAIL` and, as its address, the name of the credential. */
  readonly sendMail: SendMail<unknown> = async (_, mail, { credential: url, blockName }) => {
    const call = { method: 'EMAIL', url, body: mailBody(mail) }
    this.#note(call)
    const response = this.#answer(call, blockName)
    if (response) return sentMail(mail, response)
    throw new MailError('INVALID_REQUEST', missingText('EMAIL', url))
  }

  /**
   * A statement has the method `SQL`, and a Redis command the method `REDIS`. The address is the name of the
   * credential, and the body is the query with its parameters, or the command with its arguments.
   */
  readonly databases: Databases = {
    sql: async ({ credential: url, query, params, mode, maxRows }, { blockName }) =>
      sqlResult(this.#database({ method: 'SQL', url, body: { query, params } }, blockName), mode, maxRows),
    redis: async ({ credential: url, command, args }, { blockName }) =>
      databaseData(this.#database({ method: 'REDIS', url, body: { command, args } }, blockName)),
  }

  #database(call: MadeCall, blockName: string): NonNullable<Mock['response']> {
    this.#note(call)
    const response = this.#answer(call, blockName)
    if (response) return response
    throw new DatabaseError('INVALID_REQUEST', missingText(call.method, call.url))
  }

  #note({ body, ...sent }: MadeCall): void {
    if (this.made.length >= callsMax) return
    const call = { ...sent, url: shorten(sent.url, addressCharsMax) }
    this.#bodyBytes += body === undefined ? 0 : estimateSize(body, bodiesBytesMax)
    this.made.push(body === undefined || this.#bodyBytes > bodiesBytesMax ? call : { ...call, body })
  }

  #answer({ method, url, body }: MadeCall, blockName: string | undefined): Mock['response'] {
    // A longer address fits only mocks that name the block.
    const address = url.length > addressCharsMax ? undefined : plain(url)
    const fitting = this.#mocks.filter(({ mock: { block, request }, address: wanted }) => {
      if (block !== undefined && block !== blockName) return false
      if (block === undefined && request === undefined) return false
      if (request?.method !== undefined && request.method.toUpperCase() !== method.toUpperCase()) return false
      return wanted === undefined || (address !== undefined && isAddressOf(wanted, address))
    })
    const chosen = fitting.find(({ uses }) => uses === 0) ?? fitting.at(-1)
    if (!chosen) {
      if (this.missing.size < missingMax) this.missing.add(missingReport({ method, url, body }, blockName))
      return undefined
    }
    chosen.uses += 1
    return chosen.mock.response
  }
}

const callsMax = 1_000
/** The memory for the bodies of all requests of a test. Later requests are kept without their bodies. */
const bodiesBytesMax = 4_194_304
const missingMax = 20

type MadeCall = { method: string; url: string; body?: unknown }

function missingReport({ method, url, body }: MadeCall, blockName: string | undefined): string {
  const from = blockName === undefined ? '' : ` of "${blockName}"`
  const sent = body === undefined ? '' : `\nIts body: ${shorten(JSON.stringify(body), 500)}`
  const request = { method, url: shorten(url, 500) }
  const mock = JSON.stringify({ request, response: { status: 200, data: {} } })
  return `No mock answers the request${from}: ${method} ${shorten(url, 500)}${sent}\nAdd one to "mocks": ${mock}`
}

/** A credential of a test: it covers every address and adds nothing. */
export function mockedCredential(name: string): RequestAuthorization {
  return { name, fields: {}, covers: () => true, authorize: () => undefined }
}

function missingText(method: string, url: string): string {
  return `No mock of the test answers ${method} ${shorten(url, 500)}.`
}

/** Two addresses are equal even if only one of them is percent-encoded. */
function plain(url: string): string {
  try {
    return decodeURIComponent(url)
  } catch {
    return url
  }
}

/** Whether the address of a mock, in which each `*` stands for any text, is that of a request. */
function isAddressOf(pattern: string, url: string): boolean {
  if (pattern === url) return true
  const [first = '', ...rest] = pattern.split('*')
  const last = rest.pop()
  if (last === undefined || !url.startsWith(first)) return false
  let at = first.length
  for (const part of rest) {
    const found = url.indexOf(part, at)
    if (found === -1) return false
    at = found + part.length
  }
  return url.length - last.length >= at && url.endsWith(last)
}

/** The body as JSON data or text; undefined for files and forms with files. */
async function bodyOf({ body }: OutboundRequest): Promise<unknown> {
  if (body === undefined || body instanceof FormData || body instanceof Blob) return undefined
  const text = typeof body === 'string' ? body : new TextDecoder().decode(body)
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}
