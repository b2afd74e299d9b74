import { afterAll, beforeAll, describe, expect, spyOn, test } from 'bun:test'
import { type AsyncExecutionResult, SimStudioClient, SimStudioError } from 'simstudio-ts-sdk'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { Gate } from '../../support/gate.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'

// Tests the executable with a published client that was written for the same interface.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let client: SimStudioClient
let workflowId: string

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  client = new SimStudioClient({ apiKey: installation.apiKey, baseUrl: `${service.url}/` })
  workflowId = idOf(await deploy(service.url, installation.apiKey, workflow))
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

const workflow = document({
  name: 'Greets',
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'name', type: 'string', required: true }] }),
    block('greet', 'function', {
      code: 'if (<start.name> === "nobody") throw new Error("There is nobody.")\nreturn `Hello, ${<start.name>}.`',
    }),
  ],
  edges: ['start > greet'],
})

/** `…/api/workflows/<id>/execute` */
function idOf(endpoint: string): string {
  return endpoint.split('/').at(-2) ?? ''
}

async function failureOf(promise: Promise<unknown>): Promise<SimStudioError> {
  try {
    await promise
  } catch (error) {
    if (error instanceof SimStudioError) return error
    throw error
  }
  throw new Error('The call did not fail.')
}

describe('a third-party client', () => {
  test('executes a workflow', async () => {
    const result = await client.executeWorkflow(workflowId, { name: 'Ada' })
    expect(result).toMatchObject({
      success: true,
      output: { result: 'Hello, Ada.' },
      metadata: { duration: expect.any(Number) },
    })
    expect(await client.executeWorkflowSync(workflowId, { name: 'Grace' })).toMatchObject({
      output: { result: 'Hello, Grace.' },
    })
    expect(client.getRateLimitInfo()).toMatchObject({ limit: expect.any(Number), remaining: expect.any(Number) })
  })

  test('learns whether a workflow is deployed and up to date', async () => {
    const before = await client.getWorkflowStatus(workflowId)
    expect(before).toMatchObject({ isDeployed: true, needsRedeployment: false })
    expect(Date.parse(before.deployedAt ?? '')).toBeGreaterThan(0)
    expect(await client.validateWorkflow(workflowId)).toBe(true)
    expect(await client.validateWorkflow('missing')).toBe(false)
    const draft = await call(`${service.url}/api/workflows`, installation.apiKey, 'POST', {
      ...workflow,
      name: 'Draft',
    })
    const { id } = draft.body as { id: string }
    expect(await client.getWorkflowStatus(id)).toMatchObject({ isDeployed: false, needsRedeployment: false })
    expect(await client.validateWorkflow(id)).toBe(false)
    expect(await failureOf(client.executeWorkflow(id, {}))).toMatchObject({
      status: 403,
      code: 'WORKFLOW_NOT_DEPLOYED',
    })
  })

  test('learns the status of a run', async () => {
    const { executionId } = (await client.executeWorkflow(workflowId, { name: 'Ada' })) as unknown as {
      executionId: string
    }
    expect(await client.getJobStatus(executionId)).toMatchObject({
      success: true,
      status: 'completed',
      output: { result: 'Hello, Ada.' },
    })
    expect(await failureOf(client.getJobStatus('missing'))).toMatchObject({ status: 404, code: 'NOT_FOUND' })
  })

  test('learns the limits of its account', async () => {
    const { success, rateLimit, usage } = await client.getUsageLimits()
    expect(success).toBe(true)
    expect(usage).toMatchObject({ currentPeriodCost: 0, plan: 'enterprise', limit: expect.any(Number) })
    for (const kind of [rateLimit.sync, rateLimit.async]) {
      expect(kind).toMatchObject({ isLimited: false, limit: expect.any(Number), remaining: expect.any(Number) })
      expect(Date.parse(kind.resetAt)).toBeGreaterThan(0)
    }
    expect(rateLimit.authType).toBe('api')
  })

  test('receives errors with a code and a status', async () => {
    const message = 'There is nobody.'
    const failed = await failureOf(client.executeWorkflow(workflowId, { name: 'nobody' }))
    expect(failed).toMatchObject({ status: 500, code: 'EXECUTION_FAILED' })
    expect(failed.message).toContain(message)
    const unfit = await failureOf(client.executeWorkflow(workflowId, {}))
    expect(unfit).toMatchObject({ status: 400, code: 'INVALID_INPUT' })
    expect(unfit.message).toContain('name')
    const missing = await failureOf(client.executeWorkflow('missing', {}))
    expect(missing).toMatchObject({ status: 404, code: 'NOT_FOUND' })
    const outsider = new SimStudioClient({ apiKey: 'mrk_wrong', baseUrl: service.url })
    expect(await failureOf(outsider.executeWorkflow(workflowId, {}))).toMatchObject({
      status: 401,
      code: 'INVALID_API_KEY',
    })
    expect(await failureOf(outsider.getWorkflowStatus(workflowId))).toMatchObject({ status: 401 })
    expect(await failureOf(outsider.getUsageLimits())).toMatchObject({ status: 401 })
  })

  test('starts an asynchronous run, and polls until it has ended', async () => {
    const peer = new Gate()
    try {
      const blocks = [block('start', 'api_trigger'), block('call', 'api', { url: `${peer.url}/warm`, method: 'GET' })]
      const slow = document({ name: 'Slow', blocks, edges: ['start > call'] })
      const id = idOf(await deploy(service.url, installation.apiKey, slow))
      const { taskId, ...accepted } = (await client.executeWorkflow(id, {}, { async: true })) as AsyncExecutionResult
      expect(accepted).toMatchObject({ success: true, status: 'queued', links: { status: `/api/jobs/${taskId}` } })
      expect(Date.parse(accepted.createdAt)).toBeGreaterThan(0)
      await peer.arrivals(1)
      expect(await client.getJobStatus(taskId)).toMatchObject({ success: true, taskId, status: 'processing' })
      peer.answer()
      let job = await client.getJobStatus(taskId)
      while (job.status === 'processing') job = await client.getJobStatus(taskId)
      expect(job).toMatchObject({ success: true, taskId, status: 'completed', output: { data: { path: '/warm' } } })
      expect(job.metadata).toMatchObject({ duration: expect.any(Number), completedAt: expect.any(String) })
    } finally {
      await peer.stop()
    }
  })

  test('waits as long as the service asks when the rate limit is reached, and then continues', async () => {
    const limited = await account('small@example.com', 'free')
    const id = idOf(await deploy(service.url, limited.apiKey, workflow))
    const caller = new SimStudioClient({ apiKey: limited.apiKey, baseUrl: service.url })
    const timers = new ManualRetryTimer()
    try {
      for (let n = 0; n < 10; n++) await caller.executeWorkflow(id, { name: 'Ada' })
      expect(await failureOf(caller.executeWorkflow(id, { name: 'Ada' }))).toMatchObject({
        status: 429,
        code: 'RATE_LIMIT_EXCEEDED',
      })
      const { limit, remaining } = caller.getRateLimitInfo() ?? {}
      expect({ limit, remaining }).toEqual({ limit: 10, remaining: 0 })

      const result = timers.during(() => caller.executeWithRetry(id, { name: 'Ada' }, { timeout: timeoutMs }))
      const waitMs = await timers.next()
      const toldMs = caller.getRateLimitInfo()?.retryAfter ?? 0
      expect(toldMs).toBeGreaterThanOrEqual(1_000)
      expect(toldMs).toBeLessThanOrEqual(60_000)
      expect(waitMs).toBeGreaterThanOrEqual(toldMs * 0.75)
      expect(waitMs).toBeLessThanOrEqual(toldMs * 1.25)
      // Instead of waiting for a minute, the test changes the tier, which takes effect within seconds.
      await command('users', 'plan', limited.userId, 'team')
      while ((await caller.getUsageLimits()).usage.plan !== 'team') await Bun.sleep(50)
      timers.fire()
      expect(await result).toMatchObject({ success: true, output: { result: 'Hello, Ada.' } })
    } finally {
      timers.restore()
    }
  }, 120_000)
})

