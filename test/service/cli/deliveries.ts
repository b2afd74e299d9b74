import { sequenceAt } from '../../../src/domain/ids.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import { diagnose, json, type Made } from '../../support/cli/folder.ts'
import { document } from '../../support/make.ts'
import { newSubscription } from '../../support/store/contract/subscription-contract.ts'
import { endedAttempt } from '../../support/store/ended-attempt.ts'
import { logRow } from '../../support/store/installed.ts'
import { openStoreOf } from '../../support/store/test-store.ts'

/**
 * An installation with one webhook subscription and its deliveries. `due` has the due times of pending deliveries,
 * `failedAt` the times of failed ones, `untried` the end times of runs with two deliveries and no attempt yet.
 */
export async function withDeliveries(
  folder: string,
  now: number,
  { due = [] as number[], failedAt = [] as number[], untried = [] as number[], secret = [1] },
): Promise<void> {
  await json<Made>(folder, 'init')
  const store = await openStoreOf(folder)
  const { id: workspaceId } = (await store.listWorkspaces(null))[0]!
  const { id: workflowId } = await store.createWorkflow({
    id: null,
    workspaceId,
    document: document({ name: 'Notifies', blocks: [] }),
    at: 1,
  })
  const hook = newSubscription('hook', { secret: Uint8Array.from(secret) })
  const { number: subscription } = await store.createSubscription(workflowId, hook, 1)
  const pending = { deliveries: [{ subscription, include: 0 }], skipped: [], facts: null }
  const runs = [
    ...failedAt.map((at) => ({ at, outcome: { state: 'failed', dueAt: null } as const })),
    ...due.map((dueAt) => ({ at: now, outcome: { state: 'pending', dueAt } as const })),
  ]
  for (const [index, { at, outcome }] of runs.entries()) {
    const sequence = sequenceAt(at) + index
    await store.append([logWrite(logRow({ workspaceId, workflowId }, sequence, { webhooks: pending }))])
    await store.endAttempts([endedAttempt({ sequence, subscription }, outcome)])
  }
  const twoPending = {
    ...pending,
    deliveries: [...pending.deliveries, { subscription: subscription + 1, include: 0 }],
  }
  for (const [index, endedAt] of untried.entries()) {
    const row = logRow({ workspaceId, workflowId }, sequenceAt(now) + runs.length + index, {
      endedAt,
      webhooks: twoPending,
    })
    await store.append([logWrite(row)])
  }
  await store.close()
}

/** The state and the message of each finding about webhooks. */
export async function reportedWebhooks(folder: string): Promise<string[][]> {
  const { found } = await diagnose(folder)
  return found.filter(({ check }) => check === 'webhooks').map(({ state, message }) => [state, message])
}
