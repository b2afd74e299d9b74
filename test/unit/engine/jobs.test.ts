// Long because all of these tests need the same world.
import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { noEnvironment } from '../../../src/domain/account/environment.ts'
import { AppError } from '../../../src/domain/errors.ts'
import { LogSequence, newExecutionId } from '../../../src/domain/ids.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { SliceQueue } from '../../../src/domain/slice-queue.ts'
import { CompileQueue } from '../../../src/engine/compile/compile-queue.ts'
import { Deployments } from '../../../src/engine/deployments.ts'
import { Jobs } from '../../../src/engine/jobs/jobs.ts'
import { LogWriter } from '../../../src/events/writer.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { type Installed, install } from '../../support/store/installed.ts'
import { World } from './world.ts'

const utf8 = new TextDecoder()

/** Jobs with a real store whose writes fail on demand. */
class JobWorld {
  readonly clock = new ManualClock()
  readonly world = new World({ clock: this.clock, limits: { runsBytesMax: 4_000_000 } })
  readonly bugs: unknown[] = []
  readonly store: Store
  readonly home: Installed
  readonly jobs: Jobs
  readonly #folder: Disposable
  /** The number of steps that can still be written. */
  stepsLeft = Number.POSITIVE_INFINITY
  /** Kinds of writes that fail. */
  failing = new Set<string>()
  /** Kinds of writes that fail after they have reached the store. */
  failingLate = new Set<string>()
  /** The most that the runs held together after a step was written. */
  peakBytes = 0
  /** The blocks whose steps were written. */
  readonly steps: string[] = []
  /** The error of failing writes. */
  failure: unknown = new AppError('STORAGE_UNAVAILABLE', 'The disk is full')

  static async open(): Promise<JobWorld> {
    const folder = temporaryFolder()
    const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'direct' })
    return new JobWorld(folder, store, await install(store))
  }

  private constructor(folder: Disposable, store: Store, home: Installed) {
    this.#folder = folder
    this.store = store
    this.home = home
    const writer = new LogWriter({
      store,
      clock: this.clock,
      sequence: new LogSequence(() => this.clock.now()),
      rowsWaitingMax: 100,
      onHealth: () => undefined,
    })
    const deployments = new Deployments({
      registry,
      limits: defaultLimits,
      work: new CompileQueue({ slices: new SliceQueue(this.clock), shareFactor: 4 }),
      plansMax: 10,
      getActive: (id) => store.getActive(id),
      getVersion: (id, version) => store.getVersion(id, version),
    })
    const { runner } = this.world
    this.jobs = new Jobs({
      store,
      write: async (write) => {
        this.#check(write.kind)
        if (write.kind === 'job-step' && this.stepsLeft-- <= 0) throw this.failure
        if (write.kind === 'job-step') {
          this.peakBytes = Math.max(this.peakBytes, runner.memory.bytes)
          const { block } = JSON.parse(utf8.decode(write.content)) as { block?: { span: { name: string } } }
          if (block) this.steps.push(block.span.name)
        }
        const refusal = await writer.write(write)
        if (this.failingLate.has(write.kind)) throw this.failure
        return refusal
      },
      record: async (record) => {
        this.#check('log')
        await writer.append(record)
      },
      seal: (text) => new TextEncoder().encode(text),
      open: (sealed) => utf8.decode(sealed),
      runner: {
        executeJob: async (request) => {
          const end = await runner.executeJob(request)
          if (!end.suspension) {
            this.#check('log')
            await writer.append(end.record)
          }
          return end
        },
        cancel: (id) => runner.cancel(id),
        memory: runner.memory,
      },
      environmentOf: () => noEnvironment,
      deploymentOf: (id, version) => deployments.loadVersion(id, version),
      clock: this.clock,
      concurrency: 2,
      waitingMax: 10,
      timeoutMs: 60_000,
      onBug: (_, error) => this.bugs.push(error),
    })
  }

  async accept(value: string, code = 'return <api.input.value>'): Promise<string> {
    const { workflowId, workspaceId } = this.home
    const draft = document({
      blocks: [
        block('start', 'api_trigger'),
        block('f', 'function', { code }),
        block('g', 'function', { code: 'return <f.result>' }),
      ],
      edges: ['start > f', 'f > g'],
    })
    const { version } = await this.store.deploy(workflowId, draft, 1, this.home.userId)
    const input = { input: { value }, fields: {} }
    const { executionId } = await this.jobs.accept({ workflowId, workspaceId, version, trigger: 'api', input })
    return executionId
  }

  /** Waits for the log entry of a job. */
  async entry(executionId: string) {
    for (;;) {
      const entry = await this.store.getExecution(executionId)
      if (entry) return entry
      await Bun.sleep(1)
    }
  }

  async close(): Promise<void> {
    await this.jobs.stop()
    await this.world.stop()
    await this.store.close()
    this.#folder[Symbol.dispose]()
  }

  #check(kind: string): void {
    if (this.failing.has(kind)) throw this.failure
  }
}