async function account(email: string, tier: string): Promise<Installation> {
  return JSON.parse(await command('users', 'create', email, '--plan', tier, '--json')) as Installation
}

/** Runs a command on the installation's folder. Returns its standard output. */
async function command(...words: string[]): Promise<string> {
  const { code, out, words: said } = await millrace(words, { environment: { MILLRACE_DATA: folder.path } })
  if (code !== 0) throw new Error(`${words.join(' ')} ended with ${code}: ${said}`)
  return out
}

/** The client's request timeout. The unusual number tells this timer apart from the retry timer. */
const timeoutMs = 123_456

/** Captures the client's retry timer. `fire` runs it. */
class ManualRetryTimer {
  readonly #real = globalThis.setTimeout
  readonly #asked = Promise.withResolvers<number>()
  #fire: () => void = () => {}
  #spy: { mockRestore(): void } | undefined

  during<Result>(act: () => Result): Result {
    const stand = (run: () => void, ms = 0, ...rest: unknown[]) => {
      if (ms === timeoutMs) return 0
      if (ms < 500) return this.#real(run, ms, ...rest)
      this.#fire = run
      this.#asked.resolve(ms)
      return 0
    }
    this.#spy = spyOn(globalThis, 'setTimeout').mockImplementation(stand as unknown as typeof setTimeout)
    return act()
  }

  /** Milliseconds that the client waits before its retry. */
  next(): Promise<number> {
    return this.#asked.promise
  }

  fire(): void {
    this.#fire()
  }

  restore(): void {
    this.#spy?.mockRestore()
  }
}
