import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import { millrace, temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, type Installation, init, type Serving, serve } from '../support/running-service.ts'
import { type FuzzedRequest, type FuzzFixtures, type OpenApi, RequestFuzzer, randomOf } from './fuzz-requests.ts'

export type FuzzReport = {
  requests: number
  seed: number
  /** Responses by status; `0`: the connection ended without one. */
  statuses: Record<string, number>
  /** Responses 5xx other than 503 with `Retry-After`. */
  serverErrors: string[]
  /** Requests that are invalid by construction and were accepted. */
  accepted: string[]
  /** Resident memory in MB after each tenth of the requests. */
  memoryMb: number[]
  memoryGrows: boolean
  /** Whether the process ended or stopped responding. */
  crashed: boolean
  /** The error lines that the service logged. */
  errors: string
  tookMs: number
}

/**
 * Sends malformed and mutated requests to the executable, over all routes. Equal seeds make equal requests, except for
 * the IDs in them.
 */
export async function fuzz(options: {
  requests: number
  seed: number
  progress?(done: number, memoryMb: number): void
}): Promise<FuzzReport> {
  const { requests, seed, progress } = options
  using folder = temporaryFolder()
  const installation = await init(folder.path)
  const service = await serve(folder.path, {
    MILLRACE_LOG_LEVEL: 'error',
    MILLRACE_ACCESS_LOG: 'off',
    MILLRACE_TRUSTED_PROXIES: 'loopback',
    MILLRACE_LOG_RETENTION_BYTES: '64MB',
  })
  const openapi = (await (await fetch(`${service.url}/swagger/json`)).json()) as OpenApi
  const world = new FuzzWorld(service, folder.path, installation)
  const fuzzer = new RequestFuzzer(randomOf(seed), openapi, await world.fixtures())
  const startedAt = performance.now()
  const memoryMb: number[] = []
  const tenth = Math.ceil(requests / 10)
  let begun = 0
  const sendNext = async () => {
    while (begun < requests && !world.isGone) {
      begun += 1
      if (begun % tenth === 0) {
        memoryMb.push(residentMb(service.pid))
        progress?.(begun, memoryMb.at(-1)!)
      }
      if (begun % renewEach === 0) fuzzer.fixtures = await world.fixtures()
      await (begun % rawEach === 0 ? world.sendRaw(fuzzer.raw()) : world.send(fuzzer.next()))
    }
  }
  await Promise.all(Array.from({ length: atOnce }, sendNext))
  const isAlive = await fetch(`${service.url}/health`).then(
    (response) => response.ok,
    () => false,
  )
  const errors = service.errors()
  const code = await service.kill('SIGTERM')
  const { statuses, serverErrors, accepted } = world
  const [early = 0, late = 0] = [memoryMb.slice(3, 6), memoryMb.slice(-3)].map((some) => Math.min(...some))
  const memoryGrows = late > early * 1.25 + 32
  const tookMs = Math.round(performance.now() - startedAt)
  const crashed = !isAlive || code !== 0
  return { requests: begun, seed, statuses, serverErrors, accepted, memoryMb, memoryGrows, crashed, errors, tookMs }
}

/** A service with objects that requests can name, and what it responded. */
class FuzzWorld {
  readonly statuses: Record<string, number> = {}
  readonly serverErrors: string[] = []
  readonly accepted: string[] = []
  isGone = false
  readonly #service: Serving
  readonly #data: string
  readonly #installation: Installation
  #cookie = ''
  #ids: Record<string, string> = {}
  #unanswered = 0

  constructor(service: Serving, data: string, installation: Installation) {
    this.#service = service
    this.#data = data
    this.#installation = installation
  }

