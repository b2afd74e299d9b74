// Long because all of these tests need the same processes.
import { afterEach, describe, expect, test } from 'bun:test'
import { newExecutionId } from '../../../src/domain/ids.ts'
import { logWrite, type Write } from '../../../src/domain/run/write.ts'
import { openPostgresStore } from '../../../src/store/postgres/postgres-store.ts'
import type { CheckIn } from '../../../src/store/process-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { ManualClock } from '../../support/clock.ts'
import { newSubscription } from '../../support/store/contract/subscription-contract.ts'
import { type Installed, install, logRow } from '../../support/store/installed.ts'
import { postgresServer } from '../../support/store/postgres-server.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

const server = postgresServer()
const open: Store[] = []

afterEach(async () => {
  for (const store of open.splice(0)) await store.close()
})

/** Some processes that serve one new installation. Time passes only by `clock`, and by `expire` in the database. */
async function world(count: number) {
  const url = await server().createDatabase()
  const clock = new ManualClock(1_800_000_000_000)
  const stores: Store[] = []
  for (let index = 0; index < count; index += 1) {
    const store = await openPostgresStore({
      url,
      serves: { version: '1', url: `http://127.0.0.1:${index + 1}`, usesFolder: false, clock },
    })
    stores.push(store)
    open.push(store)
  }
  const home = await install(stores[0]!)
  const checkIn = async (store: Store) => (await store.checkIn({ runs: 0 })) as CheckIn
  /** Every process checks in for so long that it may bury others. */
  const pass = async (ms: number, who: readonly Store[]) => {
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000)
      for (const store of who) await checkIn(store)
    }
  }
  /** As if the process of this address had not checked in for longer than its lease. */
  const expire = (index: number) =>
    queryPostgres(
      url,
      `UPDATE millrace.processes SET lease_until = now() - interval '1 second'
       WHERE url = 'http://127.0.0.1:${index + 1}'`,
    )
  return { url, clock, stores: stores as [Store, Store, ...Store[]], home, checkIn, pass, expire }
}

function jobOf(home: Installed, startedAt: number | null = null) {
  const executionId = newExecutionId()
  const { workflowId, workspaceId } = home
  const row = { executionId, workflowId, workspaceId, version: 1, trigger: 'api' as const, createdAt: 1, startedAt }
  return { executionId, write: { kind: 'job', row: { ...row, input: new Uint8Array([1]) } } satisfies Write }
}

const endOf = (home: Installed, sequence: number, executionId: string) =>
  logWrite({ ...logRow(home, sequence), executionId, createdAt: 1 })

const page = { perWorkflow: 10, workflowsMax: 10, after: undefined }
const idsOf = (jobs: readonly { executionId: string }[]) => jobs.map(({ executionId }) => executionId)

describe('a queued job', () => {
  test('is claimed by one process, although all of them ask at once', async () => {
    const { stores, home } = await world(3)
    const jobs = Array.from({ length: 20 }, () => jobOf(home))
    await stores[0].append(jobs.map(({ write }) => write))
    const claims = await Promise.all(stores.map((store) => store.claimQueuedJobs({ ...page, perWorkflow: 8 })))
    const claimed = claims.flatMap(idsOf)
    expect(new Set(claimed).size).toBe(claimed.length)
    const rest = await stores[0].claimQueuedJobs({ ...page, perWorkflow: 100 })
    const others = claims.slice(1).flatMap(idsOf)
    expect([...others, ...idsOf(rest)].sort()).toEqual(idsOf(jobs).sort())
  })

  test('is started by one process, and the others are refused', async () => {
    const { stores, home } = await world(3)
    const { executionId, write } = jobOf(home)
    await stores[0].append([write])
    const starts = await Promise.all(stores.map((store) => store.append([{ kind: 'job-start', executionId, at: 2 }])))
    expect(starts.filter((refusals) => refusals === undefined)).toHaveLength(1)
    const loser = stores[starts.findIndex((refusals) => refusals !== undefined)]!
    const step = { kind: 'job-step', executionId, number: 1, content: new Uint8Array([1]) } as const
    expect(await loser.append([step, endOf(home, 5, executionId)])).toEqual([
      { index: 0, executionId: null },
      { index: 1, executionId: null },
    ])
    expect(await loser.getExecution(executionId)).toBeUndefined()
    expect(await loser.findJob(executionId)).toMatchObject({ state: 'running', isElsewhere: true })
    const winner = stores[starts.indexOf(undefined)]!
    expect(await winner.append([step, endOf(home, 6, executionId)])).toBeUndefined()
    expect(await winner.getExecution(executionId)).toBeDefined()
  })
})

