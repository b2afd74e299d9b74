import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'bun:test'
import { environmentBounds } from '../../../../src/domain/account/environment.ts'
import { HttpWorld } from '../world.ts'

describe('the environment of a workspace', () => {
  let world: HttpWorld
  let path: string
  beforeAll(async () => {
    world = await HttpWorld.open({ bodyBytesMax: 1_000_000 })
    path = `/api/workspaces/${world.workspaceId}/environment`
  })
  afterAll(() => world.close())
  beforeEach(async () => {
    for (const { name } of (await world.get(path)).json.data) await world.call('DELETE', `${path}/${name}`)
  })

  const valuesOf = async () => {
    const environments = world.services.environments as unknown as {
      of(id: string): Promise<{ values: ReadonlyMap<string, string> }>
    }
    return Object.fromEntries((await environments.of(world.workspaceId)).values)
  }

  test('accepts values and returns only names', async () => {
    expect(await world.get(path)).toMatchObject({ status: 200, json: { data: [] } })
    const set = await world.put(`${path}/TOKEN`, { value: 'hunter22' })
    const updatedAt = expect.stringMatching(/Z$/)
    expect(set).toMatchObject({ status: 200, json: { name: 'TOKEN', plain: false, updatedAt } })
    await world.put(`${path}/REGION`, { value: 'eu-west-1', plain: true })
    const listed = await world.get(path)
    expect(listed.json).toEqual({
      data: [
        { name: 'REGION', plain: true, updatedAt },
        { name: 'TOKEN', plain: false, updatedAt: set.json.updatedAt },
      ],
    })
    expect(set.text + listed.text).not.toMatch(/hunter22|eu-west-1/)
    expect(await valuesOf()).toEqual({ TOKEN: 'hunter22', REGION: 'eu-west-1' })
  })

  test('has every change as soon as it is saved', async () => {
    await world.put(`${path}/A`, { value: 'one', plain: true })
    expect(await valuesOf()).toEqual({ A: 'one' })
    expect((await world.put(`${path}/A`, { value: 'two' })).json.plain).toBe(false)
    expect(await valuesOf()).toEqual({ A: 'two' })
    expect(await world.call('DELETE', `${path}/A`)).toMatchObject({ status: 204, text: '' })
    expect(await valuesOf()).toEqual({})
    expect(await world.call('DELETE', `${path}/A`)).toMatchObject({ status: 404, json: { code: 'NOT_FOUND' } })
  })

  test.each([
    ['A', {}, ['value']],
    ['A', { value: 7 }, ['value']],
    ['A', { value: null, plain: 'yes' }, ['value', 'plain']],
    ['A', [], ['value']],
    ['A', { value: `half ${'\ud800'}` }, ['value']],
    ['A', { value: 'é'.repeat(environmentBounds.valueBytesMax / 2 + 1) }, ['value']],
    ['1A', { value: 'x' }, ['name']],
    ['A-B', { value: 'x' }, ['name']],
    ['A%20B', { value: 'x' }, ['name']],
    ['%7B%7BA%7D%7D', { value: 'x' }, ['name']],
    ['A'.repeat(environmentBounds.nameCharsMax + 1), { value: 'x' }, ['name']],
  ])('refuses %s with %j', async (name, body, paths) => {
    const { status, json } = await world.put(`${path}/${name}`, body)
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'INVALID_INPUT' })
    expect(json.details.map((detail: { path: string }) => detail.path)).toEqual(paths)
    expect((await world.get(path)).json.data).toEqual([])
  })

  test('refuses a body that is not JSON', async () => {
    expect(await world.call('PUT', `${path}/A`, { text: '{' })).toMatchObject({
      status: 400,
      json: { code: 'INVALID_JSON' },
    })
  })

  test('has a maximum number of variables', async () => {
    for (let number = 0; number < environmentBounds.variablesMax; number += 1) {
      await world.store.setVariable({
        workspaceId: world.workspaceId,
        name: `N${number}`,
        sealed: Uint8Array.of(1),
        plain: true,
        at: 1,
      })
    }
    const { status, json } = await world.put(`${path}/ONE_MORE`, { value: 'x' })
    expect({ status, code: json.code }).toEqual({ status: 400, code: 'INVALID_INPUT' })
    expect(json.error).toContain(`${environmentBounds.variablesMax} variables`)
  })
})
