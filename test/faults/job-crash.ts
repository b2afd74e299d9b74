import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { call, deploy, init, serve } from '../support/running-service.ts'

export type JobCrashReport = {
  jobs: number
  kills: number
  /** The number of jobs by their final status. */
  statuses: Record<string, number>
  /** Jobs that repeated a block after a later one had started. Must be empty. */
  wentBack: string[]
  /** Requests that were sent twice, because they were in flight when the process was killed. */
  repeated: number
  /** Repeated requests with a different idempotency key than the first time. Must be 0. */
  otherKeys: number
}

const steps = 5

/**
 * Starts asynchronous runs of five blocks, each of which sends a request to a counter, and repeatedly kills the service
 * with -9 during the runs. `random` returns 0 ≤ n < 1.
 */
export async function crashJobs(options: {
  jobs: number
  kills: number
  random(): number
  progress?(kill: number, ended: number): void
}): Promise<JobCrashReport> {
  const { jobs, kills, random, progress } = options
  using folder = temporaryFolder()
  using counter = new Counter()
  const { apiKey } = await init(folder.path)
  const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_OUTBOUND_HOST_CONCURRENCY: '200' }
  let service = await serve(folder.path, environment)
  const { pathname } = new URL(await deploy(service.url, apiKey, workflowFor(counter.url)))
  const ids: string[] = []
  for (let killed = 0; killed < kills; killed += 1) {
    const more = Math.ceil(jobs / kills)
    await Promise.all(Array.from({ length: 8 }, () => start(service.url + pathname, apiKey, ids, more * (killed + 1))))
    await Bun.sleep(20 + random() * 130)
    await service.kill('SIGKILL')
    progress?.(killed + 1, counter.ended)
    service = await serve(folder.path, environment)
  }
  const statuses: Record<string, number> = {}
  for (const id of ids) {
    const status = await endOf(service.url, apiKey, id)
    statuses[status] = (statuses[status] ?? 0) + 1
  }
  await service.kill('SIGTERM')
  const wentBack = ids.filter((_, run) => counter.wentBack(run))
  return { jobs: ids.length, kills, statuses, wentBack, repeated: counter.repeated, otherKeys: counter.otherKeys }
}

function workflowFor(url: string) {
  const ids = Array.from({ length: steps }, (_, index) => `step${index + 1}`)
  return document({
    name: 'Five steps',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
      ...ids.map((id, index) =>
        block(id, 'api', {
          url: `${url}/count`,
          method: 'POST',
          body: { step: index + 1, run: index === 0 ? '<api.n>' : `<step${index}.data.run>` },
        }),
      ),
    ],
    edges: ['start > step1', ...ids.slice(1).map((id, index) => `step${index + 1} > ${id}`)],
  })
}

async function start(url: string, apiKey: string, ids: string[], upTo: number): Promise<void> {
  while (ids.length < upTo) {
    const n = ids.push('') - 1
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'x-execution-mode': 'async' },
      body: JSON.stringify({ n }),
    })
    const { jobId } = (await response.json()) as { jobId: string }
    if (response.status !== 202) throw new Error(`The run was not accepted: ${response.status}`)
    ids[n] = jobId
  }
}

/** Polls until the job has ended. Returns its final status. */
async function endOf(url: string, apiKey: string, id: string): Promise<string> {
  for (;;) {
    const { status, body } = await call(`${url}/api/jobs/${id}`, apiKey)
    const job = body as { status: string; output?: { data?: { step?: number } }; error?: { code: string } }
    if (status !== 200) return `HTTP ${status}`
    if (job.status === 'completed' && job.output?.data?.step !== steps) return 'completed with a wrong output'
    if (job.status === 'failed') return `failed: ${job.error?.code}`
    if (job.status !== 'queued' && job.status !== 'processing') return job.status
    await Bun.sleep(20)
  }
}

/** Receives the requests of all runs and records their order for each run. */
class Counter {
  readonly #server: ReturnType<typeof Bun.serve>
  readonly #seen = new Map<number, { step: number; key: string | null }[]>()

  constructor() {
    this.#server = Bun.serve({ port: 0, hostname: '127.0.0.1', fetch: (request) => this.#take(request) })
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  get ended(): number {
    return [...this.#seen.values()].filter((list) => list.at(-1)?.step === steps).length
  }

  get repeated(): number {
    return this.#repeats().length
  }

  get otherKeys(): number {
    return this.#repeats().filter(([first, again]) => first.key !== again.key).length
  }

  /** Whether a step came after a later one, or a step is missing. */
  wentBack(run: number): boolean {
    const list = this.#seen.get(run) ?? []
    return list.some(
      ({ step }, index) => step < (list[index - 1]?.step ?? 1) || step > (list[index - 1]?.step ?? 0) + 1,
    )
  }

  [Symbol.dispose](): void {
    this.#server.stop(true)
  }

  #repeats() {
    return [...this.#seen.values()].flatMap((list) =>
      list.flatMap((each, index) => {
        const before = list[index - 1]
        return before?.step === each.step ? [[before, each] as const] : []
      }),
    )
  }

  async #take(request: Request): Promise<Response> {
    const { step, run } = (await request.json()) as { step: number; run: number }
    const list = this.#seen.get(run) ?? []
    list.push({ step, key: request.headers.get('idempotency-key') })
    this.#seen.set(run, list)
    await Bun.sleep(20)
    return Response.json({ step, run })
  }
}
