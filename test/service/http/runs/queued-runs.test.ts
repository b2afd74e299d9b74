import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import type { LiveEvent } from '../../../../src/domain/run/live-event.ts'
import { block, document } from '../../../support/make.ts'
import { start } from '../execution-world.ts'
import { ManualWorld } from './manual-world.ts'

let world: ManualWorld
let gate: PromiseWithResolvers<void>
let slow: ReturnType<typeof Bun.serve>
let workflowId: string
beforeAll(async () => {
  slow = Bun.serve({
    port: 0,
    fetch: async () => {
      await gate.promise
      return new Response('{}')
    },
  })
  world = await ManualWorld.open({ 'jobs-concurrency': '1' })
  const asking = block('ask', 'api', { url: `http://127.0.0.1:${slow.port}/` })
  workflowId = await world.executions.deploy(document({ blocks: [start(), asking], edges: ['start > ask'] }))
})
afterAll(async () => {
  await world.close()
  await slow.stop(true)
})
beforeEach(() => {
  gate = Promise.withResolvers()
})

async function begin(): Promise<string> {
  const headers = { 'x-execution-mode': 'async' }
  return (await world.executions.execute(workflowId, {}, { headers })).json.jobId
}

async function stateOf(executionId: string): Promise<unknown> {
  return (await world.executions.call(`/api/jobs/${executionId}`)).json.status
}

/** Starts to watch, and waits until the service has received the request. */
async function watch(executionId: string): Promise<{ events: Promise<LiveEvent[]> }> {
  const begun = Promise.withResolvers<void>()
  const events = world.watch(executionId, begun.resolve)
  await begun.promise
  return { events }
}

describe('a queued run', () => {
  test('can be watched by several clients, whose events come when it starts', async () => {
    const running = await begin()
    const waiting = await begin()
    const watched = [await watch(waiting), await watch(waiting)]
    expect(await stateOf(waiting)).toBe('queued')
    gate.resolve()
    expect((await world.watch(running)).at(-1)).toMatchObject({ event: 'run.ended', status: 'success' })
    for (const { events } of watched) {
      const [first, ...more] = await events
      expect(first).toMatchObject({ event: 'run.started', executionId: waiting, trigger: 'api' })
      expect(more.map((each) => ('span' in each ? `${each.event} ${each.span.name}` : each.event))).toEqual([
        ...['block.started start', 'block.ended start', 'block.started ask', 'block.ended ask', 'run.ended'],
      ])
    }
  })

  test('tells its watchers when it is cancelled in the queue', async () => {
    const running = await begin()
    const waiting = await begin()
    const { events } = await watch(waiting)
    const path = `/api/workflows/${workflowId}/executions/${waiting}/cancel`
    expect((await world.executions.call(path, { method: 'POST' })).status).toBe(200)
    expect((await events).map(({ event }) => event)).toEqual(['run.started', 'run.ended'])
    expect((await events).at(-1)).toMatchObject({ status: 'cancelled', error: { code: 'CANCELLED' } })
    expect(await world.watch(waiting)).toEqual(await events)
    gate.resolve()
    await world.watch(running)
  })
})
