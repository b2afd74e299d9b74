import type { Store } from '../../../src/store/store.ts'
import { jobIds } from './full-installation.ts'
import { entriesOf, logQuery } from './log-model.ts'

/**
 * Everything that callers of a store can read about an installation, of lists the first hundred items, for comparisons
 * of two stores.
 */
export async function dumpStore(store: Store): Promise<unknown> {
  const users = await store.listUsers()
  const workspaces = await store.listWorkspaces(null)
  return {
    users,
    passwords: await Promise.all(users.map(({ id }) => store.findPassword(id))),
    keys: await store.listKeys(),
    owner: await store.findOwner(),
    session: await store.findSession(Uint8Array.of(1, 1, 0, 255)),
    isUnseen: await store.isUnseen(),
    windows: await store.listRateWindows(0),
    usage: await Promise.all(users.map(({ id }) => store.listModelUsage(id, 0))),
    sums: await Promise.all(users.map(({ id }) => store.getUsage(id, Date.UTC(2026, 0, 1)))),
    gone: await store.listGoneFiles(100),
    lastSequence: await store.lastSequence(),
    jobs: await Promise.all(jobIds.map(async (id) => [await store.getJob(id), await store.getJobSteps(id)])),
    pauses: await Promise.all(jobIds.map((id) => store.listRunPauses(id))),
    claim: await store.findRequestClaim((await oldestWorkflow(store))!, 'k', Date.now()),
    due: await store.listDueSchedules(10),
    waiting: await store.listWaitingSchedules(),
    starts: await store.listEventStarts(10),
    addresses: [
      await store.findAddress({ kind: 'webhook', name: 'orders' }),
      await store.findAddress({ kind: 'chat', name: 'help' }),
    ],
    pending: (await store.measure()).deliveries,
    subscriptions: await store.pendingSubscriptions(),
    workspaces: await Promise.all(workspaces.map((workspace) => dumpWorkspace(store, workspace.id))),
  }
}

async function oldestWorkflow(store: Store): Promise<string | undefined> {
  const [first] = await store.listWorkspaces(null)
  return (await store.listWorkflows(first!.id))[0]?.id
}

async function dumpWorkspace(store: Store, workspaceId: string): Promise<unknown> {
  const workflows = await store.listWorkflows(workspaceId)
  // The outputs and spans are read one by one, because the stores limit the size of a page in different ways.
  const show = { details: true, finalOutput: false, traceSpans: false, failure: true }
  const page = await store.queryLogs(logQuery(workspaceId, { order: 'desc', limit: 100, show }))
  const entries = entriesOf(page) as unknown as { executionId: string }[]
  return {
    workspace: await store.getWorkspace(workspaceId),
    members: await store.listMembers(workspaceId),
    alerts: await store.listAlerts(workspaceId),
    events: (await store.readAlertBatch(workspaceId, Date.now(), 100))?.events,
    environment: await store.listEnvironment(workspaceId),
    deleted: await store.listDeletedWorkflows(workspaceId, 10),
    overviews: await store.listWorkflowOverviews(workspaceId, Date.UTC(2026, 0, 18, 11), 24),
    files: await store.getFileUsage(workspaceId),
    page: { entries, count: page.count, files: page.files },
    details: await Promise.all(entries.map(({ executionId }) => dumpRun(store, executionId))),
    workflows: await Promise.all(workflows.map(({ id }) => dumpWorkflow(store, id))),
  }
}

async function dumpRun(store: Store, executionId: string): Promise<unknown> {
  const entry = await store.getExecution(executionId)
  return {
    entry,
    output: await store.getJobOutput(executionId),
    webhooks: await store.listRunWebhooks(entry!.sequence),
  }
}

async function dumpWorkflow(store: Store, workflowId: string): Promise<unknown> {
  const query = { workflowId, state: undefined, after: undefined, limit: 100 }
  const { deliveries } = await store.listDeliveries(query)
  const conversations = ['one', 'tab\t line\n return\r back\\slash \\N quote" \u{1f600} ä \u0001 ,{}']
  return {
    workflow: await store.getWorkflow(workflowId),
    deployments: await store.listDeployments(workflowId),
    active: await store.getActive(workflowId),
    draft: await store.getDocument(workflowId, -1),
    schedule: await store.getSchedule(workflowId),
    polls: await store.listPolls(workflowId),
    pins: await store.listPins(workflowId),
    tests: await store.getTests(workflowId),
    subscriptions: await store.listSubscriptions(workflowId),
    deliveries,
    attempts: await Promise.all(deliveries.map((delivery) => store.listAttempts(delivery))),
    turns: await Promise.all(conversations.map((each) => store.listTurns(workflowId, each, 10))),
  }
}
