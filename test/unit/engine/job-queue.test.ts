// Long because all of these tests need the same disk.
import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { JobFacts, JobPage } from '../../../src/domain/run/job.ts'
import { JobQueue } from '../../../src/engine/jobs/job-queue.ts'
import { QueueRefills } from '../../../src/engine/jobs/queue-refills.ts'
import { ManualClock } from '../../support/clock.ts'

/** Replaces the disk: jobs in the order of acceptance. */
class Disk {
  readonly jobs: JobFacts[] = []
  readonly active = new Set<string>()

  list = async ({ perWorkflow, workflowsMax, after = '' }: JobPage): Promise<JobFacts[]> => {
    const byWorkflow = Map.groupBy(this.jobs, ({ workflowId }) => workflowId)
    const listed = [...byWorkflow.keys()].sort().filter((workflowId) => workflowId > after)
    return listed.slice(0, workflowsMax).flatMap((workflowId) => byWorkflow.get(workflowId)!.slice(0, perWorkflow))
  }
}

const jobOf = (n: number, workflow: number, workspaceId = 'w'): JobFacts => ({
  executionId: `job ${n}`,
  workflowId: `workflow ${workflow}`,
  workspaceId,
  createdAt: n,
  startedAt: null,
})

const step = fc.oneof(
  { weight: 3, arbitrary: fc.record({ put: fc.nat(3) }) },
  { weight: 2, arbitrary: fc.constant('take' as const) },
  { weight: 1, arbitrary: fc.record({ cancel: fc.nat() }) },
)

test('workflows with a higher priority come first, equal ones take turns, and workspaces share as before', () => {
  const disk = new Disk()
  const priorities = new Map([
    ['workflow 1', 5],
    ['workflow 2', 5],
    ['workflow 3', -5],
  ])
  const queue = new JobQueue({
    claim: disk.list,
    isActive: () => false,
    priorityOf: (workflowId) => priorities.get(workflowId) ?? 0,
  })
  const put = (n: number, workflow: number, workspaceId?: string) => queue.put(jobOf(n, workflow, workspaceId))
  for (const [n, workflow] of [3, 0, 1, 2, 1, 2, 0, 3].entries()) put(n, workflow)
  put(8, 4, 'other')
  put(9, 4, 'other')
  const order = []
  for (let job = queue.take(); job; job = queue.take()) order.push(`${job.workspaceId}${job.workflowId.slice(-1)}`)
  expect(order).toEqual(['w1', 'other4', 'w2', 'other4', 'w1', 'w2', 'w0', 'w0', 'w3', 'w3'])
})

test('the queue finds the jobs behind parked ones, and seldom reads the disk', async () => {
  const clock = new ManualClock()
  const disk = new Disk()
  const parked = new Set<string>()
  let reads = 0
  const queue = new JobQueue({
    claim: async (page) => {
      reads += 1
      return disk.list(page)
    },
    isActive: () => false,
    isParked: (id) => parked.has(id),
    window: { remembered: 4, perWorkflow: 2, workflows: 10 },
  })
  // Every job asks for a slot in its turn, and gets none.
  const dispatch = () => {
    for (let job = queue.take(); job; job = queue.take()) {
      parked.add(job.executionId)
      refills.whenNeeded(true)
    }
    refills.whenNeeded(false)
  }
  const failed = () => expect.unreachable()
  const refills = new QueueRefills({ queue, clock, pauseMs: 1_000, refilled: dispatch, failed })
  disk.jobs.push(...[0, 1, 2, 3, 4].map((n) => jobOf(n, 1)))
  queue.addOnDisk(5)
  dispatch()
  const settle = async () => {
    for (let turn = 0; turn < 200; turn += 1) await Promise.resolve()
  }
  await settle()
  expect([parked.size, reads < 6]).toEqual([2, true])
  const before = reads
  clock.advance(1_000)
  await settle()
  expect(reads - before).toBeLessThan(3)
  // The first two run.
  for (const { executionId } of disk.jobs.splice(0, 2)) parked.delete(executionId)
  clock.advance(1_000)
  await settle()
  expect([...parked]).toEqual(['job 2', 'job 3'])
  for (const { executionId } of disk.jobs.splice(0, 2)) parked.delete(executionId)
  clock.advance(1_000)
  await settle()
  expect([...parked]).toEqual(['job 4'])
})

