import { expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ExecutionWorld } from '../execution-world.ts'

const send = (world: ExecutionWorld, path: string, headers: Record<string, string> = {}) =>
  world.call(`/api/webhooks/trigger/${path}`, { body: {}, key: null, headers })

test('runs of webhook triggers count as asynchronous runs of the owner, whatever the respond mode', async () => {
  const flags = { plan: 'free', 'plan-free-async-per-minute': '3', 'plan-free-sync-per-minute': '1' }
  const world = await ExecutionWorld.open(flags)
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'now' })] }))
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'wait', respond: 'workflow' })] }))
  expect((await send(world, 'now')).status).toBe(202)
  expect((await send(world, 'wait')).status).toBe(200)
  expect((await send(world, 'now')).status).toBe(202)
  for (const path of ['now', 'wait']) {
    const refused = await send(world, path)
    expect(refused).toMatchObject({ status: 429, json: { code: 'RATE_LIMIT_EXCEEDED' } })
    expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(0)
  }
  await world.close()
})

test('one address may send a limited number of requests to a webhook trigger without authentication', async () => {
  const world = await ExecutionWorld.open({ 'webhook-visitor-per-minute': '5' })
  const authentication = { type: 'bearer', token: 'right' }
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'open' })] }))
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', { path: 'closed', authentication })] }))
  const responses = await Promise.all(Array.from({ length: 8 }, () => send(world, 'open')))
  const refused = responses.filter(({ status }) => status === 429)
  expect([responses.filter(({ status }) => status === 202).length, refused.length]).toEqual([5, 3])
  for (const { json, headers } of refused) {
    expect(json).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(0)
  }
  const verified = Array.from({ length: 8 }, () => send(world, 'closed', { authorization: 'Bearer right' }))
  for (const { status } of await Promise.all(verified)) expect(status).toBe(202)
  await world.close()
})

test('guesses of addresses and secrets are limited, and do not delay senders with the right secret', async () => {
  const world = await ExecutionWorld.open()
  const params = { path: 'guarded', authentication: { type: 'bearer', token: 'right' } }
  await world.deploy(document({ blocks: [block('hook', 'webhook_trigger', params)] }))
  const statuses: number[] = []
  for (let count = 0; count < 70; count += 1) {
    const path = count % 2 === 0 ? 'guarded' : 'nobody'
    statuses.push((await send(world, path, { authorization: 'Bearer wrong' })).status)
  }
  expect(statuses.slice(0, 60)).toEqual(Array.from({ length: 60 }, (_, count) => (count % 2 === 0 ? 401 : 404)))
  expect(statuses.slice(60)).toEqual(Array.from({ length: 10 }, () => 429))
  expect((await send(world, 'guarded', { authorization: 'Bearer right' })).status).toBe(202)
  await world.close()
})

test('a webhook trigger that could never verify a sender is not deployed', async () => {
  const world = await ExecutionWorld.open()
  const refused = async (authentication: object) => {
    const params = { path: crypto.randomUUID(), authentication }
    const blocks = [block('hook', 'webhook_trigger', params), block('f', 'function', { code: 'return 1' })]
    const { json } = await world.call('/api/workflows', {
      body: document({ name: params.path, blocks, edges: ['hook > f'] }),
    })
    const deployed = await world.call(`/api/workflows/${json.id}/deploy`, { method: 'POST' })
    if (deployed.status === 200) return []
    const details: { path: string; message: string }[] = deployed.json.details
    return details.filter(({ message }) => !message.startsWith('Warning: ')).map(({ path }) => path)
  }
  const at = 'blocks.hook.params.authentication'
  expect(await refused({ type: 'bearer', token: 'two words' })).toEqual([`${at}.token`])
  expect(await refused({ type: 'header', name: 'X-Key', value: 'a line\n' })).toEqual([`${at}.value`])
  expect(await refused({ type: 'signature', scheme: 'standard', secret: 'whsec_!!' })).toEqual([`${at}.secret`])
  expect(await refused({ type: 'signature', scheme: 'standard', secret: 'whsec_{{KEY}}' })).toEqual([])
  expect(await refused({ type: 'signature', scheme: 'github', secret: 'any text: !' })).toEqual([])
  await world.close()
})
