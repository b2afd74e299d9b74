import type { WorkflowDocument } from '../../src/domain/workflow/workflow.ts'
import { block, document } from '../support/make.ts'
import { deploy } from '../support/running-service.ts'
import type { Target } from './oauth-targets.ts'

export type PauseCrashReport = {
  rounds: number
  runs: number
  answered: number
  expired: number
  /** Sentences about runs that were lost, that continued in two ways, or that took an answer which was refused. */
  wrong: string[]
}

type Continuation = { approved: boolean; timedOut: boolean; key: string | null; at: number }

/** The time from before a kill until the process serves again. */
type Kill = { from: number; to: number }

/** Everything that is known about one run. */
type Seen = {
  link: string | undefined
  /** Whether an answer was accepted, and what it said. */
  taken: boolean[]
  continuations: Continuation[]
}

/**
 * Starts runs that ask, answers them or lets them expire, and kills a process with -9 in every round, while runs pause,
 * resume and expire. `random` returns 0 ≤ n < 1.
 */
export async function crashPauses(
  target: Target,
  { rounds, runsPerRound = 8, random, progress }: CrashOptions,
): Promise<PauseCrashReport> {
  const seen = new Map<number, Seen>()
  using receiver = new Receiver(seen)
  const first = target.processes[0]!
  const { pathname: path } = new URL(await deploy(first.url, target.apiKey, workflowFor(receiver.url)))
  const kills: Kill[] = []
  let count = 0
  for (let round = 1; round <= rounds; round += 1) {
    const working: Promise<unknown>[] = []
    for (let at = 0; at < runsPerRound; at += 1) {
      const n = count
      count += 1
      seen.set(n, { link: undefined, taken: [], continuations: [] })
      working.push(start(target, path, n, random() < 0.5))
      working.push(answerTwice(target, seen.get(n)!, random() * 120, random() < 0.7))
    }
    // A run that is killed three times before a block of it ends is given up, so there is time for a block.
    await Bun.sleep(100 + random() * 400)
    const from = performance.now()
    await target.restart(Math.floor(random() * target.processes.length))
    kills.push({ from, to: performance.now() })
    await Promise.all(working)
    progress?.(round, [...seen.values()].filter(({ continuations }) => continuations.length > 0).length)
  }
  const asked = [...seen].filter(([, { link }]) => link !== undefined)
  const wrong = new Set<string>()
  for (const [n, run] of asked) {
    const deadline = performance.now() + 60_000
    while (run.continuations.length === 0 && performance.now() < deadline) await Bun.sleep(20)
    if (run.continuations.length === 0) wrong.add(`run ${n} asked, and never continued`)
    for (const problem of problemsOf(run, kills)) wrong.add(`run ${n} ${problem}`)
  }
  for (const problem of await leftBehind(target)) wrong.add(problem)
  for (const problem of await receiver.missingEvents(asked.length)) wrong.add(problem)
  const ended = asked.map(([, { continuations }]) => continuations[0]).filter((each) => each !== undefined)
  const expired = ended.filter(({ timedOut }) => timedOut).length
  return { rounds, runs: asked.length, answered: ended.length - expired, expired, wrong: [...wrong] }
}

type CrashOptions = {
  rounds: number
  runsPerRound?: number
  random(): number
  progress?(round: number, continued: number): void
}

/** A block that was in progress during a kill runs again, but always with the same outcome and the same key. */
function problemsOf({ taken, continuations }: Seen, kills: readonly Kill[]): string[] {
  const [first, ...others] = continuations
  if (!first) return []
  const problems: string[] = []
  const outcomeOf = ({ at: _, ...outcome }: Continuation) => JSON.stringify(outcome)
  if (others.some((other) => outcomeOf(other) !== outcomeOf(first))) problems.push('continued in two ways')
  const isTwice = others.some((other, before) => {
    const previous = continuations[before]!
    return !kills.some(({ from, to }) => from <= other.at && to >= previous.at)
  })
  if (isTwice) problems.push('continued twice without a kill in between')
  if (taken.length > 1) problems.push(`accepted ${taken.length} answers`)
  if (taken.length === 1 && first.timedOut) problems.push('accepted an answer, and expired')
  if (taken.length === 1 && !first.timedOut && taken[0] !== first.approved)
    problems.push('continued with another answer')
  return problems
}

