// Long because it makes rows of every kind.
import { newExecutionId, newId, sequenceAt } from '../../../src/domain/ids.ts'
import { hashOfItem } from '../../../src/domain/poll/item-hash.ts'
import { requestClaimMs } from '../../../src/domain/run/claim.ts'
import type { LogRow } from '../../../src/domain/run/log.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import type { Store } from '../../../src/store/store.ts'
import { block, document } from '../make.ts'
import { newSubscription } from './contract/subscription-contract.ts'
import { endedAttempt } from './ended-attempt.ts'
import { type Installed, install, logRow, newKey } from './installed.ts'

const at = Date.UTC(2026, 0, 15, 12)
const bytes = (...values: number[]) => Uint8Array.of(1, ...values, 0, 255)
/** Characters that a store or the format between two stores could treat in a special way. */
const strange = 'tab\t line\n return\r back\\slash \\N quote" \u{1f600} ä \u0001 ,{}'

/**
 * Fills an empty store with rows of every kind, among them values that stores keep in different ways. The log has
 * `entries` entries from several days, in two workspaces.
 */
export async function fillInstallation(store: Store, entries = 40): Promise<Installed> {
  const home = await install(store)
  const other = { ...home, workspaceId: newId(), workflowId: newId() }
  await store.createWorkspace({ id: other.workspaceId, name: strange, ownerId: home.userId, at })
  await store.createWorkflow({ id: other.workflowId, workspaceId: other.workspaceId, document: named('Other'), at })
  await fillAccounts(store, home)
  await fillWorkflows(store, home)
  const subscriptions = await subscribe(store, home)
  await fillLog(store, home, { other, entries, subscriptions })
  await fillJobs(store, home, subscriptions[0] ?? 0)
  await fillAlerts(store, home)
  return home
}

async function fillAccounts(store: Store, { userId, workspaceId }: Installed): Promise<void> {
  const member = newId()
  const account = { userId: member, email: 'Member@Example.org', plan: 'pro', workspaceName: 'Own', at } as const
  await store.createUser({ ...account, workspaceId: newId(), key: newKey({ userId: member }) })
  await store.setPassword(member, '$hash')
  await store.setTier(member, { plan: 'team', numbers: { syncPerMinute: 7, usdPerMonth: 0.1 } })
  await store.setMember(workspaceId, member, 'editor')
  await store.createSession({ hash: bytes(1), userId: member, createdAt: at, expiresAt: at + 5, passwordHash: '$hash' })
  const key = newKey({ userId, workspaceId, expiresAt: at })
  await store.createKey(key)
  await store.revokeKey(key.id, at)
  await store.recordKeyUses([{ keyId: key.id, at }])
  await store.setVariable({ workspaceId, name: 'TOKEN', sealed: bytes(2), plain: false, at })
  await store.setVariable({ workspaceId, name: 'PLAIN', sealed: bytes(3), plain: true, at })
  const connector = { id: 'shop', document: '{"name":"Shop"}', updatedAt: at, updatedBy: userId }
  await store.putConnector({ workspaceId, ...connector })
  const written = { kind: 'bearer', hosts: ['api.example.com', '*.example.org'], fields: { prefix: 'Token' }, at }
  const credential = { id: newId(), workspaceId, name: 'crm', ...written, sealed: bytes(6), by: userId }
  await store.createCredential(credential)
  const token = { token: bytes(7), state: 'needs_sign_in', problem: 'The token was revoked.', expiresAt: at } as const
  await store.saveCredentialToken(credential.id, 'a process', 0, token)
  await store.noteCredentialUses([{ id: credential.id, at }])
  const client = { id: 'desk', name: 'Desk', redirectUris: ['https://desk.example/'], createdAt: at }
  await store.createOAuthClient(client)
  await store.createOAuthGrant({
    ...{ id: newId(), family: bytes(20), current: bytes(21), clientId: 'desk', userId, workspaceId, createdAt: at },
    ...{
      redirectUri: 'https://desk.example/',
      challenge: 'c',
      resource: 'https://m.example/mcp',
      expiresAt: at + 1e12,
    },
  })
  await store.exchangeOAuthToken({
    ...{ family: bytes(20), presented: bytes(21), clientId: 'desk', resource: undefined, at, repeatableAfter: at },
    code: { redirectUri: 'https://desk.example/', challenge: 'c' },
    next: { current: bytes(22), access: bytes(23), accessExpiresAt: at + 5, expiresAt: at + 1e12 },
  })
  await store.saveRateWindows([{ kind: 'sync', userId, used: 3, added: 3, resetAt: at + 1e12 }], at)
}