test('a process that is drained gives up the jobs that wait in its memory, and keeps those that run', async () => {
  const { stores, home } = await world(2)
  const [first, second] = stores
  const [waiting, running] = [jobOf(home), jobOf(home, 1)]
  await first.append([waiting.write, running.write])
  expect(idsOf(await first.claimQueuedJobs(page))).toEqual([waiting.executionId])
  expect(await second.claimQueuedJobs(page)).toEqual([])
  await first.releaseWork([])
  expect(idsOf(await second.claimQueuedJobs(page))).toEqual([waiting.executionId])
  expect(await second.findJob(running.executionId)).toMatchObject({ state: 'running', isElsewhere: true })
})

test('a process that quits keeps its jobs, and another one leads', async () => {
  const { stores, home, checkIn } = await world(2)
  const [first, second] = stores
  const { executionId, write } = jobOf(home, 1)
  await first.append([write])
  expect((await checkIn(first)).isLeader).toBe(true)
  expect(await first.checkIn({ runs: 1, isQuitting: true })).toMatchObject({ isLeader: false, isDraining: true })
  expect((await checkIn(second)).isLeader).toBe(true)
  expect(await first.append([endOf(home, 9, executionId)])).toBeUndefined()
})

describe('the job of a process that does not check in any more', () => {
  test('is resumed by another one, with one more crash, and the first one writes nothing for it', async () => {
    const { stores, home, pass, expire, checkIn } = await world(2)
    const [first, second] = stores
    const { executionId, write } = jobOf(home, 1)
    await first.append([write])
    await pass(16_000, [second])
    expect((await checkIn(second)).unclaimed.interruptedJobs).toBe(false)
    await expire(0)
    await pass(2_000, [second])
    expect((await checkIn(second)).unclaimed.interruptedJobs).toBe(true)
    expect(idsOf(await second.claimInterruptedJobs(10))).toEqual([executionId])
    expect(await second.append([{ kind: 'job-start', executionId, at: 5 }])).toBeUndefined()
    expect(await second.findJob(executionId)).toMatchObject({ state: 'running', interruptions: 1 })
    // The first one was only suspended, and does not know yet.
    const step = { kind: 'job-step', executionId, number: 1, content: new Uint8Array([1]) } as const
    expect(await first.append([step])).toEqual([{ index: 0, executionId: null }])
    expect(await first.append([endOf(home, 9, executionId)])).toEqual([{ index: 0, executionId: null }])
    expect(await checkIn(first)).toMatchObject({ hasJoinedAgain: true, changes: null })
    expect(await first.append([endOf(home, 10, executionId)])).toEqual([{ index: 0, executionId: null }])
    expect(await second.append([endOf(home, 11, executionId)])).toBeUndefined()
    // The entry of the second one stays the only one.
    expect(await first.append([endOf(home, 12, executionId)])).toEqual([{ index: 0, executionId: null }])
    expect(await second.append([endOf(home, 11, executionId)])).toBeUndefined()
  })

  test('is not taken from it when the database was away, and no lease could be renewed', async () => {
    const { stores, home, pass, expire, checkIn, clock } = await world(2)
    const [first, second] = stores
    const { executionId, write } = jobOf(home, 1)
    await first.append([write])
    await pass(16_000, stores)
    clock.advance(60_000)
    for (const index of [0, 1]) await expire(index)
    // The second one is back first.
    await checkIn(second)
    clock.advance(1_000)
    await checkIn(second)
    expect(await checkIn(first)).toMatchObject({ hasJoinedAgain: false })
    await pass(20_000, stores)
    const job = await first.findJob(executionId)
    expect(job).toMatchObject({ state: 'running', interruptions: 0 })
    expect(job?.isElsewhere).toBeUndefined()
  })

  test('is given up at once when the process stops', async () => {
    const { stores, home, checkIn } = await world(2)
    const { executionId, write } = jobOf(home, 1)
    await stores[0].append([write])
    await stores[0].parkJobs(false)
    await stores[0].close()
    expect((await checkIn(stores[1])).unclaimed.interruptedJobs).toBe(true)
    const job = await stores[1].findJob(executionId)
    expect(job).toMatchObject({ state: 'interrupted', interruptions: 0 })
    expect(job?.isElsewhere).toBeUndefined()
  })
})

