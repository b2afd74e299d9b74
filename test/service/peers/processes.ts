import { join } from 'node:path'
import { newId } from '../../../src/domain/ids.ts'
import type { Block, WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { type Ended, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { type Serving, serve } from '../../support/running-service.ts'
import type { HttpResult } from '../http/world.ts'

/** Real processes that serve one new installation on PostgreSQL, and a server that lets runs wait. */
export class Processes implements AsyncDisposable {
  readonly #folder: ReturnType<typeof temporaryFolder>
  readonly #held = new Set<() => void>()
  readonly #arrivals: (() => void)[] = []
  readonly environment: Record<string, string>
  readonly #receiver: Bun.Server<undefined>
  #all: Serving[] = []
  #cookie = ''
  #apiKey = ''

  static async start(store: string, count: number, more: Record<string, string> = {}): Promise<Processes> {
    const processes = new Processes(store, more)
    try {
      for (let index = 0; index < count; index += 1) await processes.add()
      await processes.#signIn()
      await processes.know()
    } catch (error) {
      await processes[Symbol.asyncDispose]()
      throw error
    }
    return processes
  }

  private constructor(store: string, more: Record<string, string>) {
    this.#folder = temporaryFolder()
    this.#receiver = Bun.serve({ port: 0, hostname: '127.0.0.1', idleTimeout: 0, fetch: () => this.#hold() })
    this.environment = {
      MILLRACE_STORE: store,
      MILLRACE_SECRET_KEY: 'the secret key of all these processes',
      MILLRACE_OUTBOUND_ALLOW: 'loopback',
      // No test stores a file.
      MILLRACE_S3_BUCKET: 'unused',
      MILLRACE_STOP_GRACE_MS: '0',
      ...more,
    }
  }

  async add(more: Record<string, string> = {}): Promise<Serving> {
    const data = join(this.#folder.path, String(this.#all.length))
    const started = await serve(data, { ...this.environment, ...more })
    this.#all.push(started)
    return started
  }

  get all(): readonly Serving[] {
    return this.#all
  }

  /** The owner's session. */
  get cookie(): string {
    return this.#cookie
  }

  get apiKey(): string {
    return this.#apiKey
  }

  /** Waits until each process knows all others. */
  async know(): Promise<void> {
    for (const { url } of this.#all) {
      await until(async () => {
        const text = await (await fetch(`${url}/metrics`)).text()
        return text.includes(`\nmillrace_peers ${this.#all.length - 1}\n`)
      })
    }
  }

  /** A request of the owner's session to a process. */
  async send(to: Serving, method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<HttpResult> {
    return await answerOf(await this.fetch(to, method, path, body, signal))
  }

  fetch(to: Serving, method: string, path: string, body?: unknown, signal?: AbortSignal): Promise<Response> {
    return fetch(to.url + path, {
      method,
      headers: { cookie: this.#cookie, origin: to.url },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
  }

  /** Runs a command on the installation. */
  command(...args: string[]): Promise<Ended> {
    return millrace(args, { environment: { ...this.environment, MILLRACE_DATA: join(this.#folder.path, 'none') } })
  }

  /** A workflow that waits in its block `wait` until `release`. */
  waiting(trigger: Block = block('start', 'api_trigger')): WorkflowDocument {
    const wait = block('wait', 'api', { url: `http://127.0.0.1:${this.#receiver.port}/`, method: 'GET' })
    return document({ blocks: [trigger, wait], edges: [`${trigger.id} > wait`] })
  }

  /** Creates a workflow and returns its ID. */
  async create(to: Serving, workflow: WorkflowDocument, isDeployed = true): Promise<string> {
    const { json, status, text } = await this.send(to, 'POST', '/api/workflows', { ...workflow, name: newId() })
    if (status !== 201) throw new Error(text)
    if (isDeployed) await this.send(to, 'POST', `/api/workflows/${json['id']}/deploy`)
    return json['id']
  }

  /** Resolves when a run has begun to wait. */
  arrival(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#arrivals.push(resolve)
    return promise
  }

  release(): void {
    for (const go of this.#held) go()
    this.#held.clear()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.release()
    await Promise.all(this.#all.map((each) => each.kill('SIGKILL')))
    await this.#receiver.stop(true)
    this.#folder[Symbol.dispose]()
  }

  async #hold(): Promise<Response> {
    const { promise, resolve } = Promise.withResolvers<void>()
    this.#held.add(resolve)
    this.#arrivals.shift()?.()
    await promise
    return Response.json({ waited: true })
  }

  async #signIn(): Promise<void> {
    const printed = this.#all[0]!.output()
    this.#apiKey = /mrk_\w+/.exec(printed)?.[0] ?? ''
    const link = /http:\/\/\S+\/sign-in\?token=\S+/.exec(printed)?.[0] ?? ''
    const opened = await fetch(link, { redirect: 'manual' })
    this.#cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  }
}

export async function answerOf(response: Response): Promise<HttpResult> {
  const text = await response.text()
  const { status, headers } = response
  const isJson = headers.get('content-type')?.startsWith('application/json')
  return { status, headers, text, json: isJson ? JSON.parse(text) : {} }
}

/** Waits for a fact. */
export async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await Bun.sleep(100)
}

/** Reads a stream of events step by step. */
export class Events {
  readonly #reader: ReadableStreamDefaultReader<string>

  constructor({ body }: Response) {
    this.#reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  }

  /** Reads until a text arrives, and returns what was read. */
  async until(text: string): Promise<string> {
    let read = ''
    while (!read.includes(text)) {
      const { done, value } = await this.#reader.read()
      if (done) throw new Error(`The stream ended without ${text}: ${read}`)
      read += value
    }
    return read
  }
}
