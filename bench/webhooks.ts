import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LogSequence, newExecutionId } from '../src/domain/ids.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import {
  deploy,
  initMillrace,
  load,
  type Millrace,
  median,
  pacedLoad,
  residentMb,
  serveMillrace,
  startMillrace,
} from './support/service.ts'
import { type SinkCounts, startSink } from './support/webhook-sink.ts'

/**
 * The cost and latency of webhook deliveries. `bun bench/webhooks.ts [latency|hanging|executions|throughput|million]…`,
 * all of them by default. Receivers are a process of their own (webhook-sink.ts).
 */
const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback' }

const sink = await startSink()
const parts = { latency, hanging, executions, throughput, million }
const chosen = process.argv.slice(2) as (keyof typeof parts)[]
for (const name of chosen.length > 0 ? chosen : (Object.keys(parts) as (keyof typeof parts)[])) {
  console.log(`\n${name}`)
  await parts[name]()
}
sink.stop()

/** From the end of a run to the arrival of its webhook, at 100 runs a second. */
async function latency(): Promise<void> {
  const millrace = await startMillrace(environment)
  const url = await deploy(millrace, documentOf([{ url: sink.url('ok', 'one') }]))
  for (const ms of [1_000, 5_000]) {
    await sink.counts()
    await pacedLoad({ url, perSecond: 100, ms, body: '{"n":5}', headers: [`X-API-Key: ${millrace.apiKey}`] })
    await Bun.sleep(500)
    if (ms > 1_000) print(await sink.counts())
  }
  console.log(await metricsOf(millrace, /^millrace_webhook_first_attempt_delay_seconds_(bucket.*0\.00|sum|count)/))
  await millrace.stop()
}

/** Ten receivers that answer, beside 300 that hang to the timeout, and beside 300 that are switched off, in turns. */
async function hanging(): Promise<void> {
  const p99: Record<'off' | 'hanging', number[]> = { off: [], hanging: [] }
  for (let round = 0; round < 3; round += 1) {
    for (const others of ['off', 'hanging'] as const) p99[others].push(await healthyP99(others))
  }
  const ratio = median(p99.hanging) / median(p99.off)
  console.log(`p99 beside 300 that hang: ${ratio.toFixed(2)} times that without, medians of ${p99.off.length}`)
}

/** The same runs in both cases. The timeout is short, so that attempts end and others begin all the time. */
async function healthyP99(others: 'off' | 'hanging'): Promise<number> {
  const millrace = await startMillrace({ ...environment, MILLRACE_WEBHOOK_TIMEOUT_MS: '3000' })
  const headers = [`X-API-Key: ${millrace.apiKey}`]
  const healthy = Array.from({ length: 10 }, (_, n) => ({ url: sink.url('ok', `ok${n}`) }))
  const url = await deploy(millrace, documentOf(healthy, 'Healthy'))
  const bad: string[] = []
  for (let n = 0; n < 20; n += 1) {
    const active = others === 'hanging'
    const receivers = Array.from({ length: 15 }, (_, k) => ({ url: sink.url('hang', `hang${n}x${k}`), active }))
    bad.push(await deploy(millrace, documentOf(receivers, `Others ${n}`)))
  }
  const runs = (ms: number) => pacedLoad({ url, perSecond: 20, ms, body: '{"n":5}', headers })
  await runs(2_000)
  const beside = runBeside(bad, millrace, 12_500)
  // Let the hanging receivers take all the slots that they can before the measurement.
  await Bun.sleep(4_000)
  await sink.counts()
  await runs(8_000)
  await Bun.sleep(300)
  const counts = await sink.counts()
  const inFlight = await metricsOf(millrace, /^millrace_webhooks_in_flight /)
  console.log(`${others}: ${inFlight.split(' ')[1]} attempts in flight`)
  print(counts)
  await beside
  await millrace.stop()
  return counts.p99
}

/** One process for all of the runs whose receivers hang: 40 a second. */
async function runBeside(urls: readonly string[], { apiKey }: Millrace, ms: number): Promise<void> {
  const endAt = performance.now() + ms
  for (let n = 0; performance.now() < endAt; n += 1) {
    const url = urls[n % urls.length]!
    fetch(url, { method: 'POST', headers: { 'x-api-key': apiKey }, body: '{"n":5}' }).then((response) =>
      response.text(),
    )
    await Bun.sleep(25)
  }
}