let it: JobWorld
beforeEach(async () => {
  it = await JobWorld.open()
})
afterEach(() => it.close())

describe('when the disk fails', () => {
  test('at the start, jobs wait until those of an earlier process are loaded', async () => {
    const { parkJobs } = it.store
    let failures = 2
    it.store.parkJobs = (crashed) => (failures-- > 0 ? Promise.reject(it.failure) : parkJobs(crashed))
    await it.jobs.open()
    const executionId = await it.accept('a')
    expect(it.jobs).toMatchObject({ running: 0, queued: 1 })
    it.clock.advance(1_000)
    while (failures > 0) await Bun.sleep(1)
    await it.clock.whenPending()
    expect(it.jobs.running).toBe(0)
    it.clock.advance(1_000)
    expect(await it.entry(executionId)).toMatchObject({ level: 'info' })
  })

  test('a job that cannot be written is refused and does not exist', async () => {
    it.failing.add('job')
    const refused = await it.accept('a').then(
      () => undefined,
      (error: AppError) => error,
    )
    expect(refused?.code).toBe('STORAGE_UNAVAILABLE')
    expect(it.jobs.running + it.jobs.queued).toBe(0)
  })

  test('a job that is in the store although writing it failed runs when the store responds again', async () => {
    it.failingLate.add('job')
    const { findJob } = it.store
    let failures = 1
    it.store.findJob = (id) => (failures-- > 0 ? Promise.reject(it.failure) : findJob(id))
    const { workflowId, workspaceId, userId } = it.home
    const draft = document({ blocks: [block('start', 'api_trigger')] })
    const { version } = await it.store.deploy(workflowId, draft, 1, userId)
    const executionId = newExecutionId()
    const input = { input: {}, fields: {} }
    const request = { workflowId, workspaceId, version, trigger: 'webhook', input, executionId } as const
    const claim = { kind: 'request', key: 'k', at: it.clock.now() } as const
    expect(await it.jobs.acceptOnce(request, claim).catch((error: AppError) => error.code)).toBe('STORAGE_UNAVAILABLE')
    expect(it.jobs.running + it.jobs.queued).toBe(0)
    it.failingLate.clear()
    it.clock.advance(5_000)
    while (failures > 0) await Bun.sleep(1)
    await it.clock.whenPending()
    it.clock.advance(5_000)
    expect(await it.entry(executionId)).toMatchObject({ level: 'info' })
  })

  for (const kind of ['job-step', 'log']) {
    test(`after a ${kind}, the job waits and resumes when the disk works again`, async () => {
      it.failing.add(kind)
      const id = await it.accept('a')
      while (it.jobs.running > 0) await Bun.sleep(1)
      expect(await it.jobs.find(id)).toMatchObject({ executionId: id })
      expect(it.bugs).toEqual([])
      it.failing.clear()
      it.clock.advance(1_000)
      expect(JSON.parse((await it.entry(id)).finalOutput)).toMatchObject({ result: 'a' })
      expect(await it.jobs.find(id)).toBeUndefined()
    })
  }
})

test('a job with another internal error ends as failed, and the error is reported', async () => {
  it.failing.add('job-step')
  it.failure = new TypeError('a bug')
  const id = await it.accept('a')
  expect((await it.entry(id)).level).toBe('error')
  expect(it.bugs).toEqual([it.failure])
})

test('a suspended job that is cancelled shows the blocks that ended', async () => {
  it.stepsLeft = 1
  const id = await it.accept('a')
  while (it.jobs.running > 0) await Bun.sleep(1)
  expect(await it.jobs.cancel(id)).toBe(true)
  const entry = await it.entry(id)
  expect(JSON.parse(entry.finalOutput)).toMatchObject({ code: 'CANCELLED' })
  const [root] = JSON.parse(entry.traceSpans) as [{ status: string; children: { name: string; output: unknown }[] }]
  expect(root.status).toBe('cancelled')
  expect(root.children.map(({ name }) => name)).toEqual(['f'])
  expect(root.children[0]!.output).toMatchObject({ result: 'a' })
})

test('jobs that hold too much together run one after the other, and no block runs twice', async () => {
  const code = "return 'x'.repeat(3e6)"
  const ids = [await it.accept('a', code), await it.accept('b', code), await it.accept('c', code)]
  const entries = await Promise.all(ids.map((id) => it.entry(id)))
  expect(entries.map(({ level }) => level)).toEqual(['info', 'info', 'info'])
  // The oldest job holds the outputs of both blocks, and one other job that of the first block.
  expect(it.peakBytes).toBeLessThan(10_000_000)
  for (const { traceSpans } of entries) {
    const [root] = JSON.parse(traceSpans) as [{ children: { name: string }[] }]
    expect(root.children.map(({ name }) => name)).toEqual(['start', 'f', 'g'])
  }
  expect(it.steps.toSorted()).toEqual(['f', 'f', 'f', 'g', 'g', 'g'])
  expect(it.world.runner.memory.bytes).toBe(0)
})

