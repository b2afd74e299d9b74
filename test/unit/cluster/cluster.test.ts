import { expect, test } from 'bun:test'
import { Cluster } from '../../../src/cluster/cluster.ts'
import type { CheckIn } from '../../../src/store/process-store.ts'
import { ManualClock } from '../../support/clock.ts'

const nothing: CheckIn = {
  hasJoinedAgain: false,
  isLeader: false,
  isDraining: false,
  leaseMs: 30_000,
  peers: [],
  changes: [],
  unclaimed: { queuedJobs: false, interruptedJobs: false, deliveries: false },
}

/** A process whose check-ins return `next`, or fail with it. */
function world(first: Partial<CheckIn> | null | Error) {
  const clock = new ManualClock(1_000_000)
  const calls: string[] = []
  const it = { next: first, orphans: [] as number[][], drainFailures: 0 }
  const call = (name: string) => async () => void calls.push(name)
  const cluster = new Cluster({
    clock,
    random: () => 0.5,
    store: {
      async checkIn({ isQuitting }) {
        calls.push(isQuitting ? 'check in, quitting' : 'check in')
        if (it.next instanceof Error) throw it.next
        return it.next && { ...nothing, ...it.next }
      },
      adoptDeliveries: async () => it.orphans.shift() ?? [],
    },
    own: () => ({ runs: 0 }),
    onChange: (change) => calls.push(`change of a ${change.kind}`),
    onUnknownChanges: () => calls.push('unknown changes'),
    onLeader: (isLeader) => calls.push(isLeader ? 'leads' : 'leads no longer'),
    onClaimsLost: () => calls.push('claims lost'),
    async onDrain() {
      if (it.drainFailures-- > 0) throw new Error('The database is away')
      calls.push('drain')
    },
    takeJobs: call('take jobs'),
    adopted: (subscriptions) => calls.push(`adopted ${subscriptions}`),
    withOthers: call('with others'),
    resume: () => undefined,
    onTrouble: (cause) => calls.push(cause ? 'trouble' : 'trouble is over'),
  })
  const settled = () => new Promise((resolve) => setImmediate(resolve))
  return {
    cluster,
    clock,
    calls,
    it,
    async pass(ms: number) {
      for (let passed = 0; passed < ms; passed += 100) {
        clock.advance(100)
        await settled()
      }
      return calls.splice(0)
    },
    async open() {
      cluster.open()
      await settled()
      return calls.splice(0)
    },
  }
}

test('the only process leads from the start, and checks in only once', async () => {
  const { cluster, open, pass, clock } = world(null)
  expect(await open()).toEqual(['check in', 'leads'])
  expect(cluster).toMatchObject({ isLeader: true, takesWork: true, peers: [] })
  expect(await pass(100_000)).toEqual([])
  expect(clock.pending).toBe(0)
  expect(cluster).toMatchObject({ isLeader: true, takesWork: true })
})

test('a process that cannot check in starts nothing shortly before its lease ends, and goes on when it can', async () => {
  const { cluster, open, pass, it } = world({ isLeader: true, leaseMs: 30_000 })
  expect(await open()).toEqual(['check in', 'leads', 'take jobs'])
  it.next = new Error('The database is away')
  expect((await pass(20_000)).filter((call) => call === 'trouble')).toHaveLength(1)
  expect(cluster).toMatchObject({ isLeader: true, takesWork: true, holdsClaims: true })
  await pass(8_000)
  expect(cluster).toMatchObject({ isLeader: false, takesWork: false, holdsClaims: false })
  it.next = { isLeader: true }
  // The scheduler has stopped meanwhile, and begins again.
  expect(await pass(1_000)).toEqual(['check in', 'leads', 'take jobs', 'trouble is over'])
  expect(cluster).toMatchObject({ isLeader: true, takesWork: true })
})

test('a process that was suspended for too long learns that it has lost its claims, and leads no longer', async () => {
  const { open, pass, it, cluster } = world({ isLeader: true })
  await open()
  it.next = { hasJoinedAgain: true, changes: null, peers: [{ id: 'other', url: 'http://other' }] }
  expect(await pass(1_000)).toEqual([
    ...['check in', 'leads no longer', 'claims lost', 'unknown changes', 'take jobs', 'with others'],
  ])
  expect(cluster.peers).toEqual([{ id: 'other', url: 'http://other' }])
  expect(cluster.counters.claimsLost).toBe(1)
})

test('a drained process gives up its work again and again, and takes no more', async () => {
  const { cluster, open, pass, it } = world({})
  await open()
  it.next = { isDraining: true, unclaimed: { queuedJobs: true, interruptedJobs: true, deliveries: true } }
  it.orphans = [[1]]
  expect(await pass(2_000)).toEqual(['check in', 'drain', 'check in', 'drain'])
  expect(cluster).toMatchObject({ isDraining: true, takesWork: false, holdsClaims: true })
})

test('a drained process gives its work up as soon as the store allows it', async () => {
  const { open, pass, it } = world({})
  await open()
  it.next = { isDraining: true }
  it.drainFailures = 1
  expect(await pass(3_000)).toEqual([
    'check in',
    'trouble',
    'check in',
    'drain',
    'trouble is over',
    'check in',
    'drain',
  ])
})

test('a process that quits takes no work and does not lead, but keeps its claims until it stops', async () => {
  const { cluster, open, pass, it, calls } = world({ isLeader: true })
  await open()
  it.next = { isDraining: true, unclaimed: { queuedJobs: true, interruptedJobs: true, deliveries: true } }
  await cluster.quit()
  expect(calls.splice(0)).toEqual(['check in, quitting', 'leads no longer'])
  expect(cluster).toMatchObject({ isLeader: false, takesWork: false, holdsClaims: true })
  expect((await pass(60_000)).length).toBeGreaterThan(50)
  expect(cluster.holdsClaims).toBe(true)
  await cluster.stop()
  expect(await pass(10_000)).toEqual([])
})

test('deliveries of processes that are gone are adopted until none is left', async () => {
  const { open, it } = world({ unclaimed: { queuedJobs: false, interruptedJobs: false, deliveries: true } })
  it.orphans = [[1, 2], [3]]
  expect(await open()).toEqual(['check in', 'take jobs', 'adopted 1,2', 'adopted 3'])
})

test('changes of other processes are applied before work is taken', async () => {
  const { open } = world({ changes: [{ kind: 'workflow', workflowId: 'w' }] })
  expect(await open()).toEqual(['check in', 'change of a workflow', 'take jobs'])
})
