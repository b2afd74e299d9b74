import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
let peer: ReturnType<typeof Bun.serve>
/** The requests of the block `call` wait until this promise resolves. */
let gate: PromiseWithResolvers<void>
beforeAll(async () => {
  gate = Promise.withResolvers()
  peer = Bun.serve({
    ...{ port: 0, hostname: '127.0.0.1', idleTimeout: 60 },
    async fetch() {
      await gate.promise
      return Response.json({ secret: 'of the peer' })
    },
  })
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback', 'pause-in-memory-ms': '50' })
})
afterAll(async () => {
  gate.resolve()
  await world.close()
  await peer.stop(true)
})

const runOf = async (executionId: string) =>
  (await world.call(`/api/workspaces/${world.workspaceId}/runs/${executionId}`)).json

async function until(executionId: string, isMet: (run: Awaited<ReturnType<typeof runOf>>) => boolean) {
  for (;;) {
    const run = await runOf(executionId)
    if (isMet(run)) return run
    await Bun.sleep(10)
  }
}

const asking = () =>
  world.deploy(
    document({
      blocks: [
        start(),
        block('before', 'function', { code: 'return "a value"' }),
        block('ask', 'approval', { title: 'Pay the invoice?' }),
        block('after', 'function', { code: 'return 1' }),
      ],
      edges: ['start > before', 'before > ask', 'ask > after'],
    }),
  )

test('a paused run shows what it waits for and the blocks that have run, without their values', async () => {
  const id = await asking()
  const { json } = await world.execute(id, {})
  const run = await runOf(json.executionId)
  expect(run).toMatchObject({
    ...{ executionId: json.executionId, workflowId: id, status: 'paused', trigger: 'api', endedAt: null, logId: null },
    paused: [{ blockId: 'ask', kind: 'approval', title: 'Pay the invoice?' }],
    blocksComplete: true,
  })
  expect(run.workflowName).toStartWith('Test workflow')
  const before = run.blocks.find(({ blockId }: { blockId: string }) => blockId === 'before')
  expect(before).toEqual({
    ...{ blockId: 'before', blockName: 'before', blockType: 'function', status: 'success' },
    ...{ startedAt: expect.any(String), durationMs: expect.any(Number) },
  })
  expect(JSON.stringify(run)).not.toContain('a value')
})

test('a run that ends leads to its log entry', async () => {
  const id = await asking()
  const { json } = await world.execute(id, {})
  const { contextId } = json.paused[0]
  await world.call(`/api/workspaces/${world.workspaceId}/pauses/${contextId}/resume`, { method: 'POST' })
  const run = await until(json.executionId, ({ status }) => status === 'completed')
  expect(run).toMatchObject({ paused: [], blocks: [], endedAt: expect.any(String) })
  const entry = await world.call(`/api/v1/logs/${run.logId}`)
  expect(entry.json.data.executionId).toBe(json.executionId)
  const other = await world.execute(id, {})
  await world.call(`/api/workflows/${id}/executions/${other.json.executionId}/cancel`, { method: 'POST' })
  expect((await runOf(other.json.executionId)).status).toBe('cancelled')
}, 30_000)

test('a run in flight shows the block that is running, whether its caller waits or not', async () => {
  const made = document({
    blocks: [start(), block('call', 'api', { url: `http://127.0.0.1:${peer.port}/` })],
    edges: ['start > call'],
  })
  const id = await world.deploy(made)
  const accepted = await world.execute(id, {}, { headers: { 'x-execution-mode': 'async' } })
  const waiting = world.execute(id, {})
  const executionId = accepted.json.executionId as string
  const isCalling = ({ blocks }: { blocks?: { blockId: string; status: string }[] }) =>
    blocks?.some(({ blockId, status }) => blockId === 'call' && status === 'running') === true
  const run = await until(executionId, isCalling)
  expect(run).toMatchObject({ status: 'processing', logId: null })
  expect(run.blocks.find(isCall)).toMatchObject({ durationMs: null })
  const runs = `/api/workspaces/${world.workspaceId}/runs?status=processing&workflowId=${id}`
  let synchronous: string | undefined
  while (synchronous === undefined) {
    const { json } = await world.call(runs)
    synchronous = json.data
      .map((each: { executionId: string }) => each.executionId)
      .find((each: string) => each !== executionId)
  }
  await until(synchronous, isCalling)
  gate.resolve()
  const { json } = await waiting
  expect(json.executionId).toBe(synchronous)
  await until(executionId, ({ status }) => status === 'completed')
  expect((await runOf(synchronous)).logId).toStartWith('log_')
}, 30_000)

const isCall = ({ blockId }: { blockId: string }) => blockId === 'call'

test('a run with large values and many blocks shows the latest blocks, and says that there are more', async () => {
  const id = await world.deploy(
    document({
      blocks: [
        start(),
        block('large', 'function', { code: 'return "x".repeat(1_100_000)' }),
        block('each', 'loop'),
        block('small', 'function', { code: 'return <loop.index>' }, { parentId: 'each' }),
        block('ask', 'approval', { title: 'Go on?' }),
      ],
      edges: ['start > large', 'large > each', 'each:loop-start-source > small', 'each > ask'],
      loops: { each: { loopType: 'for', iterations: 250 } },
    }),
  )
  const { json } = await world.execute(id, {})
  const run = await until(json.executionId, ({ status }) => status === 'paused')
  expect(run.blocksComplete).toBe(false)
  const names = run.blocks.map(({ blockId }: { blockId: string }) => blockId)
  expect(names).not.toContain('large')
  expect(names).toContain('small')
  expect(names.length).toBeLessThanOrEqual(200)
}, 30_000)

test('a run of another workspace and an unknown run are not found', async () => {
  const id = await asking()
  const { json } = await world.execute(id, {})
  expect((await world.call(`/api/workspaces/${world.workspaceId}/runs/unknown`)).status).toBe(404)
  const elsewhere = await world.call(`/api/workspaces/${await world.addWorkspace()}/runs/${json.executionId}`)
  expect(elsewhere.status).toBe(404)
})
