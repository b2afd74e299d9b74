import { afterAll, beforeAll, expect, test } from 'bun:test'
import { Page } from '../page.ts'
import { HttpWorld, sampleDocument } from '../world.ts'

let world: HttpWorld
let page: Page
beforeAll(async () => {
  world = await HttpWorld.open()
  page = await Page.of(world)
})
afterAll(() => world.close())

const put = (id: string, name: string, ifMatch?: string) =>
  page.call('PUT', `/api/workflows/${id}`, { ...sampleDocument(), name }, ifMatch ? { 'if-match': ifMatch } : {})

test('when two people edit one workflow, the second save is refused and nothing is overwritten', async () => {
  const id = await world.workflow()
  const seen = await page.get(`/api/workflows/${id}`)
  const etag = seen.headers.get('etag') ?? ''
  expect([etag, seen.json.revision]).toEqual(['"1"', 1])

  const first = await put(id, `${id} mine`, etag)
  expect([first.status, first.headers.get('etag'), first.json.revision]).toEqual([200, '"2"', 2])
  const second = await put(id, `${id} theirs`, etag)
  expect([second.status, second.json.code, second.json.details[0].path]).toEqual([409, 'CONFLICT', 'revision'])
  expect(second.json.error).toContain('owner@example.com')
  expect((await page.get(`/api/workflows/${id}`)).json.name).toBe(`${id} mine`)

  expect((await put(id, `${id} anyway`)).status).toBe(200)
})

test('a revision is accepted in every form that clients and proxies send, and in no other', async () => {
  const id = await world.workflow()
  let revision = 1
  for (const form of ['"1"', 'W/"2"', '3', '*']) {
    expect([form, (await put(id, `${id} ${form}`, form)).status]).toEqual([form, 200])
    revision += 1
  }
  expect((await page.get(`/api/workflows/${id}`)).json.revision).toBe(revision)
  for (const form of ['latest', '"a"', '-1', '"1", "2"']) {
    const { status, json } = await put(id, id, form)
    expect([form, status, json.code]).toEqual([form, 400, 'INVALID_PARAMETERS'])
  }
})

test('a deployment with an old revision is refused, and the error names both revisions', async () => {
  const id = await world.workflow()
  await put(id, `${id} changed`)
  const deploy = (ifMatch: string) =>
    page.call('POST', `/api/workflows/${id}/deploy`, undefined, { 'if-match': ifMatch })
  const { status, json } = await deploy('"1"')
  expect([status, json.error]).toEqual([
    409,
    'The workflow was saved after revision 1, which this request is based on. Load revision 2 and repeat the request.',
  ])
  expect((await deploy('"2"')).status).toBe(200)
})

test('a version is not loaded into a draft that somebody else saved in the meantime', async () => {
  const id = await world.workflow()
  expect((await page.call('POST', `/api/workflows/${id}/deploy`)).status).toBe(200)
  await put(id, `${id} theirs`)
  const revert = (headers?: Record<string, string>) =>
    page.call('POST', `/api/workflows/${id}/deployments/1/revert`, undefined, headers)
  const refused = await revert({ 'if-match': '"1"' })
  expect([refused.status, refused.json.code, refused.json.details[0].path]).toEqual([409, 'CONFLICT', 'revision'])
  expect(refused.json.error).toContain('owner@example.com')
  expect((await page.get(`/api/workflows/${id}`)).json).toMatchObject({ name: `${id} theirs`, revision: 2 })

  const reverted = await revert({ 'if-match': '"2"' })
  expect([reverted.status, reverted.headers.get('etag'), reverted.json.revision]).toEqual([200, '"3"', 3])
  expect([(await revert()).status, (await revert({ 'if-match': 'latest' })).status]).toEqual([200, 400])
})
