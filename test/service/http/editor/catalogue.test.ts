import { afterAll, beforeAll, expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { portsOf } from '../../../../src/engine/ports.ts'
import { portsOf as portsOnPage } from '../../../../src/ui/editor/document/document.ts'
import { Page } from '../page.ts'
import { HttpWorld, type Parsed } from '../world.ts'

let world: HttpWorld
let page: Page
beforeAll(async () => {
  world = await HttpWorld.open()
  page = await Page.of(world)
})
afterAll(() => world.close())

test('every block type is listed with everything that its form, card and handles need', async () => {
  const { json } = await page.get('/api/editor/blocks')
  expect(json.data.map(({ type }: Parsed) => type)).toEqual([...registry.keys()])
  for (const told of json.data as Parsed[]) {
    const definition = registry.get(told.type)!
    expect(Object.keys(told.parameters.properties ?? {})).toEqual(Object.keys(definition.parameters.properties))
    expect(JSON.stringify(told)).not.toContain('$ref')
    // The page computes the same handles as the engine.
    const params = told.branches ? { [told.branches.list]: [{ id: 'a' }, { id: 'b' }] } : {}
    const otherwise = told.branches?.otherwise ? [told.branches.prefix + told.branches.otherwise] : []
    const handles = told.branches
      ? [`${told.branches.prefix}a`, `${told.branches.prefix}b`, ...otherwise]
      : ['source', ...told.ports]
    expect([told.type, handles]).toEqual([told.type, [...portsOf(definition, params)]])
    if (definition.kind === 'step') {
      const shown = portsOnPage({ type: told.type, params }).map(({ handle }) => handle)
      expect([told.type, shown.filter((handle) => handle !== 'error')]).toEqual([told.type, handles])
    }
  }
  const api = json.data.find(({ type }: Parsed) => type === 'api')
  expect(api).toMatchObject({ mayFail: true, branches: null, starts: null })
  expect(api.parameters.properties.method).toMatchObject({ title: expect.any(String) })
  const loop = json.data.find(({ type }: Parsed) => type === 'loop')
  expect(loop.container.settings.properties.loopType.enum).toEqual(['for', 'forEach', 'while', 'doWhile'])
})

test('models are listed with their prices and providers', async () => {
  const { json } = await page.get('/api/editor/models')
  const of = (model: string) => json.data.find((row: Parsed) => row.model === model)
  expect(of('gpt-4o')).toEqual({
    model: 'gpt-4o',
    provider: 'openai',
    price: { input: 2.5, output: 10, cachedInput: 1.25 },
  })
  expect(of('claude-sonnet-4-5')).toMatchObject({ provider: 'anthropic' })
  expect(of('gemini-2.0-flash-lite')).toMatchObject({ provider: 'google', price: { cachedInput: null } })
})