test('every job gets exactly one turn, in the order of its workflow, however few jobs fit in memory', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 120 }),
      fc.integer({ min: 1, max: 8 }),
      fc.integer({ min: 1, max: 5 }),
      async (steps, rememberedMax, workflowsMax) => {
        const disk = new Disk()
        const isActive = (id: string) => disk.active.has(id)
        const queue = new JobQueue({
          claim: disk.list,
          isActive,
          window: { remembered: rememberedMax, perWorkflow: 500, workflows: workflowsMax },
        })
        const taken: JobFacts[] = []
        const cancelled = new Set<string>()
        let made = 0
        const take = async () => {
          let job = queue.take()
          while (!job && queue.hasMore) {
            await queue.refill()
            job = queue.take()
          }
          if (!job) return false
          // It has started: its row still exists but does not wait any more.
          disk.jobs.splice(disk.jobs.indexOf(job), 1)
          taken.push(job)
          return true
        }
        for (const each of steps) {
          if (each === 'take') await take()
          else if ('put' in each) {
            const job = jobOf(made++, each.put, `w${each.put % 2}`)
            queue.announce(job.executionId)
            disk.jobs.push(job)
            queue.put(job)
          } else if (disk.jobs.length > 0) {
            const [job] = disk.jobs.splice(each.cancel % disk.jobs.length, 1)
            cancelled.add(job!.executionId)
            queue.remove(job!.executionId)
          }
          expect(queue.size).toBe(disk.jobs.length)
        }
        while (await take());
        const numbers = taken.map(({ createdAt }) => createdAt)
        expect(new Set(numbers).size).toBe(numbers.length)
        expect(numbers.length + cancelled.size).toBe(made)
        for (const jobs of Map.groupBy(taken, ({ workflowId }) => workflowId).values()) {
          const order = jobs.map(({ createdAt }) => createdAt)
          expect(order).toEqual(order.toSorted((a, b) => a - b))
        }
        expect(queue.size).toBe(0)
      },
    ),
    { numRuns: 300 },
  )
})

test('a single job gets its turn soon, however many jobs of other workflows wait in memory and on disk', async () => {
  const disk = new Disk()
  const queue = new JobQueue({
    claim: disk.list,
    isActive: () => false,
    window: { remembered: 100, perWorkflow: 500, workflows: 1_000 },
  })
  const put = (job: JobFacts) => {
    disk.jobs.push(job)
    queue.put(job)
  }
  let made = 0
  for (let n = 0; n < 1_000; n += 1) put(jobOf(made++, n % 20))
  for (let n = 0; n < 3; n += 1) put(jobOf(made++, 99))
  const order: string[] = []
  while (disk.jobs.length > 0) {
    if (queue.isUneven) await queue.refill()
    const job = queue.take()
    disk.jobs.splice(disk.jobs.indexOf(job!), 1)
    order.push(job!.workflowId)
  }
  const turns = order.flatMap((workflowId, turn) => (workflowId === 'workflow 99' ? [turn] : []))
  expect(turns).toHaveLength(3)
  expect(turns[2]).toBeLessThan(100)
})

test('jobs of an earlier process get their turns among new jobs', async () => {
  const disk = new Disk()
  for (let n = 0; n < 5_000; n += 1) disk.jobs.push(jobOf(n, n % 10))
  disk.jobs.push(jobOf(5_000, 99))
  const queue = new JobQueue({
    claim: disk.list,
    isActive: () => false,
    window: { remembered: 20, perWorkflow: 500, workflows: 1_000 },
  })
  queue.addOnDisk(disk.jobs.length)
  await queue.refill()
  const first: string[] = []
  for (let turn = 0; turn < 11; turn += 1) first.push(queue.take()!.workflowId)
  expect(first).toContain('workflow 99')
})

test('a single job gets its turn soon when more workflows have jobs than fit in one list', async () => {
  const disk = new Disk()
  for (let n = 0; n < 400; n += 1) disk.jobs.push(jobOf(n, 10 + (n % 20)))
  disk.jobs.push(jobOf(5_000, 99))
  const queue = new JobQueue({
    claim: disk.list,
    isActive: () => false,
    window: { remembered: 200, perWorkflow: 500, workflows: 3 },
  })
  queue.addOnDisk(disk.jobs.length)
  const order: string[] = []
  while (disk.jobs.length > 0) {
    while (queue.isUneven) await queue.refill()
    let job = queue.take()
    while (!job) {
      await queue.refill()
      job = queue.take()
    }
    disk.jobs.splice(disk.jobs.indexOf(job), 1)
    order.push(job.workflowId)
  }
  expect(order.indexOf('workflow 99')).toBeLessThan(50)
  expect(new Set(order.slice(0, 50)).size).toBe(21)
  expect(queue.size).toBe(0)
})