describe('the deliveries of a process', () => {
  async function withDeliveries(count: number) {
    const at = await world(count)
    const { workflowId } = at.home
    const { number } = await at.stores[0].createSubscription(workflowId, newSubscription('w'), 1)
    const webhooks = { deliveries: [{ subscription: number, include: 0 }], skipped: [], facts: null }
    const rows = [1, 2, 3].map((sequence) => ({ ...logRow(at.home, sequence), webhooks }))
    await at.stores[0].append(rows.map((row) => logWrite(row)))
    const pendingOf = async (store: Store) => idsOfDeliveries(await store.nextDeliveries(number, null, 10))
    return { ...at, subscription: number, pendingOf }
  }
  const idsOfDeliveries = (due: readonly { sequence: number }[]) => due.map(({ sequence }) => sequence)
  const ended = (sequence: number, subscription: number) => ({
    delivery: { sequence, subscription },
    attempt: { number: 1, startedAt: 1, durationMs: 1, status: 200, failure: null, answer: null },
    outcome: { state: 'delivered' as const, dueAt: null },
  })

  test('are sent by that process only, and by others once it is gone', async () => {
    const { stores, subscription, pendingOf, pass, expire, checkIn } = await withDeliveries(3)
    const [first, second, third] = stores
    expect(await pendingOf(first)).toEqual([1, 2, 3])
    expect(await pendingOf(second)).toEqual([])
    expect(await second.adoptDeliveries()).toEqual([])
    await pass(16_000, [second])
    await expire(0)
    await pass(2_000, [second])
    expect((await checkIn(second)).unclaimed.deliveries).toBe(true)
    await Promise.all([second.adoptDeliveries(), third!.adoptDeliveries()])
    const adopted = [...(await pendingOf(second)), ...(await pendingOf(third!))]
    expect(adopted.sort()).toEqual([1, 2, 3])
    expect((await checkIn(second)).unclaimed.deliveries).toBe(false)
    // The first one was only suspended in the middle of an attempt.
    await first.endAttempts([ended(1, subscription)])
    expect(await first.getDelivery({ sequence: 1, subscription })).toMatchObject({ state: 'pending', attempts: 0 })
  })

  test('are given to others when it is drained', async () => {
    const { stores, subscription, pendingOf, checkIn } = await withDeliveries(2)
    const [first, second] = stores
    const processes = await second.listProcesses()
    expect(processes.map(({ holds }) => holds.deliveries)).toEqual([3, 0])
    expect(await second.drainProcess(processes[0]!.id)).toBe(true)
    expect(await second.drainProcess('unknown')).toBe(false)
    expect(await checkIn(first)).toMatchObject({ isDraining: true, isLeader: false })
    await first.releaseWork([{ sequence: 2, subscription }])
    expect(await second.adoptDeliveries()).toEqual([subscription])
    expect(await pendingOf(second)).toEqual([1, 3])
    expect(await pendingOf(first)).toEqual([2])
  })

  test('can be changed through any process, and the one that has them is told', async () => {
    const { stores, subscription, checkIn, pendingOf } = await withDeliveries(2)
    const [first, second] = stores
    for (const store of stores) await checkIn(store)
    expect(await second.cancelDelivery({ sequence: 2, subscription })).toBe(true)
    expect(await second.sendAgain({ sequence: 3, subscription }, 5)).toBe(true)
    const { changes } = await checkIn(first)
    expect(changes).toEqual([
      { kind: 'delivery', key: { sequence: 2, subscription } },
      { kind: 'delivery', key: { sequence: 3, subscription } },
    ])
    expect((await checkIn(second)).changes).toEqual([])
    expect(await pendingOf(first)).toEqual([1])
    expect(await pendingOf(second)).toEqual([3])
  })
})

