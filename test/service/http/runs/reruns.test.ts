import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import type { Parsed } from '../world.ts'
import { ManualWorld } from './manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(() => world.close())

/** Returns its own name and what it received. The trigger labels the run with the order. */
const named = (name: string): WorkflowDocument =>
  document({
    variables: { said: { value: '' } },
    blocks: [
      block('start', 'api_trigger', { labels: { order: '<api.input.order>' } }),
      block('say', 'variables', { assign: [{ name: 'said', value: `${name} got <api.input.order>` }] }),
    ],
    edges: ['start > say'],
  })

const call = (path: string, options?: Parsed) => world.executions.call(path, options)
const workspace = () => `/api/workspaces/${world.executions.workspaceId}/logs/rerun`

/** A workflow whose live version, draft and version of its runs differ; the orders have run. */
async function threeVersions(orders: readonly string[]) {
  const id = await world.executions.deploy(named('first'))
  const executions: string[] = []
  for (const order of orders) {
    const { json } = await call(`/api/workflows/${id}/execute`, { body: { order } })
    executions.push(json.executionId)
  }
  await save(id, named('second'))
  await call(`/api/workflows/${id}/deploy`, { method: 'POST' })
  await save(id, named('third'))
  return { id, executions }
}

async function save(id: string, body: WorkflowDocument): Promise<void> {
  const { name } = (await call(`/api/workflows/${id}`)).json
  expect((await call(`/api/workflows/${id}`, { method: 'PUT', body: { ...body, name } })).status).toBe(200)
}

async function rerun(body: Parsed): Promise<Parsed> {
  const { status, json } = await call(workspace(), { body })
  expect([status, json.error]).toEqual([202, null])
  await until(async () => (await call(json.statusUrl)).json.endedAt !== null)
  return (await call(json.statusUrl)).json
}

/** Waits for a fact that a request finds. */
async function until(fact: () => Promise<boolean>): Promise<void> {
  while (!(await fact())) await Bun.sleep(10)
}

const entriesOf = async (id: string, more = '') =>
  (await call(`/api/v1/logs?workspaceId=${world.executions.workspaceId}&workflowIds=${id}&order=asc${more}`)).json.data

describe('a run again', () => {
  test('uses the version that ran, the live one or the draft', async () => {
    const { id, executions } = await threeVersions(['A7'])
    const again = { executionId: executions[0] }
    const outputs: Parsed[] = []
    const versions: Parsed[] = []
    for (const version of ['ran', 'live', 'draft', undefined, 1]) {
      const { ended, executionId } = await world.again(id, { again, version })
      outputs.push((ended.output as Parsed).said)
      const entry = await world.entryOf(executionId)
      versions.push([entry.version, entry.source, entry.partial, entry.labels])
    }
    expect(outputs).toEqual(['first', 'second', 'third', 'third', 'first'].map((name) => `${name} got A7`))
    const notes = ['rerun', false, { order: 'A7' }]
    expect(versions).toEqual([1, 2, null, null, 1].map((version) => [version, ...notes]))
    const given = await world.again(id, { again, version: 'ran', input: { order: 'B8' } })
    expect(given.ended.output).toEqual({ said: 'first got B8' })
  })

  test('of a draft uses the draft that ran, although it has changed', async () => {
    const id = await world.executions.deploy(named('one'), false)
    const first = await world.again(id, { input: { order: 'x' } })
    await save(id, named('two'))
    const again = { executionId: first.executionId }
    expect((await world.again(id, { again, version: 'ran' })).ended.output).toEqual({ said: 'one got x' })
    const { status, json } = await world.post(id, { again, version: 'live' })
    expect([status, json.code]).toEqual([403, 'WORKFLOW_NOT_DEPLOYED'])
  })

  test('from a block uses the version that ran, and its entry says that it is a part', async () => {
    const { id, executions } = await threeVersions(['A7'])
    const from = { executionId: executions[0], blockId: 'say' }
    const { ended, executionId } = await world.again(id, { from, version: 'ran' })
    expect(ended.output).toEqual({ said: 'first got A7' })
    expect(await world.entryOf(executionId)).toMatchObject({ version: 1, partial: true, source: null })
  })

  test('needs an earlier run for the version that ran', async () => {
    const id = await world.executions.deploy(named('one'))
    const { status, json } = await world.post(id, { version: 'ran' })
    expect([status, json.details[0].path]).toEqual([400, 'version'])
  })
})