/** A job that was suspended because another run holds most of the memory; `release` makes room for it. */
async function suspended() {
  const { memory } = it.world.runner
  const other = { executionId: 'other', workspaceId: it.home.workspaceId }
  memory.hold(other, 3_000_000)
  const id = await it.accept('a', "return 'x'.repeat(3e6)")
  while (it.jobs.running > 0) await Bun.sleep(1)
  return { id, release: () => memory.release(other) }
}

test('the time that a job waits for memory does not count against its timeout', async () => {
  const { id, release } = await suspended()
  const waitingSince = it.clock.now()
  expect(await it.store.getJob(id)).toMatchObject({ waitedMs: 0, waitingSince })
  it.clock.advance(300_000)
  release()
  expect(await it.entry(id)).toMatchObject({ level: 'info', durationMs: 300_000 })
})

test('a crash while a job waits for memory is no interruption of it', async () => {
  const { id, release } = await suspended()
  await it.store.parkJobs(true)
  expect(await it.store.getJob(id)).toMatchObject({ interruptions: 0 })
  release()
  expect((await it.entry(id)).level).toBe('info')
})

test('a job that is cancelled while it waits for memory ends at once', async () => {
  const { id, release } = await suspended()
  expect(await it.jobs.cancel(id)).toBe(true)
  expect(JSON.parse((await it.entry(id)).finalOutput)).toMatchObject({ code: 'CANCELLED' })
  release()
  expect(it.jobs).toMatchObject({ running: 0, queued: 0 })
})

test('jobs with large inputs start only while there is room for them', async () => {
  await it.entry(await it.accept('small'))
  const { workflowId, workspaceId } = it.home
  const input = { input: { value: 'x'.repeat(2_000_000) }, fields: {} }
  const request = { workflowId, workspaceId, version: 1, trigger: 'api' as const, input }
  const accepting = [it.jobs.accept(request), it.jobs.accept(request)]
  expect(it.jobs).toMatchObject({ running: 1, queued: 1 })
  const jobs = await Promise.all(accepting)
  for (const { executionId } of jobs) expect((await it.entry(executionId)).level).toBe('info')
})

test('a job that this process lost and claimed again has one turn at a time', async () => {
  const id = await it.accept('a', 'const end = Date.now() + 100; while (Date.now() < end); return 1')
  const { executionId, workflowId, workspaceId, createdAt, startedAt } = (await it.jobs.find(id))!
  const job = { executionId, workflowId, workspaceId, createdAt, startedAt }
  it.store.claimInterruptedJobs = () => Promise.resolve([job])
  await it.jobs.takeOver({ queuedJobs: false, interruptedJobs: true })
  await it.jobs.takeOver({ queuedJobs: false, interruptedJobs: true })
  expect(it.jobs.running).toBe(1)
  expect((await it.entry(id)).level).toBe('info')
  while (it.jobs.running > 0) await Bun.sleep(1)
  it.store.claimInterruptedJobs = () => Promise.resolve([])
  // Its second turn finds that it has ended.
  await it.jobs.takeOver({ queuedJobs: false, interruptedJobs: true })
  while (it.jobs.running + it.jobs.queued > 0) await Bun.sleep(1)
  expect(it.steps).toEqual(['f', 'g'])
  expect(it.bugs).toEqual([])
})

test('a job with an open pause is not given up after three crashes: it waits, and then continues', async () => {
  await it.entry(await it.accept('first'))
  const { workflowId, workspaceId } = it.home
  const executionId = newExecutionId()
  const at = it.clock.now()
  const input = new TextEncoder().encode('{"input":{"value":"second"},"fields":{}}')
  const facts = {
    executionId,
    workflowId,
    workspaceId,
    version: 1,
    trigger: 'api' as const,
    createdAt: at,
    startedAt: at,
  }
  const pause = { contextId: 'c', place: 'p', blockId: 'ask', blockName: 'Ask', since: at, until: null, content: null }
  const pauses = [{ ...pause, kind: 'approval' as const }]
  await it.store.append([{ kind: 'job', row: { ...facts, input } }])
  await it.store.append([{ kind: 'job-pause', executionId, at, pauses, goesOn: true }])
  for (let crash = 1; crash <= 2; crash += 1) {
    await it.store.parkJobs(true)
    await it.store.append([{ kind: 'job-start', executionId, at }])
  }
  await it.jobs.open()
  while ((await it.store.findJob(executionId))?.state !== 'paused') await Bun.sleep(1)
  expect(await it.store.findJob(executionId)).toMatchObject({ interruptions: 0 })
  const ended = await it.store.endPause({ contextId: 'c', state: 'answered', at, answer: null })
  it.jobs.resume([ended!.job!])
  expect((await it.entry(executionId)).level).toBe('info')
})
