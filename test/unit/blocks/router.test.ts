import { afterAll, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { outboundOf } from '../../support/outbound/peers.ts'
import { spansOf, World } from '../engine/world.ts'

const outbound = outboundOf(['loopback'])
const world = new World({ open: outbound.open, prices: { m: { input: 1, output: 2 } } })
afterAll(async () => {
  outbound.stop()
  await world.stop()
})

const routed = (url: string, routes: unknown = [{ id: 'bill', description: 'About money' }, { id: 'other one' }]) =>
  document({
    blocks: [
      block('in', 'api_trigger'),
      block('way', 'router', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: url, retries: 0 },
        ...{ prompt: '<api.input.text>', routes },
      }),
      block('bill', 'variables', { assign: [] }),
      block('other', 'wait', { ms: 0 }),
    ],
    edges: ['in > way', 'way:router-bill > bill', 'way:router-other one > other'],
  })

async function route(said: string) {
  await using server = await ModelServer.start([{ text: [said], usage: { prompt: 10, completion: 5 } }])
  const { record } = await world.run(routed(server.url), { text: 'My invoice' })
  const ran = [...spansOf(record.root)].filter(([, [span]]) => span?.status === 'success').map(([name]) => name)
  return { record, ran, requests: server.requests, output: spansOf(record.root).get('way')?.[0]?.output }
}

test('continues at the route that the model chose, and counts the cost', async () => {
  const { record, ran, requests, output } = await route('{"route":"bill"}')
  expect(ran).toEqual(expect.arrayContaining(['bill']))
  expect(ran).not.toContain('other')
  const tokens = { prompt: 10, completion: 5, total: 15 }
  expect(output).toEqual({
    route: 'bill',
    model: 'm',
    tokens,
    cost: { input: 0.00001, output: 0.00001, total: 0.00002 },
  })
  expect(record.cost).toMatchObject({ total: 0.00002, tokens })
  const asked = JSON.stringify(requests[0]?.body)
  for (const words of ['About money', 'My invoice', 'other one']) expect(asked).toContain(words)
})

test('reads a bare id and JSON in a code fence, and fails for anything else with the response', async () => {
  expect((await route('"other one"')).ran).toContain('other')
  expect((await route('```json\n{"route": "bill"}\n```')).ran).toContain('bill')
  const { record } = await route('Maybe the third?')
  expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockName: 'way' })
  expect(record.failure?.message).toContain('Maybe the third?')
  expect(record.cost.tokens.total).toBe(15)
})

test('reports two routes with one id at deployment', () => {
  const findings = world.check(routed('http://x/v1', [{ id: 'bill' }, { id: 'bill' }, { id: 'other one' }]))
  expect(findings.map(({ code }) => code)).toEqual(['DUPLICATE_ID'])
})
