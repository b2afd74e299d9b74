import { systemClock } from '../../src/domain/clock.ts'
import { LogSequence, logIdOf, newExecutionId } from '../../src/domain/ids.ts'
import { noCost } from '../../src/domain/run/cost.ts'
import type { RunRecord, Span } from '../../src/domain/run/log.ts'
import { LogWriter } from '../../src/events/writer.ts'
import { openSqliteStore } from '../../src/store/sqlite/sqlite-store.ts'

/**
 * A `Bun.serve` that records one run of three blocks a request, through the service's own writer and store, and does
 * nothing else. `bun bench/support/store-server.ts <directory> direct|threads full|normal`; prints its port. `GET /lag`
 * answers how late the event loop was since the last time, in milliseconds.
 */
const [directory = '', variant = 'threads', sync = 'full'] = process.argv.slice(2)

const store = await openSqliteStore({
  directory,
  sync: sync === 'normal' ? 'normal' : 'full',
  mode: variant === 'direct' ? 'direct' : 'workers',
})
const [userId, workspaceId, workflowId] = ['user', 'workspace', 'workflow']
const key = { id: 'key', hash: new Uint8Array(32), lastFour: 'aaaa', name: 'k', userId, workspaceId: null }
await store.createInstallation({
  ...{ userId, email: 'a@example.org', workspaceId, workspaceName: 'Main', signInTokenHash: null, at: 1 },
  key: { ...key, createdAt: 1, expiresAt: null },
})
await store.createWorkflow({ id: workflowId, workspaceId, document: { name: 'A', blocks: {}, edges: [] }, at: 1 })
const writer = new LogWriter({
  store,
  clock: systemClock,
  sequence: new LogSequence(Date.now, await store.lastSequence()),
  rowsWaitingMax: 10_000,
  onHealth: (_, reason) => console.error(reason),
})

function span(id: string, type: string, input: unknown, output: unknown, children: Span[] = []): Span {
  const at = Date.now()
  return {
    ...{ id, name: `Block ${id}`, type, blockId: id, status: 'success', startTime: at, endTime: at + 1 },
    ...{ durationMs: 0.25, input, output, error: null, attempts: null, children },
  }
}

function recordOf(input: unknown): RunRecord {
  const at = Date.now()
  const output = { data: { hello: input }, status: 200, headers: {} }
  const children = [
    span('start', 'api_trigger', input, { input }),
    span('if', 'condition', { conditions: [{ id: 'big' }] }, { branch: 'big', result: true }),
    span('answer', 'response', { data: { hello: input } }, output),
  ]
  return {
    ...{
      executionId: newExecutionId(),
      workflowId,
      workspaceId,
      version: 1,
      trigger: 'api',
      createdAt: null,
      secrets: undefined,
      startedAt: at,
    },
    ...{ endedAt: at + 1, durationMs: 0.75, failure: null, output, cost: noCost },
    root: span('run', 'workflow', input, output, children),
  }
}

const lags: number[] = []
const everyMs = 5
let expectedAt = performance.now() + everyMs
const measureLag = () => {
  const now = performance.now()
  lags.push(now - expectedAt)
  expectedAt = now + everyMs
  setTimeout(measureLag, everyMs)
}
setTimeout(measureLag, everyMs)

const server = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  routes: {
    '/execute': {
      POST: async (request) => {
        const record = recordOf(await request.json())
        const { sequence } = await writer.append(record)
        const { executionId, output } = record
        return Response.json({ success: true, executionId, logId: logIdOf(sequence), output })
      },
    },
    '/lag': () => {
      const sorted = lags.splice(0).sort((a, b) => a - b)
      return Response.json({ p99: sorted[Math.floor(sorted.length * 0.99)] ?? 0, max: sorted.at(-1) ?? 0 })
    },
  },
})
console.log(server.port)