/** Runs a second at full speed, with five subscriptions and with none. */
async function executions(): Promise<void> {
  const millrace = await startMillrace(environment)
  const headers = [`X-API-Key: ${millrace.apiKey}`]
  const five = Array.from({ length: 5 }, (_, n) => ({ url: sink.url('ok', `five${n}`) }))
  const urls = [await deploy(millrace, documentOf([], 'None')), await deploy(millrace, documentOf(five, 'Five'))]
  const perSecond: number[][] = [[], []]
  for (const url of urls) await load({ url, connections: 32, ms: 1_000, body: '{"n":5}', headers })
  for (let round = 0; round < 4; round += 1) {
    for (const [index, url] of urls.entries()) {
      await drained(millrace)
      perSecond[index]!.push((await load({ url, connections: 32, ms: 2_000, body: '{"n":5}', headers })).perSecond)
    }
  }
  const [none = 0, with5 = 0] = perSecond.map(median)
  await sink.counts()
  const startedAt = performance.now()
  await drained(millrace)
  const { taken } = await sink.counts()
  console.log(`${none} runs/s without, ${with5} with five subscriptions: ${(with5 / none).toFixed(2)}`)
  console.log(`what was left came at ${Math.round((taken * 1000) / (performance.now() - startedAt))} deliveries/s`)
  await millrace.stop()
}

/**
 * Deliveries a second out of a full outbox to one receiver, against bare loops of `fetch` to it: ten at once, and one.
 * The beginning of each is not counted, because the engine compiles the code then.
 */
async function throughput(): Promise<void> {
  const warmUp = 30_000
  const ratios: number[][] = [[], []]
  for (let round = 0; round < 3; round += 1) {
    const bare = [await bareFetches(10, 2_000), await bareFetches(1, 2_000)]
    const { installation, stop } = await seeded(warmUp + 120_000, 1, () => Date.now() - 10_000)
    await sink.counts()
    const millrace = await serveMillrace(installation, environment)
    while ((await sink.taken()) < warmUp) await Bun.sleep(20)
    await sink.counts()
    while ((await sink.taken()) < 110_000) await Bun.sleep(100)
    const { taken, firstAt, lastAt } = await sink.counts()
    const perSecond = (taken * 1000) / (lastAt - firstAt)
    console.log(
      `${Math.round(perSecond)} deliveries/s; bare fetch ${bare.map(Math.round).join(' (ten at once), ')} (one)`,
    )
    for (const [index, each] of bare.entries()) ratios[index]!.push(perSecond / each)
    await drained(millrace)
    await millrace.stop()
    stop()
  }
  const [ten = 0, one = 0] = ratios.map(median)
  console.log(`${ten.toFixed(2)} of ten loops, ${one.toFixed(2)} of one`)
}

/** A million deliveries that wait, a thousand due each second: the start, memory, idle time, and how late they come. */
async function million(): Promise<void> {
  const leadMs = 60_000
  const firstDueAt = Date.now() + leadMs
  const empty = await startMillrace(environment)
  await Bun.sleep(3_000)
  const emptyMb = await residentMb(empty.pid)
  await empty.stop()
  const { installation, stop } = await seeded(200_000, 5, (n) => firstDueAt + n * 5)
  console.log(`seeded ${Math.round((firstDueAt - Date.now()) / 1000)} s before the first is due`)
  const startedAt = performance.now()
  const millrace = await serveMillrace(installation, environment)
  while (!(await fetch(`${millrace.url}/health/ready`)).ok) await Bun.sleep(1)
  console.log(`start to ready ${Math.round(performance.now() - startedAt)} ms`)
  await Bun.sleep(3_000)
  console.log(`memory ${Math.round((await residentMb(millrace.pid)) - emptyMb)} MB above ${Math.round(emptyMb)} MB`)
  const cpu = await cpuMs(millrace.pid)
  const idleMs = Math.min(5_000, firstDueAt - Date.now() - 4_000)
  await Bun.sleep(Math.max(0, idleMs))
  console.log(`idle CPU ${((((await cpuMs(millrace.pid)) - cpu) / idleMs) * 100).toFixed(2)} %`)
  await Bun.sleep(Math.max(0, firstDueAt + 2_000 - Date.now()))
  await sink.counts()
  await Bun.sleep(10_000)
  print(await sink.counts())
  console.log(`memory ${Math.round((await residentMb(millrace.pid)) - emptyMb)} MB above the empty one while they fire`)
  await millrace.stop()
  stop()
}