test('workspaces take turns first, so that one with many workflows does not crowd out another one', () => {
  const queue = new JobQueue({ claim: async () => [], isActive: () => false })
  let made = 0
  for (let n = 0; n < 1_000; n += 1) queue.put(jobOf(made++, n % 200, 'crowded'))
  for (let n = 0; n < 6; n += 1) queue.put(jobOf(made++, 900 + (n % 2), 'quiet'))
  const order: JobFacts[] = []
  for (let job = queue.take(); job; job = queue.take()) order.push(job)
  expect(order).toHaveLength(made)
  const turns = order.slice(0, 12).map(({ workspaceId }) => workspaceId)
  expect(turns).toEqual(Array.from({ length: 12 }, (_, turn) => (turn % 2 === 0 ? 'crowded' : 'quiet')))
  // Within each workspace, its workflows take turns.
  const workflowsOf = (workspace: string) =>
    order.filter(({ workspaceId }) => workspaceId === workspace).map(({ workflowId }) => workflowId)
  expect(workflowsOf('quiet').slice(0, 4)).toEqual(['workflow 900', 'workflow 901', 'workflow 900', 'workflow 901'])
  expect(new Set(workflowsOf('crowded').slice(0, 200)).size).toBe(200)
})

test('a workspace gets its turn after a restart, although another one has more workflows than fit in one list', async () => {
  const disk = new Disk()
  for (let n = 0; n < 400; n += 1) disk.jobs.push(jobOf(n, 100 + (n % 40), 'crowded'))
  for (let n = 0; n < 5; n += 1) disk.jobs.push(jobOf(1_000 + n, 999, 'quiet'))
  const queue = new JobQueue({
    claim: disk.list,
    isActive: () => false,
    window: { remembered: 100, perWorkflow: 500, workflows: 5 },
  })
  queue.addOnDisk(disk.jobs.length)
  const order: string[] = []
  while (order.length < 60) {
    if (queue.isUneven || queue.hasMore) await queue.refill()
    const job = queue.take()
    if (!job) continue
    disk.jobs.splice(disk.jobs.indexOf(job), 1)
    order.push(job.workspaceId)
  }
  const turns = order.flatMap((workspaceId, turn) => (workspaceId === 'quiet' ? [turn] : []))
  expect(turns).toHaveLength(5)
  // The list reaches it in at most nine parts. From then on, it gets every other turn while its jobs are in memory.
  expect(turns[0]).toBeLessThan(10)
})

test('workflows take turns, and interrupted jobs go first', () => {
  const queue = new JobQueue({ claim: async () => [], isActive: () => false })
  for (const [n, workflow] of [0, 0, 0, 1, 1, 2].entries()) queue.put(jobOf(n, workflow))
  queue.putFirst(jobOf(9, 0))
  const order: number[] = []
  for (let job = queue.take(); job; job = queue.take()) order.push(job.createdAt)
  expect(order).toEqual([9, 0, 3, 5, 1, 4, 2])
})

test('while a workspace is held back, the jobs of others are read from the disk too, with a pause between two reads', async () => {
  const disk = new Disk()
  const clock = new ManualClock()
  let reads = 0
  const list = (page: JobPage) => {
    reads += 1
    return disk.list(page)
  }
  const queue = new JobQueue({
    claim: list,
    isActive: (id) => disk.active.has(id),
    window: { remembered: 1, perWorkflow: 500, workflows: 1_000 },
  })
  const taken: string[] = []
  const refilled = Promise.withResolvers<void>()
  const refills = new QueueRefills({
    ...{ queue, clock, pauseMs: 1_000, failed: () => undefined },
    refilled: () => {
      dispatch()
      refilled.resolve()
    },
  })
  const dispatch = () => {
    for (;;) {
      const job = queue.take((workspaceId) => workspaceId !== 'held back')
      refills.whenNeeded(job !== undefined)
      if (!job) return
      disk.jobs.splice(disk.jobs.indexOf(job), 1)
      taken.push(job.executionId)
    }
  }
  const jobs = [jobOf(0, 0, 'held back'), jobOf(1, 1, 'other'), jobOf(2, 1, 'other')]
  for (const job of jobs) {
    disk.jobs.push(job)
    queue.put(job)
  }
  dispatch()
  dispatch()
  expect({ taken, reads }).toEqual({ taken: ['job 1'], reads: 0 })
  clock.advance(1_000)
  await refilled.promise
  expect({ taken, reads }).toEqual({ taken: ['job 1', 'job 2'], reads: 1 })
  expect(queue.size).toBe(1)
  refills.close()
  expect(clock.pending).toBe(0)
})

test('a job that resumes and has no room is not overtaken by jobs of its workflow', () => {
  const queue = new JobQueue({ claim: async () => [], isActive: () => false })
  const large = jobOf(1, 1)
  queue.putFirst(large)
  queue.putFirst(jobOf(2, 1))
  for (const [n, workflow] of [1, 2].entries()) queue.put(jobOf(3 + n, workflow))
  let hasRoom = false
  const take = () => queue.take((_, executionId) => hasRoom || executionId !== large.executionId)?.createdAt
  expect(take()).toBe(4)
  expect(take()).toBeUndefined()
  expect(queue.isHeldBack).toBe(true)
  hasRoom = true
  expect([take(), take(), take(), take()]).toEqual([1, 2, 3, undefined])
})
