import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { LiveEvent } from '../../../../src/domain/run/live-event.ts'
import { block, document } from '../../../support/make.ts'
import { startEcho } from '../../echo.ts'
import { endedOf, line, ManualWorld } from './manual-world.ts'

let world: ManualWorld
const echo = startEcho()
beforeAll(async () => {
  world = await ManualWorld.open()
})
afterAll(async () => {
  await world.close()
  await echo.stop()
})

const namesOf = (events: readonly LiveEvent[]) => endedOf(events).map(({ name }) => name)

describe('a partial run', () => {
  const times = (events: readonly LiveEvent[]) => endedOf(events).find(({ name }) => name === 'time')?.output

  test('from a block has the outputs of the blocks before it, even secrets, as long as the service remembers them', async () => {
    const { workflowId, executionId, events, ended } = await world.run(line())
    const second = await world.again(workflowId, { from: { executionId, blockId: 'end' } })
    expect(second.ended.output).toEqual(ended.output)
    expect(times(second.events)).toEqual(times(events))
    expect(endedOf(second.events).map(({ reused }) => reused ?? false)).toEqual([true, true, true, false])
    const anew = await world.again(workflowId, { from: { executionId, blockId: 'time' } })
    expect(times(anew.events)).not.toEqual(times(events))
  })

  test('of a run started with a key takes the outputs from the log, and names the missing ones', async () => {
    const workflowId = await world.executions.deploy(line())
    const ran = await world.executions.call(`/api/workflows/${workflowId}/execute`, {
      body: { city: 'Porto', days: 2 },
    })
    const from = { executionId: ran.json.executionId, blockId: 'end' }
    const { status, json } = await world.post(workflowId, { from })
    expect([status, json.code]).toEqual([409, 'CONFLICT'])
    expect(json.details).toEqual([{ path: 'say', message: expect.stringContaining('{{TOKEN}}') }])
    const { ended } = await world.again(workflowId, { from: { ...from, blockId: 'say' } })
    expect(ended.output).toEqual({ stamp: expect.stringContaining('Porto for 2 days') })
  })

  test('from its trigger has the input of that run or a given one; a redacted secret cannot be reused', async () => {
    const workflowId = await world.executions.deploy(line())
    const start = async (city: string) => {
      const body = { city, days: 2 }
      return (await world.executions.call(`/api/workflows/${workflowId}/execute`, { body })).json.executionId as string
    }
    const from = { executionId: await start('Braga'), blockId: 'start' }
    expect((await world.again(workflowId, { from })).ended.output).toEqual({ stamp: expect.stringContaining('Braga') })
    const given = await world.again(workflowId, { from, input: { city: 'Faro' } })
    expect(given.ended.output).toEqual({ stamp: expect.stringContaining('Faro') })
    const secret = await world.post(workflowId, { from: { ...from, executionId: await start('the secret value') } })
    expect([secret.status, secret.json.details[0].path]).toEqual([409, 'start'])
  })

  test('after a run without a trigger starts with the values of the input format', async () => {
    const { workflowId } = await world.run(line())
    const alone = await world.again(workflowId, { only: { blockId: 'time' } })
    const { ended, events } = await world.again(workflowId, {
      from: { executionId: alone.executionId, blockId: 'end' },
    })
    expect(ended.output).toEqual({ stamp: expect.stringContaining('Porto for 3 days') })
    expect(times(events)).toEqual(times(alone.events))
  })

  test('of a run with files reads them again', async () => {
    const sending = document({
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'photo', type: 'files' }] }),
        block('send', 'api', {
          url: `http://127.0.0.1:${echo.port}/`,
          method: 'POST',
          bodyType: 'file',
          file: '<api.photo[0]>',
        }),
      ],
      edges: ['start > send'],
    })
    const workflowId = await world.executions.deploy(sending)
    const photo = [{ type: 'file', name: 'a.txt', data: `data:text/plain;base64,${btoa('Hello')}` }]
    const ran = await world.executions.call(`/api/workflows/${workflowId}/execute`, { body: { photo } })
    expect(ran.status).toBe(200)
    const { ended } = await world.again(workflowId, { from: { executionId: ran.json.executionId, blockId: 'send' } })
    expect(ended.status).toBe('success')
    expect(ended.output).toMatchObject({ data: ran.json.output.data })
  })

  test('up to a block ends there; a single block runs without the others', async () => {
    const { workflowId, executionId } = await world.run(line())
    const until = await world.again(workflowId, { until: 'say' })
    expect(namesOf(until.events)).toEqual(['start', 'say'])
    const only = await world.again(workflowId, { only: { executionId, blockId: 'end' } })
    expect(namesOf(only.events)).toEqual(['end'])
    expect(only.ended.output).toEqual({ stamp: expect.stringContaining('Porto') })
  })

  test('of a single block is refused when a reference has no value, and runs with given values', async () => {
    const { workflowId } = await world.run(line())
    const refused = await world.post(workflowId, { only: { blockId: 'end' } })
    expect([refused.status, refused.json.code]).toEqual([400, 'INVALID_INPUT'])
    const paths = refused.json.details.map(({ path }: { path: string }) => path)
    expect(paths).toContainEqual(expect.stringMatching(/^only\.values\.<.+>$/))
    expect(refused.json.error).toContain('has no value')
    const sources = paths.map((path: string) => path.slice('only.values.'.length))
    const values = Object.fromEntries(sources.map((source: string) => [source, 'given']))
    const { ended } = await world.again(workflowId, { only: { blockId: 'end', values } })
    expect(ended.output).toEqual({ stamp: expect.stringContaining('given') })
    // The values of the input format are enough for a block that reads only the trigger.
    expect((await world.again(workflowId, { only: { blockId: 'say' } })).ended.status).toBe('success')
  })

  test("of another workflow's run, or of an unknown run, is refused", async () => {
    const [one, other] = [await world.run(line()), await world.run(line())]
    const foreign = await world.post(one.workflowId, { from: { executionId: other.executionId, blockId: 'end' } })
    expect(foreign.status).toBe(404)
    const nowhere = await world.post(one.workflowId, { until: 'nowhere' })
    expect([nowhere.status, nowhere.json.details[0].path]).toEqual([400, 'until'])
  })
})