/** Pauses that stay open, runs that do not end, and runs that failed. */
async function leftBehind(target: Target): Promise<string[]> {
  const { url } = target.processes[0]!
  const read = async (path: string) => {
    const response = await fetch(url + path, { headers: { 'x-api-key': target.apiKey } })
    return ((await response.json()) as { data: { executionId: string; status: string; finalOutput: unknown }[] }).data
  }
  const base = `/api/workspaces/${target.workspaceId}`
  const unfinished = async () => [
    ...(await read(`${base}/pauses`)),
    ...(await read(`${base}/runs?limit=100`)).filter(({ status }) => /^(queued|processing|paused)$/.test(status)),
  ]
  const deadline = performance.now() + 30_000
  let left = await unfinished()
  while (left.length > 0 && performance.now() < deadline) {
    await Bun.sleep(100)
    left = await unfinished()
  }
  const failed = await read(`/api/v1/logs?workspaceId=${target.workspaceId}&level=error&includeFinalOutput=true`)
  return [
    ...left.map(({ executionId }) => `${executionId} did not end`),
    ...failed.map(({ executionId, finalOutput }) => `${executionId} failed: ${JSON.stringify(finalOutput)}`),
  ]
}

function workflowFor(url: string): WorkflowDocument {
  const post = (path: string, body: object) => ({ url: `${url}${path}`, method: 'POST', body, retries: 10 })
  const webhooks = [
    { url: `${url}/events`, events: ['paused' as const, 'resumed' as const], retryOnNetworkError: true },
  ]
  const asking = document({
    name: 'Ask',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
      block('ask', 'approval', { title: 'Go on?', expiresAfterMs: 1_000 }),
      block('send', 'api', post('/link', { n: '<api.n>', link: '<ask.callbackUrl>' })),
      block('after', 'api', post('/after', { n: '<api.n>', approved: '<ask.approved>', timedOut: '<ask.timedOut>' })),
    ],
    edges: ['start > ask', 'ask:notify > send', 'ask > after'],
  })
  return { ...asking, webhooks }
}

/** Sends a request to one of the processes. */
async function post({ processes, apiKey }: Target, path: string, body: object, more: Record<string, string> = {}) {
  const { url } = processes[Math.floor(Math.random() * processes.length)]!
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', ...more }
  return await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
}

/** Ignores failures: the service may be killed at any moment. */
async function start(target: Target, path: string, n: number, isAsync: boolean): Promise<void> {
  const headers: Record<string, string> = isAsync ? { 'x-execution-mode': 'async' } : {}
  await post(target, path, { n }, headers).catch(() => undefined)
}

/** Sends two answers at once when the link is there. One in ten runs is left to expire. */
async function answerTwice(target: Target, run: Seen, afterMs: number, isAnswered: boolean): Promise<void> {
  await Bun.sleep(afterMs)
  if (!run.link || !isAnswered) return
  const { pathname } = new URL(run.link)
  await Promise.all(
    [true, false].map(async (approved) => {
      const response = await post(target, pathname, { approved }).catch(() => undefined)
      if (response?.status === 200) run.taken.push(approved)
    }),
  )
}

type PauseEvent = { id: string; type: string; data: { paused: { contextId: string }[] } }

/** Receives the links, the events, and the requests of the runs after their pauses. */
class Receiver {
  readonly #server: ReturnType<typeof Bun.serve>
  /** The events about each pause, by its ID: `paused evt_…`, `resumed evt_…`. */
  readonly #events = new Map<string, Set<string>>()

  constructor(seen: ReadonlyMap<number, Seen>) {
    this.#server = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      fetch: async (request) => {
        if (new URL(request.url).pathname === '/events') return this.#take((await request.json()) as PauseEvent)
        const body = (await request.json()) as { n: number; link?: string; approved?: boolean; timedOut?: boolean }
        const run = seen.get(body.n)
        if (run && body.link !== undefined) run.link = body.link
        else {
          const { approved = false, timedOut = false } = body
          const key = request.headers.get('idempotency-key')
          run?.continuations.push({ approved, timedOut, key, at: performance.now() })
        }
        return Response.json({ ok: true })
      },
    })
  }

  #take({ id, type, data }: PauseEvent): Response {
    for (const { contextId } of data.paused) {
      const events = this.#events.get(contextId) ?? new Set()
      this.#events.set(contextId, events.add(`${type.split('.').at(-1)} ${id}`))
    }
    return Response.json({ ok: true })
  }

  /** Pauses that do not get exactly one event at their beginning and one at their end. */
  async missingEvents(count: number): Promise<string[]> {
    const wrong = () =>
      [...this.#events].flatMap(([contextId, events]) => {
        const kinds = [...events].map((event) => event.split(' ')[0]).toSorted()
        return kinds.join() === 'paused,resumed' ? [] : [`the pause ${contextId} had the events ${kinds.join()}`]
      })
    const deadline = performance.now() + 30_000
    while ((wrong().length > 0 || this.#events.size < count) && performance.now() < deadline) await Bun.sleep(100)
    return [
      ...wrong(),
      ...(this.#events.size < count ? [`${count} runs asked, and ${this.#events.size} had events`] : []),
    ]
  }

  get url(): string {
    return `http://127.0.0.1:${this.#server.port}`
  }

  [Symbol.dispose](): void {
    void this.#server.stop(true)
  }
}
