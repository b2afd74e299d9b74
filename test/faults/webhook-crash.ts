import { Database } from 'bun:sqlite'
import { join } from 'node:path'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { deploy, init, serve } from '../support/running-service.ts'
import { Receiver } from '../support/webhook-receiver.ts'

export type WebhookCrashReport = {
  rounds: number
  /** Runs whose callers received the response. */
  acknowledged: number
  /** Acknowledged runs per second, from the first response of a round until the kill. */
  perSecond: number
  /** Pairs of acknowledged run and subscription that no receiver received. Must be empty. */
  missing: string[]
  /** Deliveries that arrived with more than one delivery ID. Must be empty. */
  renamed: string[]
  /** Deliveries that were repeated because the kill came between the receiver's response and its record on disk. */
  repeated: number
  /** Pending deliveries on disk without a due time. Must be 0. */
  lost: number
}

const receivers = ['one', 'two'] as const
/** The target rate. Requests in flight at a kill get no response. */
const requestsPerSecond = 550

/**
 * Kills the service with -9 at random moments while about 500 runs a second cause two deliveries each, to receivers
 * that fail at random. Then waits until both receivers have every acknowledged run. `random` returns 0 ≤ n < 1.
 */
export async function crashWebhooks(options: {
  rounds: number
  random(): number
  progress?(round: number, acknowledged: number, arrived: number): void
}): Promise<WebhookCrashReport> {
  const { rounds, random, progress } = options
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  const deliveries = new ReceivedDeliveries()
  using receiver = new Receiver(({ path, headers, body }) => {
    const status = random() < 0.8 ? 200 : 500
    deliveries.note(path, headers.get('idempotency-key') ?? '', body, status === 200)
    return new Response('', { status })
  })
  const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_LOG_LEVEL: 'error' }
  const acknowledged = new Set<string>()
  let path = ''
  let loadedMs = 0
  for (let round = 1; round <= rounds; round += 1) {
    const service = await serve(folder.path, environment)
    if (path === '') path = new URL(await deploy(service.url, apiKey, workflowFor(receiver.port))).pathname
    const before = acknowledged.size
    const stop = new AbortController()
    const calls = keepRunning(service.url + path, apiKey, acknowledged, stop.signal)
    while (acknowledged.size < before + 15) await Bun.sleep(1)
    const firstAt = performance.now()
    await Bun.sleep(50 + random() * 500)
    await service.kill('SIGKILL')
    loadedMs += performance.now() - firstAt
    stop.abort()
    await calls
    progress?.(round, acknowledged.size, deliveries.count)
  }
  const service = await serve(folder.path, environment)
  const missing = () =>
    [...acknowledged].flatMap((id) => receivers.map((name) => `/${name} ${id}`)).filter((pair) => !deliveries.has(pair))
  // The slowest deliveries have failed four times and wait for the fifth attempt.
  const giveUpAt = performance.now() + 330_000
  while (missing().length > 0 && performance.now() < giveUpAt) await Bun.sleep(100)
  await service.kill('SIGTERM')
  const { renamed, repeated } = deliveries
  const perSecond = Math.round((acknowledged.size * 1000) / loadedMs)
  const counts = { rounds, acknowledged: acknowledged.size, perSecond, repeated, lost: lostIn(folder.path) }
  return { ...counts, missing: missing(), renamed }
}

/** The received deliveries, by path and run. */
class ReceivedDeliveries {
  readonly #received = new Map<string, { key: string; wasAccepted: boolean }>()
  readonly renamed: string[] = []
  count = 0
  repeated = 0

  note(path: string, key: string, body: string, isAccepted: boolean): void {
    const { data } = JSON.parse(body) as { data: { executionId: string } }
    const pair = `${path} ${data.executionId}`
    const before = this.#received.get(pair)
    this.count += 1
    if (before && before.key !== key) this.renamed.push(pair)
    if (before?.wasAccepted) this.repeated += 1
    this.#received.set(pair, { key, wasAccepted: isAccepted || before?.wasAccepted === true })
  }

  has(pair: string): boolean {
    return this.#received.has(pair)
  }
}

function workflowFor(port: number) {
  const blocks = [
    block('start', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number' }] }),
    block('if', 'condition', { conditions: [{ id: 'odd', expression: '<api.n> % 2 === 1' }] }),
    block('f', 'function', { code: 'return <api.n>' }),
  ]
  const made = document({ name: 'Causes two deliveries', blocks, edges: ['start > if', 'if:condition-odd > f'] })
  const webhooks = receivers.map((name) => ({
    url: `http://${name}.localhost:${port}/${name}`,
    includeFinalOutput: true,
  }))
  return { ...made, webhooks }
}

/** Starts runs at a steady rate until the signal, and ignores their outcome. */
async function keepRunning(url: string, apiKey: string, acknowledged: Set<string>, signal: AbortSignal): Promise<void> {
  const calls = new Set<Promise<void>>()
  const beganAt = performance.now()
  for (let n = 0; !signal.aborted; ) {
    const due = ((performance.now() - beganAt) * requestsPerSecond) / 1000
    for (; n < due; n += 1) {
      const call = run(url, apiKey, n, acknowledged).finally(() => calls.delete(call))
      calls.add(call)
    }
    await Bun.sleep(2)
  }
  await Promise.all(calls)
}

async function run(url: string, apiKey: string, n: number, acknowledged: Set<string>): Promise<void> {
  try {
    const response = await fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey }, body: JSON.stringify({ n }) })
    const { executionId } = (await response.json()) as { executionId: string }
    if (response.status === 200) acknowledged.add(executionId)
  } catch {
    // The service was killed before it responded, so the run is not acknowledged.
  }
}

function lostIn(folder: string): number {
  const database = new Database(join(folder, 'millrace.db'))
  try {
    const lost = `
      SELECT (SELECT count(*) FROM deliveries WHERE state = 0 AND due_at IS NULL) + (
        SELECT count(*) FROM owing_runs WHERE sequence IN (SELECT sequence FROM deliveries)
          OR audience NOT IN (SELECT number FROM audiences)) AS count`
    return database.query<{ count: number }, []>(lost).get()?.count ?? -1
  } finally {
    database.close()
  }
}