const named = (name: string, more = {}) =>
  document({ name, blocks: [block('b', 'function', { code: strange })], ...more })

async function fillWorkflows(store: Store, { userId, workspaceId, workflowId }: Installed): Promise<void> {
  const rule = { cron: '0 9 * * *', intervalMs: null, timezone: 'UTC', startAt: null, endAt: null } as const
  const policy = { overlap: 'queue', missed: 'once', missedMax: 1, jitterMs: 0 } as const
  const poll = { dueAt: at, firstAt: at } as const
  const registrations = {
    addresses: [
      { kind: 'webhook', name: 'orders' },
      { kind: 'chat', name: 'help' },
      { kind: 'form', name: 'order' },
    ],
    schedule: { rule: { ...rule, ...policy }, dueAt: at },
    polls: [
      { ...poll, blockId: strange, kind: 'poll', identity: 'one', rule: { ...rule, ...policy } },
      { ...poll, blockId: 'mail', kind: 'email', identity: 'two', rule: null },
    ],
  } as const
  await store.deploy(workflowId, named('Main'), at, userId)
  await store.deploy(workflowId, named('Main'), at + 1, userId, registrations, { name: 'Two', description: strange })
  const from = { dueAt: at, waitingAt: null }
  const step = { workflowId, version: 2, from, to: { dueAt: at + 9, waitingAt: at } }
  await store.append([{ kind: 'schedule', step }])
  const [polled] = await store.listPolls(workflowId)
  const outcome = { polledAt: at, succeededAt: at, failures: 2, error: strange, state: strange }
  const found = {
    ...outcome,
    number: polled!.number,
    revision: 0,
    dueAt: at + 9,
    seen: [hashOfItem('a'), hashOfItem('b')],
  }
  await store.append([{ kind: 'poll', poll: found, jobs: [] }])
  await store.updateWorkflow(workflowId, { ...named('Main'), folder: 'a/b', description: strange }, at + 2)
  await store.keepDraft(workflowId, named('Draft'))
  await store.setPin(workflowId, { blockId: 'b', content: bytes(4), bytes: 12, at })
  await store.setTests(workflowId, { content: JSON.stringify([{ name: strange }]), at, by: userId })
  const gone = await store.createWorkflow({ id: null, workspaceId, document: named('Gone'), by: userId, at })
  await store.deploy(gone.id, named('Gone'), at, userId)
  await store.deleteWorkflow(gone.id, at + 3)
  const turn = { kind: 'chat', workflowId, at, kept: 3 } as const
  for (const n of [1, 2, 3, 4, 5]) {
    await store.append([{ ...turn, conversationId: 'one', content: bytes(5, n) }])
    await store.append([{ ...turn, conversationId: strange, content: bytes(6, n) }])
  }
}

async function subscribe(store: Store, { workflowId }: Installed): Promise<number[]> {
  const made = []
  for (const id of ['a', 'b', 'c']) {
    const secret = id === 'c' ? {} : { secret: bytes(7) }
    made.push(
      await store.createSubscription(workflowId, newSubscription(id, { ...secret, levelFilter: ['error'] }), at),
    )
  }
  await store.changeSubscription(workflowId, 'a', { secret: bytes(8), keepSecretUntil: at + 1 }, at)
  await store.deleteSubscription(workflowId, 'c', at)
  return made.map(({ number }) => number)
}

type LogContents = { other: Installed; entries: number; subscriptions: readonly number[] }

