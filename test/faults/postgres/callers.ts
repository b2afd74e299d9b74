import { expect } from 'bun:test'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { allExecutions, deploy, type Installation, type Serving, serve } from '../../support/running-service.ts'

export type Refusal = { status: number; retryAfter: string | null; tookMs: number }

/** A service on PostgreSQL, and callers that start runs one after the other: most synchronous, some asynchronous. */
export class Callers implements AsyncDisposable {
  readonly #folder: Disposable
  readonly service: Serving
  readonly acknowledged: string[] = []
  readonly refused: Refusal[] = []
  readonly #home: Installation
  readonly #url: string
  #calling: Promise<unknown> = Promise.resolve()
  #isCalling = true

  private constructor(folder: Disposable, service: Serving, home: Installation, url: string) {
    this.#folder = folder
    this.service = service
    this.#home = home
    this.#url = url
  }

  /** `store`: the address of an empty database. `outputChars`: the least that each run writes. */
  static async start(store: string, { outputChars = 10 } = {}): Promise<Callers> {
    const folder = temporaryFolder()
    const environment = { MILLRACE_STORE: store, MILLRACE_SECRET_KEY: 'a secret key with more than 32 characters' }
    const made = await millrace(['init', '--json'], { environment: { ...environment, MILLRACE_DATA: folder.path } })
    const home = JSON.parse(made.out) as Installation
    const service = await serve(folder.path, environment)
    const url = await deploy(service.url, home.apiKey, workflowWith(outputChars))
    const callers = new Callers(folder, service, home, url)
    callers.#calling = Promise.all(Array.from({ length: 8 }, (_, index) => callers.#callAgain(index % 4 === 0)))
    return callers
  }

  async #callAgain(isAsync: boolean): Promise<void> {
    while (this.#isCalling) {
      const startedAt = performance.now()
      const headers = { 'x-api-key': this.#home.apiKey, ...(isAsync && { 'x-execution-mode': 'async' }) }
      const response = await fetch(this.#url, { method: 'POST', headers, body: '{}' })
      const { executionId, jobId = executionId } = (await response.json()) as { executionId: string; jobId?: string }
      const { status } = response
      if (status === (isAsync ? 202 : 200)) this.acknowledged.push(jobId)
      else {
        const tookMs = performance.now() - startedAt
        this.refused.push({ status, retryAfter: response.headers.get('retry-after'), tookMs })
        await Bun.sleep(10)
      }
    }
  }

  /** Resolves when more runs have been acknowledged. */
  async acknowledge(more: number): Promise<void> {
    const before = this.acknowledged.length
    while (this.acknowledged.length < before + more) await Bun.sleep(5)
  }

  /** Resolves when more calls have been refused. */
  async refuse(more: number): Promise<void> {
    const before = this.refused.length
    while (this.refused.length < before + more) await Bun.sleep(5)
  }

  /** The status of `GET /health/ready`, and how long it took. */
  async ready(): Promise<{ status: number; tookMs: number }> {
    const startedAt = performance.now()
    const { status } = await fetch(`${this.service.url}/health/ready`)
    return { status, tookMs: performance.now() - startedAt }
  }

  /** Ends the calls, and compares what was acknowledged with the log. */
  async expectNothingLost(): Promise<void> {
    this.#isCalling = false
    await this.#calling
    expect(new Set(this.refused.map(({ status }) => status))).toEqual(new Set([503]))
    expect(this.refused.every(({ retryAfter }) => retryAfter !== null)).toBe(true)
    // A bound for callers, not a measurement.
    expect(Math.max(...this.refused.map(({ tookMs }) => tookMs))).toBeLessThan(2_000)
    let missing = this.acknowledged
    // Accepted jobs may still run.
    for (let attempt = 0; missing.length > 0 && attempt < 100; attempt += 1) {
      if (attempt > 0) await Bun.sleep(100)
      const logged: string[] = []
      for await (const execution of allExecutions(this.service.url, this.#home.apiKey, this.#home.workspaceId)) {
        logged.push(execution)
      }
      const found = new Set(logged)
      expect(found.size).toBe(logged.length)
      missing = this.acknowledged.filter((execution) => !found.has(execution))
    }
    expect(missing).toEqual([])
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isCalling = false
    await this.service.kill('SIGTERM')
    await this.#calling.catch(() => undefined)
    this.#folder[Symbol.dispose]()
  }
}

/** Its output cannot be compressed. */
function workflowWith(outputChars: number): WorkflowDocument {
  const code = `let text = ''; while (text.length < ${outputChars}) text += Math.random().toString(36); return text`
  return document({
    name: 'Writes',
    blocks: [block('start', 'api_trigger'), block('f', 'function', { code })],
    edges: ['start > f'],
  })
}
