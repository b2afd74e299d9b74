import { millrace } from '../../test/support/executable.ts'
import { block, document } from '../../test/support/make.ts'
import { call, deploy, type Serving } from '../../test/support/running-service.ts'
import type { SoakReceivers } from './receivers.ts'
import { percentile, readSample } from './samples.ts'

export type SoakLoadOptions = {
  service: Serving
  data: string
  apiKey: string
  workspaceId: string
  receivers: SoakReceivers
}

/** Sends 300 requests a second to a service, of every kind in a fixed mixture. */
export class SoakLoad {
  readonly #options: SoakLoadOptions
  readonly #sends: Kind[]
  readonly #times = new Map<string, number[]>()
  readonly #counts = new Map<string, number>()
  #sent = 0
  #failed = 0
  #firstFailure: string | undefined
  readonly #inFlight = new Set<Promise<void>>()

  private constructor(options: SoakLoadOptions, kinds: readonly Kind[]) {
    this.#options = options
    // A fixed, well mixed order: each kind is spread over the second.
    this.#sends = kinds
      .flatMap((kind) => Array.from({ length: kind.perSecond }, (_, n) => ({ kind, at: (n + 0.5) / kind.perSecond })))
      .toSorted((a, b) => a.at - b.at)
      .map(({ kind }) => kind)
  }

  /** Deploys the workflows and signs in. */
  static async open(options: SoakLoadOptions): Promise<SoakLoad> {
    return new SoakLoad(options, await kindsOf(options))
  }

  /** Records runs with long inputs until the log is full and retention deletes the first of them. */
  async fill(): Promise<void> {
    const { service, apiKey, data } = this.#options
    const execute = await deploy(
      service.url,
      apiKey,
      document({ name: 'Fill', blocks: [block('start', 'api_trigger')] }),
    )
    const noise = () => crypto.getRandomValues(new Uint8Array(20_000)).toBase64()
    while ((await readSample(service, data, 0)).deleted === 0) {
      await Promise.all(
        Array.from({ length: 16 }, async () => {
          const { status } = await call(execute, apiKey, 'POST', { noise: noise() })
          if (status !== 200) throw new Error(`A run that fills the log got ${status}`)
        }),
      )
    }
  }

  /** Sends the mixture until the time is over, and waits for the responses. */
  async run(ms: number): Promise<void> {
    const startedAt = performance.now()
    for (let n = 0; ; n += 1) {
      const dueMs = (n * 1_000) / this.#sends.length
      if (dueMs >= ms) break
      const early = startedAt + dueMs - performance.now()
      if (early > 1) await Bun.sleep(early)
      const sending = this.#send(this.#sends[n % this.#sends.length]!, n).finally(() => this.#inFlight.delete(sending))
      this.#inFlight.add(sending)
    }
    await Promise.all(this.#inFlight)
  }

  counts() {
    const kinds = Object.fromEntries(
      [...this.#times].map(([name, times]) => {
        const at = (share: number) => percentile(times, share).toFixed(1)
        return [name, { count: this.#counts.get(name) ?? 0, p50: at(0.5), p99: at(0.99) }]
      }),
    )
    return { sent: this.#sent, failed: this.#failed, firstFailure: this.#firstFailure, kinds }
  }

  async #send({ name, send }: Kind, n: number): Promise<void> {
    const startedAt = performance.now()
    this.#sent += 1
    try {
      await send(n)
    } catch (error) {
      this.#failed += 1
      this.#firstFailure ??= `${name}: ${String(error)}`
    }
    const times = this.#times.get(name) ?? []
    this.#times.set(name, times)
    this.#counts.set(name, (this.#counts.get(name) ?? 0) + 1)
    // A sample of constant size, so that this process does not grow itself.
    if (times.length < timesMax) times.push(performance.now() - startedAt)
    else times[Math.floor(Math.random() * timesMax)] = performance.now() - startedAt
  }
}

type Kind = { name: string; perSecond: number; send(n: number): Promise<unknown> }

async function kindsOf({ service, data, apiKey, workspaceId, receivers }: SoakLoadOptions): Promise<Kind[]> {
  const { url } = service
  const start = [block('start', 'api_trigger')]
  const make = (
    name: string,
    kinds: readonly ('good' | 'failing' | 'hanging')[],
    blocks = start,
    edges: string[] = [],
  ) =>
    deploy(url, apiKey, {
      ...document({ name, blocks, edges }),
      webhooks: kinds.map((kind) => ({ url: receivers.url(kind) })),
    })
  const plain = await make('Plain', [], [start[0]!, block('w', 'variables', { variables: [] })], ['start > w'])
  const notified = await make('Notified', ['good', 'failing'])
  const hanging = await make('Hanging', ['good', 'hanging'])
  const headers = { 'x-api-key': apiKey }
  const cookie = await signIn(url, data)
  const ask = async (address: string, init: RequestInit = {}) => {
    const response = await fetch(address, { headers, ...init })
    const text = await response.text()
    if (!response.ok) throw new Error(`${response.status} ${text.slice(0, 200)}`)
    return text
  }
  const run = (address: string, body: object, more: Record<string, string> = {}) =>
    ask(address, { method: 'POST', headers: { ...headers, ...more }, body: JSON.stringify(body) })
  const runNotified = async (address: string, n: number) => {
    const { executionId } = JSON.parse(await run(address, { n })) as { executionId: string }
    receivers.expect(executionId)
  }
  const editor = ['me', 'blocks', 'models', 'service', 'usage', 'keys'].map((name) => `${url}/api/editor/${name}`)
  const inWorkspace = ['workflows', 'logs', 'workflows/deleted'].map(
    (name) => `${url}/api/editor/${name}?workspaceId=${workspaceId}`,
  )
  const screens = [...editor, ...inWorkspace]
  const pages = ['limit=50', 'limit=100&details=full', 'level=error', 'order=asc&limit=20'].map(
    (query) => `${url}/api/v1/logs?workspaceId=${workspaceId}&${query}`,
  )
  return [
    { name: 'synchronous runs', perSecond: 160, send: (n) => run(plain, { n: n % 1_000 }) },
    { name: 'asynchronous runs', perSecond: 50, send: (n) => run(plain, { n }, { 'x-execution-mode': 'async' }) },
    { name: 'streamed runs', perSecond: 30, send: (n) => run(plain, { n, stream: true, selectedOutputs: [] }) },
    { name: 'runs, failing receiver', perSecond: 18, send: (n) => runNotified(notified, n) },
    { name: 'runs, hanging receiver', perSecond: 2, send: (n) => runNotified(hanging, n) },
    { name: 'log pages', perSecond: 20, send: (n) => ask(pages[n % pages.length]!) },
    { name: 'editor', perSecond: 20, send: (n) => ask(screens[n % screens.length]!, { headers: { cookie } }) },
  ]
}

/** The cookie of a session of the owner. */
async function signIn(url: string, data: string): Promise<string> {
  const { out } = await millrace(['users', 'link', 'owner@localhost'], { environment: { MILLRACE_DATA: data } })
  const token = new URL(out.trim().split('\n')[0]!).searchParams.get('token')
  const response = await fetch(`${url}/sign-in?token=${token}`, { redirect: 'manual' })
  const cookie = response.headers.get('set-cookie')?.split(';')[0]
  if (cookie === undefined) throw new Error(`The sign-in returned ${response.status} without a cookie`)
  return cookie
}

const timesMax = 10_000