async function fillLog(store: Store, home: Installed, { other, entries, subscriptions }: LogContents): Promise<void> {
  await forgetOne(store, home)
  const stepMs = Math.max(1, Math.floor((3 * 86_400_000) / entries))
  const rows = Array.from({ length: entries }, (_, index) => {
    const endedAt = at + index * stepMs
    const place = index % 5 === 4 ? other : home
    return logRow(place, sequenceAt(endedAt), { endedAt, startedAt: endedAt - 12, ...entryOf(index, subscriptions) })
  })
  for (let from = 0; from < entries; from += 1_000) {
    await store.append(
      rows.slice(from, from + 1_000).map((row, index) => {
        const isJob = row.createdAt !== null
        return from + index === 1
          ? logWrite(row, null, { claim: { kind: 'request', key: 'k', at: Date.now() - requestClaimMs / 2 } })
          : logWrite(row, isJob ? bytes(9) : null)
      }),
    )
  }
  const withWebhooks = rows.filter(({ webhooks }) => webhooks !== undefined).map(({ sequence }) => sequence)
  const [one = 0, two = 0] = subscriptions
  const [first = 0, second = 0] = withWebhooks
  await store.endAttempts([
    endedAttempt(
      { sequence: first, subscription: one },
      { state: 'pending', dueAt: at + 60_000 },
      { answer: `${strange}\0` },
    ),
    endedAttempt({ sequence: first, subscription: two }, { state: 'failed', dueAt: null }),
    endedAttempt({ sequence: second, subscription: one }, { state: 'delivered', dueAt: null }),
  ])
  await store.cancelDelivery({ sequence: second, subscription: two })
  // Others have two recipients and no attempt yet.
}

/** An entry that retention has deleted, whose stored files are still to be deleted. */
async function forgetOne(store: Store, home: Installed): Promise<void> {
  const sequence = sequenceAt(at - 1_000)
  await store.append([logWrite(logRow(home, sequence, { files: { folder: 'w/f/gone', text: '[]' } }))])
  const bounds = { before: sequence + 1, bytesMax: Number.MAX_SAFE_INTEGER, workMs: 0 }
  while (!(await store.retain(bounds)).done);
}

/** The values in which the entries of the log differ. */
function entryOf(index: number, subscriptions: readonly number[]): Partial<LogRow> {
  const failure = { code: 'EXECUTION_FAILED', message: strange, blockId: 'b', blockName: strange } as const
  const models = index % 2 ? ['b', 'a'] : ['c']
  const usage = { total: index / 6, input: 0, output: 0, tokens: { prompt: 5, completion: index, total: 5 + index } }
  const cost = {
    ...{ costTotal: 0.1 + index / 3, models },
    cost: JSON.stringify({ total: index, models: Object.fromEntries(models.map((model) => [model, usage])) }),
  }
  const [one, two, three] = subscriptions.map((subscription) => ({ subscription, include: 3 }))
  const file = {
    folder: `w/f/${index}`,
    text: `[{"key":"w/f/${index}/x","file":{"name":${JSON.stringify(strange)},"size":5}}]`,
  }
  return {
    finalOutput: JSON.stringify({ index, text: strange, zero: '\0' }),
    traceSpans: JSON.stringify([{ id: 's1', output: strange.repeat(index % 50 === 7 ? 500 : 1 + (index % 7)) }]),
    durationMs: index / 7,
    ...(index % 4 === 3 && { pausedMs: index }),
    ...(index % 4 === 1 && { level: 'error', failure }),
    ...(index % 4 === 2 && { level: 'error', cancelled: true, trigger: 'schedule' }),
    ...(index % 3 === 0 && {
      labels: { customer: strange, half: '\ud800', null: 'a\0b' },
      partial: true,
      source: 'rerun',
    }),
    ...(index % 3 === 1 && cost),
    ...(index % 10 === 3 && { createdAt: at }),
    ...(index % 10 === 0 && { files: index % 20 === 0 ? file : { ...file, folder: null } }),
    ...(index % 10 === 5 && {
      webhooks: { deliveries: [one!, two!], skipped: [{ ...three!, reason: 'inactive' }], facts: '{"usage":1}' },
    }),
    ...(index % 10 === 6 && { webhooks: { deliveries: [one!], skipped: [], facts: null } }),
  }
}

/** One that is queued, one that was interrupted, one that waits for memory, and one that is paused. */
export const jobIds = [
  '01a21556-8f20-7a39-94f6-8f44cc71aa25',
  '01a21556-8f21-7a39-94f6-8f44cc71aa25',
  'not-a-uuid',
  'paused-job',
] as const

