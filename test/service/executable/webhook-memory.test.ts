import { expect, test } from 'bun:test'
import { sequenceAt } from '../../../src/domain/ids.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { init, serve } from '../../support/running-service.ts'
import { type Installed, logRow } from '../../support/store/installed.ts'
import { openStoreOf } from '../../support/store/test-store.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

const entries = 256
const outputChars = 4_000_000
const mb = 1_048_576

/** The largest memory that a process has had, in MB. Only Linux reports it. */
const peakMb = async (pid: number) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(await Bun.file(`/proc/${pid}/status`).text())![1]) / 1024

test('pending deliveries of runs with 1 GB of output are sent with less than half of that in memory', async () => {
  using folder = temporaryFolder()
  using receiver = new Receiver()
  const { workspaceId } = await init(folder.path)
  const store = await openStoreOf(folder.path)
  const document = { name: 'A', blocks: {}, edges: [] }
  const { id: workflowId } = await store.createWorkflow({ id: null, workspaceId, document, at: 1 })
  const subscription = await store.createSubscription(
    workflowId,
    {
      ...{ id: 'a', url: receiver.url, secret: null, include: 0, active: true },
      ...{ events: ['completed'], levelFilter: null, triggerFilter: null, retryOnNetworkError: false },
    },
    1,
  )
  const now = Date.now()
  const finalOutput = JSON.stringify('x'.repeat(outputChars))
  const webhooks = { deliveries: [{ subscription: subscription.number, include: 0 }], skipped: [], facts: null }
  for (let index = 1; index <= entries; index += 1) {
    const more = { startedAt: now, endedAt: now, finalOutput, cost: '{"total":1}', costTotal: 1, webhooks }
    const row = logRow({ workspaceId, workflowId } as Installed, sequenceAt(now) + index, more)
    await store.append([{ kind: 'log', row, output: null }])
  }
  await store.close()
  const service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  try {
    await receiver.arrivals(entries)
    expect(await peakMb(service.pid)).toBeLessThan((entries * outputChars) / mb / 2)
  } finally {
    await service.kill('SIGTERM')
  }
}, 120_000)