  /** Makes the objects again that a request deleted. */
  async fixtures(): Promise<FuzzFixtures> {
    const { url } = this.#service
    const { apiKey, workspaceId } = this.#installation
    if (this.#cookie === '' || !(await this.#isOk('/api/editor/me'))) this.#cookie = await this.#signIn()
    for (const name of ['target', 'workflow'] as const) {
      if (this.#ids[name] && (await this.#isOk(`/api/workflows/${this.#ids[name]}`))) continue
      const { body } = await call(`${url}/api/workflows`, apiKey, 'POST', name === 'target' ? target : draft)
      this.#ids[name] = (body as { id: string }).id
    }
    // It may have been undeployed, or its draft replaced.
    await call(`${url}/api/workflows/${this.#ids['target']}`, apiKey, 'PUT', target)
    await call(`${url}/api/workflows/${this.#ids['target']}/deploy`, apiKey, 'POST')
    const ran = await call(`${url}/api/workflows/${this.#ids['target']}/execute`, apiKey, 'POST', { n: 1 })
    const { executionId } = ran.body as { executionId: string }
    const found = await call(`${url}/api/v1/logs?workspaceId=${workspaceId}&limit=1`, apiKey)
    const [log] = (found.body as { data: { id: string }[] }).data
    Object.assign(this.#ids, { workspace: workspaceId, execution: executionId, log: log?.id ?? '' })
    return { apiKey, cookie: this.#cookie, ids: this.#ids }
  }

  async send(request: FuzzedRequest): Promise<void> {
    const { method, path, headers, body } = request
    let response: Response
    try {
      const init = { method, headers, redirect: 'manual', signal: AbortSignal.timeout(timeoutMs) } as const
      response = await fetch(this.#service.url + path, body === undefined ? init : { ...init, body: body.slice() })
    } catch (error) {
      this.#count(0)
      await this.#checkAlive(error)
      return
    }
    this.#unanswered = 0
    this.#count(response.status)
    const isEvents = response.headers.get('content-type')?.startsWith('text/event-stream') === true
    const text = isEvents ? '' : await response.text().catch(() => '')
    if (isEvents) await response.body?.cancel().catch(() => undefined)
    const about = () => `${describe(request)} → ${response.status} ${text.slice(0, 300)}`
    if (response.status >= 500 && !(response.status === 503 && response.headers.has('retry-after'))) {
      if (this.serverErrors.length < shownMax) this.serverErrors.push(about())
    } else if (request.invalid !== undefined && response.status < 300 && this.accepted.length < shownMax) {
      this.accepted.push(`${request.invalid}: ${about()}`)
    }
  }

  /** The server may respond, close the connection or wait for more; it must not fail. */
  async sendRaw(text: string): Promise<void> {
    const ended = Promise.withResolvers<void>()
    let received = ''
    const socket = connect(Number(new URL(this.#service.url).port), '127.0.0.1', () => socket.end(text, 'latin1'))
    socket.on('data', (data) => {
      received += data.toString('latin1')
    })
    socket.on('error', () => ended.resolve())
    socket.on('close', () => ended.resolve())
    socket.setTimeout(rawTimeoutMs, () => socket.destroy())
    await ended.promise
    const status = Number(/^HTTP\/1\.\d (\d{3})/.exec(received)?.[1] ?? 0)
    this.#count(status)
    // 505 is the HTTP parser's response to a version that is not HTTP/1.
    if (status >= 500 && status !== 505 && !/retry-after/i.test(received) && this.serverErrors.length < shownMax) {
      this.serverErrors.push(`${JSON.stringify(text.slice(0, 500))} → ${received.slice(0, 300)}`)
    }
  }

  #count(status: number): void {
    this.statuses[status] = (this.statuses[status] ?? 0) + 1
  }

  /** The client refuses some requests itself, and the server may close a connection. It must go on responding. */
  async #checkAlive(error: unknown): Promise<void> {
    if (error instanceof TypeError) return
    this.#unanswered += 1
    if (this.#unanswered < atOnce) return
    this.#unanswered = 0
    this.isGone = !(await this.#isOk('/health'))
  }

  async #isOk(path: string): Promise<boolean> {
    const headers = path.startsWith('/api/editor/')
      ? { cookie: this.#cookie, 'sec-fetch-site': 'same-origin' }
      : { 'x-api-key': this.#installation.apiKey }
    return await fetch(this.#service.url + path, { headers, signal: AbortSignal.timeout(timeoutMs) }).then(
      async (response) => (await response.text()) !== undefined && response.ok,
      () => false,
    )
  }

  async #signIn(): Promise<string> {
    const environment = { MILLRACE_DATA: this.#data }
    const { out } = await millrace(['users', 'link', this.#installation.userId], { environment })
    const token = /token=([^\s&]+)/.exec(out)?.[1]
    const response = await fetch(`${this.#service.url}/sign-in?token=${token}`, { redirect: 'manual' })
    return response.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
}

const target = document({
  name: 'Target',
  blocks: [
    block('start', 'api_trigger'),
    block('hook', 'webhook_trigger', { path: 'nothing', methods: ['POST', 'PUT'] }),
    block('talk', 'chat_trigger', { identifier: 'nothing', access: 'public' }),
    block('form', 'form_trigger', { path: 'nothing', title: 'Form', fields: [{ name: 'a', type: 'string' }] }),
    block('v', 'variables', { variables: [] }),
  ],
  edges: ['start > v', 'hook > v', 'talk > v', 'form > v'],
})
const draft = document({ name: 'Draft', blocks: [block('start', 'api_trigger')] })

function describe({ method, path, headers, body }: FuzzedRequest): string {
  const shown = body === undefined ? '' : ` ${JSON.stringify(new TextDecoder().decode(body).slice(0, 400))}`
  return `${method} ${path.slice(0, 300)} ${JSON.stringify(headers).slice(0, 500)}${shown}`
}

function residentMb(pid: number): number {
  return Math.round(Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1_024)
}

const atOnce = 32
const renewEach = 2_000
/** One in as many requests is sent as bytes over a socket. */
const rawEach = 201
const rawTimeoutMs = 300
const timeoutMs = 20_000
const shownMax = 50
