import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { block, document } from '../../../support/make.ts'
import { endedOf, line, ManualWorld } from './manual-world.ts'

let world: ManualWorld
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(() => world.close())

const pin = (id: string, blockId: string, output: unknown) =>
  world.executions.call(`/api/workflows/${id}/pins/${blockId}`, { method: 'PUT', body: { output } })
const unpin = (id: string, blockId: string) =>
  world.executions.call(`/api/workflows/${id}/pins/${blockId}`, { method: 'DELETE' })
const pinsOf = async (id: string) => (await world.executions.call(`/api/workflows/${id}/pins`)).json.data
const deploy = (workflow: WorkflowDocument) => world.executions.deploy(workflow)

describe('a pinned output', () => {
  test('is used by runs of the draft, and never by the deployed version', async () => {
    const id = await deploy(line())
    expect((await pin(id, 'time', { result: 'pinned' })).status).toBe(200)
    const drafted = await world.again(id, {})
    expect(drafted.ended.output).toEqual({ stamp: expect.stringMatching(/\/pinned$/) })
    const marks = endedOf(drafted.events).map(({ name, pinned }) => [name, pinned ?? false])
    expect(marks).toEqual([
      ['start', false],
      ['say', false],
      ['time', true],
      ['end', false],
    ])
    const executed = await world.executions.call(`/api/workflows/${id}/execute`, { body: { city: 'Faro', days: 1 } })
    expect(executed.json.output).toEqual({ stamp: expect.not.stringContaining('pinned') })
    const live = await world.again(id, { version: 'live' })
    expect(live.ended.output).toEqual({ stamp: expect.not.stringContaining('pinned') })
    const { id: logId, partial } = await world.entryOf(drafted.executionId)
    expect(partial).toBe(false)
    const entry = (await world.executions.call(`/api/v1/logs/${logId}`)).json.data
    const spans = entry.executionData.traceSpans[0].children as { name: string; pinned?: true; duration: number }[]
    expect(spans.filter(({ pinned }) => pinned)).toMatchObject([{ name: 'time', duration: 0 }])
    expect((await unpin(id, 'time')).status).toBe(204)
    expect((await world.again(id, {})).ended.output).toEqual({ stamp: expect.not.stringContaining('pinned') })
    expect((await unpin(id, 'time')).status).toBe(404)
  })

  test('of a trigger is the input of a run without one; a chosen input replaces it', async () => {
    const id = await deploy(line())
    await pin(id, 'start', { city: 'Lagos', days: 9 })
    expect((await world.again(id, {})).ended.output).toEqual({ stamp: expect.stringContaining('Lagos for 9 days') })
    const given = await world.again(id, { input: { city: 'Faro', days: 2 } })
    expect(given.ended.output).toEqual({ stamp: expect.stringContaining('Faro for 2 days') })
  })

  test('that was redacted or shortened, or is none, is refused', async () => {
    const id = await deploy(line())
    const redacted = await pin(id, 'say', { said: 'It is {{TOKEN}}' })
    expect([redacted.status, redacted.json.error]).toEqual([400, expect.stringContaining('secret {{TOKEN}}')])
    const cut = await pin(id, 'say', { truncated: true, size: 99_999, preview: '{"said":' })
    expect([cut.status, cut.json.error]).toEqual([400, expect.stringContaining('only the beginning')])
    expect((await pin(id, 'say', 'text')).status).toBe(400)
    expect((await pin(id, 'nothing', {})).status).toBe(404)
    const large = await pin(id, 'say', { said: 'x'.repeat(1_100_000) })
    expect([large.status, large.json.code]).toEqual([413, 'PAYLOAD_TOO_LARGE'])
    expect(await pinsOf(id)).toEqual([])
  })

  test('that holds a secret works in runs, but nobody is shown the secret', async () => {
    const id = await deploy(line())
    await pin(id, 'say', { said: 'the secret value' })
    expect(await pinsOf(id)).toEqual([
      { blockId: 'say', output: { said: '{{TOKEN}}' }, updatedAt: expect.stringContaining('T') },
    ])
    const { executionId } = await world.again(id, {})
    expect(JSON.stringify(await world.entryOf(executionId))).not.toContain('the secret value')
  })

  test('is not listed while its block is missing, and comes back when the deletion is undone', async () => {
    const id = await deploy(line())
    await pin(id, 'time', { result: 1 })
    const put = (body: unknown) => world.executions.call(`/api/workflows/${id}`, { method: 'PUT', body })
    const alone = document({ blocks: [block('start', 'api_trigger')] })
    await put({ ...line(), name: 'Pins', ...{ blocks: alone.blocks, edges: [] } })
    expect(await pinsOf(id)).toEqual([])
    await put({ ...line(), name: 'Pins' })
    expect(await pinsOf(id)).toMatchObject([{ blockId: 'time' }])
  })

  test('is copied with its workflow', async () => {
    const id = await deploy(line())
    await pin(id, 'time', { result: 'pinned' })
    const path = `/api/editor/workflows/${id}/duplicate`
    const copy = await world.executions.call(path, { body: {}, headers: world.session, key: null })
    expect(await pinsOf(copy.json.id)).toMatchObject([{ blockId: 'time', output: { result: 'pinned' } }])
    expect((await world.again(copy.json.id, {})).ended.output).toEqual({ stamp: expect.stringMatching(/\/pinned$/) })
  })
})