test('one process is the leader, and another one when it is drained or does not check in any more', async () => {
  const { url, stores, checkIn } = await world(3)
  const leaders = async () => (await Promise.all(stores.map(checkIn))).map(({ isLeader }) => isLeader)
  expect(await leaders()).toEqual([true, false, false])
  await queryPostgres(
    url,
    "UPDATE millrace.processes SET lease_until = now() + interval '14 seconds' WHERE url LIKE '%:1'",
  )
  expect((await checkIn(stores[1])).isLeader).toBe(true)
  const second = (await stores[0].listProcesses())[1]!
  await stores[0].drainProcess(second.id)
  expect((await checkIn(stores[2]!)).isLeader).toBe(true)
})

test('processes hear of each change of a workflow once, and of all changes that they cannot know', async () => {
  const { stores, home, checkIn, clock } = await world(2)
  const [first, second] = stores
  await checkIn(second)
  await first.undeploy(home.workflowId)
  expect((await checkIn(second)).changes).toEqual([{ kind: 'workflow', workflowId: home.workflowId }])
  expect((await checkIn(second)).changes).toEqual([])
  clock.advance(120_000)
  expect((await checkIn(second)).changes).toBeNull()
})

test('two processes never use the same sequence for a log entry', async () => {
  const { stores } = await world(3)
  const slots = stores.map(({ sequenceShare }) => sequenceShare.own())
  expect(new Set(slots).size).toBe(3)
  expect(Math.max(...slots)).toBeLessThan(stores[0].sequenceShare.count)
})

test('a request with an idempotency key runs in one process, until that one ends it or is gone', async () => {
  const { stores, home, pass, expire } = await world(3)
  const [first, second, third] = stores
  const { workflowId } = home
  const of = (executionId: string, key = 'k') => ({ workflowId, key, executionId })
  const begun = await Promise.all(stores.map((store, index) => store.beginRequest(of(String(index)))))
  expect(begun.filter(Boolean)).toHaveLength(1)
  const winner = begun.indexOf(true)
  await stores[(winner + 1) % 3]!.endRequest(of('another run'))
  expect(await stores[(winner + 1) % 3]!.beginRequest(of('x'))).toBe(false)
  await stores[winner]!.endRequest(of(String(winner)))
  expect(await first.beginRequest(of('y'))).toBe(true)
  expect(await second.beginRequest(of('z'))).toBe(false)
  await pass(16_000, [second, third!])
  await expire(0)
  await pass(2_000, [second, third!])
  const taken = await Promise.all([second.beginRequest(of('a')), third!.beginRequest(of('b'))])
  expect(taken.filter(Boolean)).toHaveLength(1)
})

test('the requests of an account are counted together', async () => {
  const { stores } = await world(2)
  const window = { kind: 'sync', userId: 'a', used: 3, added: 3, resetAt: 60_000 } as const
  expect(await stores[0].saveRateWindows([window], 10)).toMatchObject([{ used: 3, resetAt: 60_000 }])
  const other = { ...window, used: 2, added: 2, resetAt: 65_000 }
  expect(await stores[1].saveRateWindows([other], 20)).toMatchObject([{ used: 5, resetAt: 60_000 }])
  expect(await stores[0].saveRateWindows([{ ...window, used: 4, added: 1 }], 30)).toMatchObject([{ used: 6 }])
})
