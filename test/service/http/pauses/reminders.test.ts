import { expect, test } from 'bun:test'
import type { App } from '../../../../src/app.ts'
import { createInstallation } from '../../../../src/cli/installation/installation.ts'
import { systemClock } from '../../../../src/domain/clock.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { startTestApp } from '../../../support/app.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { type Received, Receiver } from '../../../support/webhook-receiver.ts'
import { start } from '../execution-world.ts'
import type { Parsed } from '../world.ts'

const minute = 60_000

/** Stops the service and starts it again later, by its clock. */
class Sleeper implements AsyncDisposable {
  readonly #folder = temporaryFolder()
  #app!: App
  #lateMs = 0
  apiKey = ''
  workspaceId = ''

  static async open(): Promise<Sleeper> {
    const sleeper = new Sleeper()
    await sleeper.#start()
    const made = await createInstallation(sleeper.#app.store, Date.now())
    sleeper.apiKey = made?.apiKey ?? ''
    sleeper.workspaceId = made?.workspaceId ?? ''
    return sleeper
  }

  async #start(): Promise<void> {
    const clock = { ...systemClock, now: () => Date.now() + this.#lateMs }
    this.#app = await startTestApp(this.#folder.path, { 'outbound-allow': 'loopback' }, clock)
  }

  async sleep(ms: number): Promise<void> {
    await this.#app.stop(0)
    this.#lateMs += ms
    await this.#start()
  }

  async call(path: string, body?: unknown): Promise<Parsed> {
    const method = body === undefined ? 'GET' : 'POST'
    const headers = { 'x-api-key': this.apiKey, 'content-type': 'application/json' }
    const init = body === undefined ? { method, headers } : { method, headers, body: JSON.stringify(body) }
    return await (await fetch(this.#app.address.url + path, init)).json()
  }

  async deploy(draft: WorkflowDocument): Promise<string> {
    const { id } = await this.call('/api/workflows', draft)
    expect((await this.call(`/api/workflows/${id}/deploy`, {})).error).toBeUndefined()
    return id
  }

  async until(executionId: string, status: string): Promise<Parsed> {
    for (;;) {
      const job = await this.call(`/api/jobs/${executionId}`)
      if (job.status === status) return job
      if (job.status === 'failed') throw new Error(JSON.stringify(job))
      await Bun.sleep(10)
    }
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#app.stop(0)
    this.#folder[Symbol.dispose]()
  }
}

/** An approval that sends its link along `notify`, with a block before and after the message. */
const asking = (receiver: Receiver, params: object = {}) =>
  document({
    blocks: [
      start(),
      block('ask', 'approval', { title: 'Pay?', remindEveryMs: 10 * minute, ...params }),
      block('text', 'function', { code: 'return "Please answer at " + <ask.url>' }),
      block('send', 'api', { url: receiver.url, method: 'POST', body: { id: '<ask.id>', text: '<text.result>' } }),
      block('done', 'function', { code: 'return { approved: <ask.approved>, status: <send.status> }' }),
    ],
    edges: ['start > ask', 'ask:notify > text', 'text > send', 'ask > done'],
  })

async function ask(service: Sleeper, receiver: Receiver, params: object = {}) {
  const id = await service.deploy(asking(receiver, params))
  const { executionId, paused } = await service.call(`/api/workflows/${id}/execute`, {})
  await receiver.arrivals(1)
  await service.until(executionId, 'paused')
  const answer = () =>
    service.call(`/api/resume/${id}/${executionId}/${paused[0].contextId}`, { input: { approved: true } })
  return { id, executionId, answer }
}

const bodyOf = ({ body }: Received): Parsed => JSON.parse(body)
const keyOf = ({ headers }: Received) => headers.get('idempotency-key')

async function tracesOf(service: Sleeper, id: string): Promise<Parsed[]> {
  const query = `workspaceId=${service.workspaceId}&workflowIds=${id}&includeTraceSpans=true`
  const { data } = await service.call(`/api/v1/logs?${query}`)
  expect(data).toHaveLength(1)
  return data[0].traceSpans[0].children
}

const spansOf = (spans: Parsed[], blockId: string) => spans.filter((span) => span.blockId === blockId)

test('the blocks behind notify run again at each interval until somebody answers', async () => {
  using receiver = new Receiver()
  await using service = await Sleeper.open()
  const { id, executionId, answer } = await ask(service, receiver)
  await service.sleep(9 * minute)
  expect((await service.call(`/api/jobs/${executionId}`)).status).toBe('paused')
  expect(receiver.received).toHaveLength(1)
  await service.sleep(2 * minute)
  await receiver.arrivals(2)
  await service.until(executionId, 'paused')
  // The service has missed three more reminders.
  await service.sleep(31 * minute)
  await receiver.arrivals(3)
  await service.until(executionId, 'paused')
  await service.sleep(minute)
  expect((await answer()).status).toBe('started')
  const { output } = await service.until(executionId, 'completed')
  expect(output.result).toEqual({ approved: true, status: 200 })
  expect(receiver.received).toHaveLength(3)
  // Each message has the same link.
  const linkOf = ({ id: contextId, text }: Parsed) => `${contextId} ${new URL(text.split(' ').at(-1)).pathname}`
  expect(new Set(receiver.received.map((each) => linkOf(bodyOf(each)))).size).toBe(1)
  expect(new Set(receiver.received.map(keyOf)).size).toBe(3)
  const spans = await tracesOf(service, id)
  expect([spansOf(spans, 'text').length, spansOf(spans, 'send').length]).toEqual([3, 3])
  expect([spansOf(spans, 'ask').length, spansOf(spans, 'done').length]).toEqual([1, 1])
}, 60_000)

test('an answer that arrives while a reminder is being sent counts, and no further reminder follows', async () => {
  const held = Promise.withResolvers<void>()
  using receiver = new Receiver(async (_, n) => {
    if (n === 2) await held.promise
    return new Response('ok')
  })
  await using service = await Sleeper.open()
  const { id, executionId, answer } = await ask(service, receiver)
  await service.sleep(11 * minute)
  await receiver.arrivals(2)
  expect((await answer()).status).toBe('started')
  held.resolve()
  expect((await service.until(executionId, 'completed')).output.result).toEqual({ approved: true, status: 200 })
  await service.sleep(60 * minute)
  expect(receiver.received).toHaveLength(2)
  expect(spansOf(await tracesOf(service, id), 'send').map(({ status }) => status)).toEqual(['success', 'success'])
}, 60_000)

test('a reminder that fails is in the trace, and the run still waits for an answer', async () => {
  using receiver = new Receiver((_, n) => new Response('', { status: n === 2 ? 404 : 200 }))
  await using service = await Sleeper.open()
  const { id, executionId, answer } = await ask(service, receiver)
  await service.sleep(11 * minute)
  await receiver.arrivals(2)
  await service.until(executionId, 'paused')
  await service.sleep(10 * minute)
  await receiver.arrivals(3)
  await service.until(executionId, 'paused')
  await answer()
  expect((await service.until(executionId, 'completed')).output.result).toEqual({ approved: true, status: 200 })
  const sent = spansOf(await tracesOf(service, id), 'send')
  expect(sent.map(({ status }) => status)).toEqual(['success', 'error', 'success'])
}, 60_000)

test('a reminder that a stop interrupts is sent again with the same key, and counts once', async () => {
  const held = Promise.withResolvers<void>()
  using receiver = new Receiver(async (_, n) => {
    if (n === 2) await held.promise
    return new Response('ok')
  })
  await using service = await Sleeper.open()
  const { executionId, answer } = await ask(service, receiver)
  await service.sleep(11 * minute)
  await receiver.arrivals(2)
  await service.sleep(0)
  await receiver.arrivals(3)
  held.resolve()
  await service.until(executionId, 'paused')
  const [first, second, third] = receiver.received.map(keyOf)
  expect([second === third, first === second]).toEqual([true, false])
  await answer()
  await service.until(executionId, 'completed')
  expect(receiver.received).toHaveLength(3)
}, 60_000)

test('reminders stop when the pause expires', async () => {
  using receiver = new Receiver()
  await using service = await Sleeper.open()
  const { executionId } = await ask(service, receiver, { expiresAfterMs: 15 * minute })
  await service.sleep(16 * minute)
  const { output } = await service.until(executionId, 'completed')
  expect(output.result).toEqual({ approved: false, status: 200 })
  expect(receiver.received).toHaveLength(1)
}, 60_000)

test('an interval of less than a minute is refused', async () => {
  using receiver = new Receiver()
  await using service = await Sleeper.open()
  const { id } = await service.call('/api/workflows', asking(receiver, { remindEveryMs: 59_999 }))
  const { details } = await service.call(`/api/workflows/${id}/deploy`, {})
  expect(details).toMatchObject([{ path: 'blocks.ask.params.remindEveryMs' }])
}, 60_000)