describe('a re-run', () => {
  test('runs every entry of its filter again once, oldest first, and not the new entries', async () => {
    const { id } = await threeVersions(['a', 'b', 'c', 'd'])
    const job = await rerun({ filter: { workflowIds: [id], status: 'success' }, version: 'live', perSecond: 100 })
    expect(job).toMatchObject({ state: 'done', total: 4, started: 4, refused: 0, version: 'live', perSecond: 100 })
    await until(async () => (await entriesOf(id)).length === 8)
    const fresh = (await entriesOf(id)).filter(({ source }: Parsed) => source === 'rerun')
    expect(fresh.map(({ version, trigger }: Parsed) => [version, trigger])).toEqual(Array(4).fill([2, 'manual']))
    expect(fresh.map(({ labels }: Parsed) => labels.order)).toEqual(['a', 'b', 'c', 'd'])
  })

  test('takes only the entries with a label', async () => {
    const { id } = await threeVersions(['keep', 'other'])
    expect(await rerun({ filter: { workflowIds: id, labels: ['order:keep'] } })).toMatchObject({ total: 1, started: 1 })
    await until(async () => (await entriesOf(id, '&labels=order:keep')).length === 2)
  })

  test('can be stopped, and another one can start then', async () => {
    const { id } = await threeVersions(['a', 'b', 'c'])
    const filter = { workflowIds: [id] }
    const { json } = await call(workspace(), { body: { filter, perSecond: 0.01 } })
    await until(async () => (await call(json.statusUrl)).json.started === 1)
    const busy = await call(workspace(), { body: { filter } })
    expect([busy.status, busy.json.code]).toEqual([409, 'CONFLICT'])
    const stopped = await call(json.statusUrl, { method: 'DELETE' })
    expect(stopped.json).toMatchObject({ state: 'cancelled', total: 3, started: 1 })
    expect((await rerun({ filter: { ...filter, search: 'no such text' } })).total).toBe(0)
  })

  test('reports the entries that cannot run again', async () => {
    const { id, executions } = await threeVersions(['a'])
    await save(id, document({ blocks: [block('other', 'chat_trigger')] }))
    const job = await rerun({ filter: { executionId: executions[0] }, version: 'draft' })
    expect(job).toMatchObject({ state: 'done', started: 0, refused: 1 })
    expect(job.problems[0].message).toContain('no trigger like "start"')
  })

  test('ends when its account is removed from the workspace, or its key is revoked', async () => {
    const { id } = await threeVersions(['a', 'b', 'c'])
    const filter = { workflowIds: [id] }
    const { executions } = world
    // A revoked key is known everywhere after 5 seconds.
    const losses = [
      [(userId: string) => executions.removeMember(userId), 'may no longer run workflows', 1],
      [(userId: string) => executions.revokeKeysOf(userId), 'was revoked', 0.2],
    ] as const
    for (const [lose, reason, perSecond] of losses) {
      const { userId, key } = await executions.addMember('editor')
      const { json } = await call(workspace(), { body: { filter, perSecond }, key })
      await until(async () => (await call(json.statusUrl)).json.started === 1)
      await lose(userId)
      await until(async () => (await call(json.statusUrl)).json.endedAt !== null)
      const job = (await call(json.statusUrl)).json
      expect(job).toMatchObject({ state: 'failed', error: expect.stringContaining(reason) })
      expect(job.started).toBeLessThan(job.total)
      expect(job.refused).toBe(0)
    }
  })

  test('is refused for unknown filters', async () => {
    const { status, json } = await call(workspace(), { body: { filter: { levels: 'error' } } })
    expect([status, json.details[0].path]).toEqual([400, 'filter.levels'])
  })
})
