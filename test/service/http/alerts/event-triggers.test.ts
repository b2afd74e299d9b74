import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld, start } from '../execution-world.ts'

let world: ExecutionWorld
beforeAll(async () => {
  world = await ExecutionWorld.open()
})
afterAll(() => world.close())

const failing = document({
  blocks: [start(), block('f', 'function', { code: 'throw new Error("no route")' })],
  edges: ['start > f'],
})
const onEvent = (params: object, code = 'return [<event.type>, <event.workflowId>, <event.error>]') =>
  document({
    blocks: [block('start', 'event_trigger', { quietMs: 0, ...params }), block('f', 'function', { code })],
    edges: ['start > f'],
  })
const entriesOf = async (id: string) =>
  (
    await world.call(
      `/api/v1/logs?workspaceId=${world.workspaceId}&workflowIds=${id}&details=full&includeFinalOutput=true`,
    )
  ).json.data as { executionId: string; level: string; trigger: string; source: string; finalOutput: unknown }[]
const entries = async (id: string, count: number) => {
  for (;;) {
    const found = await entriesOf(id)
    if (found.length >= count) return found
    await Bun.sleep(50)
  }
}
/** Waits until everything that has happened so far was evaluated: a later event has started its run. */
const evaluated = async () => {
  const probe = await world.deploy(failing)
  const last = await world.deploy(onEvent({ events: ['run.failed'], workflows: [probe] }))
  await world.execute(probe, {})
  await entries(last, 1)
}

describe('an event trigger', () => {
  test('starts its workflow with the facts of a failed run', async () => {
    const failed = await world.deploy(failing)
    const id = await world.deploy(onEvent({ events: ['run.failed'], workflows: [failed] }))
    const { json } = await world.execute(failed, {})
    const [entry] = await entries(id, 1)
    expect(entry).toMatchObject({ level: 'info', trigger: 'webhook', source: 'event' })
    expect(JSON.stringify(entry?.finalOutput)).toContain(failed)
    expect(JSON.stringify(entry?.finalOutput)).toContain('no route')
    expect(JSON.stringify(entry?.finalOutput)).not.toContain(json.executionId)
  })

  test('starts a run for each event without a quiet time, and one with it', async () => {
    const failed = await world.deploy(failing)
    const each = await world.deploy(onEvent({ events: ['run.failed'], workflows: [failed] }))
    const once = await world.deploy(onEvent({ events: ['run.failed'], workflows: [failed], quietMs: 3_600_000 }))
    for (let count = 0; count < 3; count += 1) await world.execute(failed, {})
    await entries(each, 3)
    await evaluated()
    expect([(await entriesOf(each)).length, (await entriesOf(once)).length]).toEqual([3, 1])
  })

  test('starts its workflow by a rule', async () => {
    const failed = await world.deploy(failing)
    const rule = { type: 'consecutive_failures', count: 2 }
    const id = await world.deploy(onEvent({ workflows: [failed], rule }, 'return <event.measured>'))
    await world.execute(failed, {})
    await evaluated()
    expect(await entriesOf(id)).toEqual([])
    await world.execute(failed, {})
    expect(await entries(id, 1)).toHaveLength(1)
  })

  test('does not start its workflow for a failure of a run that a failure has started', async () => {
    const failed = await world.deploy(failing)
    const self = onEvent({ events: ['run.failed'], workflows: [failed] }, 'throw new Error("as well")')
    const id = await world.deploy(self)
    const draft = (await world.call(`/api/workflows/${id}`)).json
    draft.blocks.start.params.workflows = [failed, id]
    expect((await world.call(`/api/workflows/${id}`, { method: 'PUT', body: draft })).status).toBe(200)
    expect((await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })).status).toBe(200)
    await world.execute(failed, {})
    await entries(id, 1)
    await evaluated()
    expect(await entriesOf(id)).toHaveLength(1)
  })

  test('ends a circle of workflows that start each other', async () => {
    // A fails and starts B, B succeeds and starts A, whose failure would start B again.
    const a = await world.deploy(
      onEvent({ events: ['run.succeeded'], workflows: ['placeholder'] }, 'throw new Error("x")'),
      false,
    )
    const b = await world.deploy(onEvent({ events: ['run.failed'], workflows: [a] }))
    const draft = (await world.call(`/api/workflows/${a}`)).json
    draft.blocks.start.params.workflows = [b]
    draft.blocks.api = { id: 'api', type: 'api_trigger', name: 'Api', params: {} }
    draft.edges.push({ source: 'api', target: 'f' })
    await world.call(`/api/workflows/${a}`, { method: 'PUT', body: draft })
    expect((await world.call(`/api/workflows/${a}/deploy`, { method: 'POST' })).status).toBe(200)
    await world.execute(a, {})
    await entries(a, 2)
    await evaluated()
    expect([(await entriesOf(a)).length, (await entriesOf(b)).length]).toEqual([2, 1])
  })

  test('is refused without events and without a rule', async () => {
    const id = await world.deploy(onEvent({}), false)
    const { status, json } = await world.call(`/api/workflows/${id}/deploy`, { method: 'POST' })
    expect([status, json.error]).toEqual([400, expect.stringContaining('events must name at least one event')])
  })
})
