import { block, document } from '../../support/make.ts'
import { call, deploy } from '../../support/running-service.ts'
import { Receiver } from '../../support/webhook-receiver.ts'
import type { Target } from '../oauth-targets.ts'

export type AlertCrashReport = {
  rounds: number
  failures: number
  messages: number
  starts: number
  /** Sentences about alerts and event triggers that did not fire, or fired twice. */
  wrong: string[]
}

type Options = {
  rounds: number
  /** 0 ≤ n < 1. */
  random(): number
  progress?(round: number): void
}

/** The IDs that have arrived about the workflow of one round: of messages, and of requests of runs that it started. */
type Seen = { event: Set<string>; rule: Set<string>; start: Set<string> }

const failing = document({
  name: 'Failing',
  blocks: [block('start', 'api_trigger'), block('f', 'function', { code: 'throw new Error("no")' })],
  edges: ['start > f'],
})

/**
 * In every round, a new workflow fails several times while a process is killed with -9. It has an alert about failures,
 * an alert about three failures in a row, and an event trigger, each with a quiet time of an hour: each must fire once.
 */
export async function crashAlerts(target: Target, { rounds, random, progress }: Options): Promise<AlertCrashReport> {
  const seen: Seen[] = []
  using receiver = new Receiver(({ path, body, headers }) => {
    const [, kind = '', round = ''] = path.split('/')
    // A request that a run repeats after a crash has the same key.
    const id = kind === 'start' ? headers.get('idempotency-key') : (JSON.parse(body) as { id: string }).id
    seen[Number(round)]?.[kind as keyof Seen].add(id ?? '')
    return new Response('{}')
  })
  const origin = `http://127.0.0.1:${receiver.port}`
  const base = `/api/workspaces/${target.workspaceId}/alerts`
  let alerts: string[] = []
  let failures = 0
  const wrong: string[] = []
  for (let round = 0; round < rounds; round += 1) {
    seen.push({ event: new Set(), rule: new Set(), start: new Set() })
    const { url } = target.processes[0]!
    const path = new URL(await deploy(url, target.apiKey, { ...failing, name: `Failing ${round}` })).pathname
    const id = path.split('/').at(-2)!
    const alertOf = async (kind: 'event' | 'rule', watch: object) => {
      const channel = { type: 'webhook', url: `${origin}/${kind}/${round}` }
      const made = await call(url + base, target.apiKey, 'POST', { name: kind, workflows: [id], channel, ...watch })
      alerts.push((made.body as { id: string }).id)
    }
    await alertOf('event', { events: ['run.failed'] })
    await alertOf('rule', { rule: { type: 'consecutive_failures', count: 3 } })
    await deploy(url, target.apiKey, handlerFor(id, round, origin))
    const fail = async (count: number) => {
      for (let done = 0; done < count; ) {
        const { url: chosen } = target.processes[Math.floor(random() * target.processes.length)]!
        const response = await call(chosen + path, target.apiKey, 'POST', {}).catch(() => undefined)
        if (response?.status === 500) done += 1
        else await Bun.sleep(20)
      }
      failures += count
    }
    const failed = fail(6)
    // An evaluation begins within a second.
    await Bun.sleep(random() * 1_300)
    await target.restart(Math.floor(random() * target.processes.length))
    await failed
    await fail(2)
    const deadline = performance.now() + 30_000
    const isComplete = () => Object.values(seen[round]!).every(({ size }) => size > 0)
    while (!isComplete() && performance.now() < deadline) await Bun.sleep(20)
    if (alerts.length > 60) {
      // The process may have another address since its restart.
      const { url: now } = target.processes[0]!
      for (const alert of alerts.slice(0, 40)) await call(`${now}${base}/${alert}`, target.apiKey, 'DELETE')
      alerts = alerts.slice(40)
    }
    progress?.(round + 1)
  }
  // Time for a second evaluation of what would fire twice.
  await Bun.sleep(3_000)
  for (const [round, kinds] of seen.entries()) {
    for (const [kind, ids] of Object.entries(kinds)) {
      if (ids.size !== 1) wrong.push(`${kind} of round ${round} fired ${ids.size} times`)
    }
  }
  const messages = seen.reduce((sum, { event, rule }) => sum + event.size + rule.size, 0)
  return { rounds, failures, messages, starts: seen.reduce((sum, { start }) => sum + start.size, 0), wrong }
}

/** Sends a request when the workflow fails. */
function handlerFor(id: string, round: number, origin: string) {
  return document({
    name: `Handler ${round}`,
    blocks: [
      block('start', 'event_trigger', { events: ['run.failed'], workflows: [id] }),
      block('send', 'api', { url: `${origin}/start/${round}`, method: 'POST', body: {}, retries: 10 }),
    ],
    edges: ['start > send'],
  })
}