async function fillJobs(store: Store, { workflowId, workspaceId }: Installed, subscription: number): Promise<void> {
  const job = { workflowId, workspaceId, version: 2, trigger: 'api', createdAt: at, input: bytes(10) } as const
  const [queued, running, waiting, paused] = jobIds
  await store.append([
    { kind: 'job', row: { ...job, executionId: queued, startedAt: null } },
    { kind: 'job', row: { ...job, executionId: running, startedAt: at } },
    { kind: 'job', row: { ...job, executionId: waiting, startedAt: at } },
    { kind: 'job-step', executionId: running, number: 1, content: bytes(11) },
    { kind: 'job-step', executionId: running, number: 2, content: bytes(12) },
  ])
  await store.append([{ kind: 'job-wait', executionId: waiting, at: at + 1 }])
  const pause = { place: `${paused}/b/`, blockId: 'b', blockName: strange, since: at, until: at + 7 }
  await store.append([
    { kind: 'job', row: { ...job, trigger: 'form', executionId: paused, startedAt: at } },
    {
      ...{ kind: 'job-pause', executionId: paused, at: at + 1 },
      pauses: [
        { ...pause, contextId: 'first', kind: 'wait', content: null },
        { ...pause, contextId: 'second', kind: 'approval', content: bytes(13), until: null },
      ],
      event: {
        ...{ sequence: sequenceAt(at - 500), kind: 'paused', at, paused: JSON.stringify([{ blockName: strange }]) },
        ...{ contextIds: [], deliveries: [{ subscription, include: 0 }] },
      },
    },
  ])
  await store.endPause({ contextId: 'second', state: 'answered', at: at + 2, answer: bytes(14) })
  const entry = { workspaceId, now: at, change: { type: 'increment', by: 0.5, expiresAt: at + 9 } } as const
  const once = { executionId: running, operation: '0123456789abcdef' }
  await store.changeEntries(
    [
      { ...entry, workflowId, key: 'ü\u{1f600}', once },
      { ...entry, workflowId: null, key: 'a/b', once: { executionId: waiting, operation: 'x' } },
      {
        ...entry,
        workflowId: null,
        key: 'c',
        change: { type: 'set', value: JSON.stringify(strange), expiresAt: null },
      },
    ],
    1_000_000,
  )
  // As at the start of a service.
  await store.parkJobs(true)
  const ended = newExecutionId()
  await store.append([{ kind: 'job', row: { ...job, executionId: ended, startedAt: at } }])
  const row = logRow({ workflowId, workspaceId }, (await store.lastSequence()) + 1, {
    executionId: ended,
    createdAt: at,
  })
  await store.append([logWrite(row)])
}

/** An alert that has fired, one with a rule, an event, and a run that waits for its start. */
async function fillAlerts(store: Store, { userId, workspaceId, workflowId }: Installed): Promise<void> {
  const channel = { type: 'webhook', url: 'https://example.com/', secret: bytes(15) } as const
  const common = { workspaceId, name: strange, at, by: userId, quietMs: 60_000, active: true }
  const watch = { events: ['run.failed', 'limit.reached'], workflows: [workflowId], rule: null } as const
  const { number } = await store.createAlert({ ...common, ...watch, id: newId(), channel })
  const rule = { type: 'no_activity', windowMs: 60_000 } as const
  const email = { type: 'email', to: ['ada@example.com'] } as const
  await store.createAlert({ ...common, id: newId(), events: [], workflows: 'all', rule, channel: email })
  const batch = (await store.readAlertBatch(workspaceId, at, 0))!
  const sequence = (await store.lastSequence()) + 1
  const facts = { type: 'run.failed', workflowId, workflowName: 'Main', executionId: 'x', error: strange } as const
  const measured = { rule: null, measured: null, suppressed: 0, at: new Date(at).toISOString() }
  const content = { alert: { id: 'a', name: strange }, ...facts, ...measured }
  const start = { workflowId, executionId: newExecutionId(), chain: [`run.failed@${workflowId}`] }
  const firing = { watcher: number, at, content }
  await store.append([
    {
      kind: 'alerts',
      evaluation: {
        ...{ workspaceId, revision: batch.revision, position: batch.position, events: [], endedChains: [] },
        states: batch.states.map(({ workflowName: _, ...state }) => state),
        watchers: [{ number, quietUntil: at + 5, suppressed: 3 }],
        firings: [
          { ...firing, sequence },
          { ...firing, sequence: sequence + 1, start },
        ],
      },
    },
  ])
  await store.noteEvent({ workspaceId, workflowId, executionId: 'e', type: 'limit.reached', at, detail: strange })
}
