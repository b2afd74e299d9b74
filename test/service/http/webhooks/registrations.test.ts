import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { HttpWorld } from '../world.ts'

let world: HttpWorld
beforeAll(async () => {
  world = await HttpWorld.open()
})
afterAll(() => world.close())

let number = 0
const withHook = (params: Record<string, unknown> = {}) => {
  number += 1
  return document({ name: `Hook ${number}`, blocks: [block('hook', 'webhook_trigger', params)] })
}
const deploy = (id: string) => world.post(`/api/workflows/${id}/deploy`)
const pathOf = async (id: string): Promise<string> =>
  (await world.get(`/api/workflows/${id}`)).json.blocks.hook.params.path

describe('a workflow with triggers', () => {
  test('shows its next due time when it is saved, deployed and read', async () => {
    const scheduled = document({
      name: 'Due',
      blocks: [block('it', 'schedule', { cron: '0 9 * * *', timezone: 'Asia/Tokyo' })],
    })
    const saved = await world.post('/api/workflows', scheduled)
    const { next } = saved.json.schedule
    expect(next).toHaveLength(5)
    for (const time of next) expect(time).toEndWith('T00:00:00.000Z')
    const { id } = saved.json
    expect((await world.get(`/api/workflows/${id}/status`)).json.schedule).toBeUndefined()
    expect((await deploy(id)).json.schedule).toEqual({ next })
    expect((await world.get(`/api/workflows/${id}/status`)).json.schedule).toEqual({ next })
    expect((await world.store.getSchedule(id))?.dueAt).toBe(Date.parse(next[0]))
    await world.call('DELETE', `/api/workflows/${id}/deploy`)
    expect(await world.store.getSchedule(id)).toBeUndefined()
    // A client can send back the response.
    expect((await world.put(`/api/workflows/${id}`, saved.json)).json.findings).toEqual([])
  })

  test('shows the address of its webhook trigger', async () => {
    const { json } = await world.post('/api/workflows', withHook({ path: 'told' }))
    const webhookUrl = `${world.url}/api/webhooks/trigger/told`
    expect(json.webhookUrl).toBe(webhookUrl)
    expect((await deploy(json.id)).json.webhookUrl).toBe(webhookUrl)
  })

  test('shows the address of its chat', async () => {
    const chat = document({ blocks: [block('talk', 'chat_trigger', { identifier: 'talked' })] })
    const { json } = await world.post('/api/workflows', chat)
    const chatUrl = `${world.url}/chat/talked`
    expect(json.chatUrl).toBe(chatUrl)
    expect((await deploy(json.id)).json.chatUrl).toBe(chatUrl)
    // A client can send back the response.
    expect((await world.put(`/api/workflows/${json.id}`, json)).json.findings).toEqual([])
  })
})

describe('the path of a webhook trigger', () => {
  test('is generated when a document is saved without one, and stays the same afterwards', async () => {
    const draft = withHook()
    const id = await world.workflow(draft)
    const path = await pathOf(id)
    expect(path).toMatch(/^[0-9a-f-]{36}$/)
    await world.put(`/api/workflows/${id}`, draft)
    expect(await pathOf(id)).toBe(path)
    await deploy(id)
    expect(await world.store.findAddress({ kind: 'webhook', name: path })).toBe(id)
    expect((await world.get(`/api/workflows/${id}/status`)).json.needsRedeployment).toBe(false)
  })

  test('belongs to one workflow: another workflow cannot be deployed with it until it is free', async () => {
    const first = await world.workflow(withHook({ path: 'orders' }))
    const second = await world.workflow(withHook({ path: 'orders' }))
    expect((await deploy(first)).status).toBe(200)
    const refused = await deploy(second)
    expect(refused).toMatchObject({ status: 409, json: { code: 'CONFLICT' } })
    expect(refused.json.error).toContain('"orders"')
    expect((await world.get(`/api/workflows/${second}/status`)).json).toMatchObject({ isDeployed: false })
    await world.call('DELETE', `/api/workflows/${first}/deploy`)
    expect((await deploy(second)).status).toBe(200)
    const activated = await world.post(`/api/workflows/${first}/deployments/1/activate`)
    expect(activated).toMatchObject({ status: 409, json: { code: 'CONFLICT' } })
    await world.call('DELETE', `/api/workflows/${second}`)
    expect((await world.post(`/api/workflows/${first}/deployments/1/activate`)).status).toBe(200)
  })
})
