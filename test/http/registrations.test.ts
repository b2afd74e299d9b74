import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../make.ts'
import { HttpWorld } from './world.ts'

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

describe('the path of a webhook', () => {
  test('is given when the document is saved, and stays when it is saved again without one', async () => {
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

  test('belongs to one workflow: another one cannot be deployed with it, until it is free', async () => {
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