async function seeded(runs: number, subscriptions: number, endedAtOf: (n: number) => number) {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const installation = initMillrace(directory, environment)
  const store = await openSqliteStore({ directory, sync: 'normal', mode: 'direct' })
  const { workspaceId } = installation
  const document = { name: 'Owes', blocks: {}, edges: [] }
  const webhooks = Array.from({ length: subscriptions }, (_, n) => ({
    ...{ id: `s${n}`, url: sink.url('ok', `seeded${n}`), include: 0, levelFilter: null, triggerFilter: null },
    events: ['completed'] as const,
    ...{ active: true, retryOnNetworkError: false },
  }))
  const workflow = await store.createWorkflow({ id: null, workspaceId, document, webhooks, at: 1 })
  const numbers = (await store.listSubscriptions(workflow.id)).map(({ number }) => number)
  const sequence = new LogSequence(Date.now, await store.lastSequence())
  const deliveries = numbers.map((subscription) => ({ subscription, include: 0 }))
  for (let n = 0; n < runs; ) {
    const group = Array.from({ length: Math.min(512, runs - n) }, (_, index) => {
      const endedAt = endedAtOf(n + index)
      const row = {
        ...{
          sequence: sequence.next(),
          executionId: newExecutionId(),
          workflowId: workflow.id,
          workspaceId,
          version: 1,
        },
        ...{ level: 'info' as const, trigger: 'api' as const, createdAt: null, startedAt: endedAt - 2, endedAt },
        ...{ durationMs: 2, costTotal: 0, models: [], cost: null, rawOutput: null, finalOutput: '{"n":5}' },
        traceSpans: JSON.stringify([
          { id: 's', name: 'Run', type: 'workflow', input: { n }, output: { n }, children: [] },
        ]),
        webhooks: { deliveries, skipped: [], facts: null },
      }
      return { kind: 'log' as const, row, output: null }
    })
    await store.append(group)
    n += group.length
  }
  await store.close()
  return { installation, stop: () => rmSync(directory, { recursive: true }) }
}

async function bareFetches(atOnce: number, ms: number): Promise<number> {
  const body = JSON.stringify({ timestamp: Date.now(), data: 'x'.repeat(450) })
  const headers = { 'content-type': 'application/json', 'svc-event': 'x', 'idempotency-key': 'y' }
  const url = sink.url('ok', 'seeded0')
  const run = async (durationMs: number) => {
    let count = 0
    const endAt = performance.now() + durationMs
    const loop = async () => {
      while (performance.now() < endAt) {
        await (await fetch(url, { method: 'POST', headers, body })).text()
        count += 1
      }
    }
    await Promise.all(Array.from({ length: atOnce }, loop))
    return (count * 1000) / durationMs
  }
  await run(1_000)
  return await run(ms)
}

/** Until nothing pends. */
async function drained(millrace: Millrace): Promise<void> {
  while (!/^millrace_webhooks_pending 0$/m.test(await (await fetch(`${millrace.url}/metrics`)).text()))
    await Bun.sleep(200)
}

async function metricsOf({ url }: Millrace, wanted: RegExp): Promise<string> {
  const text = await (await fetch(`${url}/metrics`)).text()
  return text
    .split('\n')
    .filter((line) => wanted.test(line))
    .join('\n')
}

/** Time of all threads of a process, in milliseconds. */
async function cpuMs(pid: number): Promise<number> {
  const fields = (await Bun.file(`/proc/${pid}/stat`).text()).split(') ')[1]!.split(' ')
  return (Number(fields[11]) + Number(fields[12])) * 10
}

function print({ taken, hanging, p50, p99, max }: SinkCounts): void {
  const ms = (value: number) => value.toFixed(2)
  console.log(`${taken} came after p50 ${ms(p50)} ms, p99 ${ms(p99)}, max ${ms(max)}; ${hanging} hang`)
}

function documentOf(webhooks: object[], name = 'Tells') {
  const trigger = { inputFormat: [{ name: 'n', type: 'number' }] }
  return {
    name,
    blocks: {
      start: { id: 'start', type: 'api_trigger', name: 'Start', params: trigger },
      if: {
        id: 'if',
        type: 'condition',
        name: 'if',
        params: { conditions: [{ id: 'big', expression: '<api.n> > 3' }] },
      },
      big: { id: 'big', type: 'response', name: 'big', params: { data: { n: '<api.n>' } } },
    },
    edges: [
      { source: 'start', target: 'if', sourceHandle: 'source' },
      { source: 'if', target: 'big', sourceHandle: 'condition-big' },
    ],
    webhooks,
  }
}
