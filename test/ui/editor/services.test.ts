import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { httpPeer } from '../../support/outbound/peers.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, saved } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let id: string
let peer: ReturnType<typeof httpPeer>

beforeAll(async () => {
  peer = httpPeer((request) => {
    if (request.headers.get('authorization') !== 'Bearer a-long-token') return new Response('', { status: 401 })
    return Response.json({
      rooms: [
        { id: 'r1', name: 'Hall' },
        { id: 'r2', name: 'Attic' },
      ],
    })
  })
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  const { serving, apiKey, page } = visited
  const { body: home } = await call(`${serving.url}/api/workspaces`, apiKey, 'GET')
  const workspaceId = (home as { data: { id: string }[] }).data[0]!.id
  const shop = {
    ...{ id: 'house', name: 'House', baseUrl: `http://127.0.0.1:${peer.port}` },
    credentials: [{ kind: 'bearer', label: 'House token', hosts: [`127.0.0.1:${peer.port}`] }],
    operations: {
      listRooms: {
        ...{ label: 'List rooms', method: 'GET', path: '/rooms', result: 'rooms' },
        output: {
          type: 'array',
          items: { type: 'object', properties: { id: { type: 'string' }, name: { type: 'string', title: 'Room' } } },
        },
      },
      paint: {
        ...{ label: 'Paint a room', method: 'POST', path: '/paint' },
        parameters: {
          type: 'object',
          properties: {
            room: { type: 'string', title: 'Room' },
            colour: { type: 'string', title: 'Colour', enum: ['red', 'blue'] },
            coats: { type: 'integer', title: 'Coats', maximum: 3 },
            painter: { type: 'object', title: 'Painter', properties: { name: { type: 'string', title: 'Name' } } },
          },
          required: ['room', 'colour'],
        },
        choices: { room: { operation: 'listRooms', value: 'id', label: 'name' } },
      },
    },
  }
  await call(`${serving.url}/api/workspaces/${workspaceId}/connectors/house`, apiKey, 'PUT', shop)
  const made = document({ name: 'House', blocks: [block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } })] })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  id = (body as { id: string }).id
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'start').waitFor()
}, 120_000)
afterAll(async () => {
  await visited.close()
  await peer.stop(true)
})

const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const blockOf = async (type: string) =>
  Object.values((await saved(visited, id)).blocks).find((each) => each.type === type)!

describe('the palette', () => {
  test('lists services, and finds operations by their words', async () => {
    const { page } = visited
    const palette = page.getByRole('complementary', { name: 'Blocks' })
    await palette.getByRole('button', { name: 'House' }).waitFor()
    await palette.getByRole('button', { name: 'Slack' }).waitFor()
    await page.keyboard.press('/')
    await page.getByPlaceholder('Add a block…').fill('paint')
    await page.getByRole('option', { name: 'House: Paint a room' }).click()
    await inspector('Paint a room').waitFor()
    expect(await blockOf('operation')).toMatchObject({
      name: 'Paint a room',
      params: { connector: 'house', operation: 'paint' },
    })
  }, 120_000)
})

describe('the form of an operation', () => {
  test('creates a credential with what the service needs', async () => {
    const { page } = visited
    const form = inspector('Paint a room')
    await form.getByRole('button', { name: 'New' }).click()
    const dialog = page.getByRole('dialog', { name: 'New credential for House' })
    await dialog.getByLabel('Name').fill('house')
    expect(await dialog.getByLabel('Kind').inputValue()).toBe('bearer')
    expect(await dialog.getByLabel('Hosts').inputValue()).toBe(`127.0.0.1:${peer.port}`)
    await dialog.getByLabel('Token').fill('a-long-token')
    await dialog.getByRole('button', { name: 'Create credential' }).click()
    await dialog.waitFor({ state: 'detached' })
    expect((await blockOf('operation')).params).toMatchObject({ credential: 'house' })
  }, 120_000)

  test('has a control for each parameter, with the choices of the service itself', async () => {
    const form = inspector('Paint a room')
    const room = form.getByLabel('Room', { exact: true })
    await form.getByRole('option', { name: 'Attic' }).waitFor({ state: 'attached' })
    await room.selectOption({ label: 'Attic' })
    await form.getByLabel('Colour').selectOption('blue')
    await form.getByLabel('Coats').fill('2')
    await form.getByRole('group', { name: 'Painter' }).getByLabel('Name').fill('Ada')
    await form.getByLabel('Block name').focus()
    expect((await blockOf('operation')).params).toMatchObject({
      params: { room: 'r2', colour: 'blue', coats: 2, painter: { name: 'Ada' } },
    })
    expect(await accessibilityFaults(visited.page)).toEqual([])
  }, 120_000)

  test('lets the author write a reference in place of a choice, and reports mistakes at their field', async () => {
    const form = inspector('Paint a room')
    await form.getByLabel('Room', { exact: true }).selectOption({ label: 'Write a value…' })
    await form.getByLabel('Room', { exact: true }).fill('<start.room>')
    await form.getByLabel('Coats').fill('9')
    await form.getByLabel('Block name').focus()
    await form.getByText('must be at most 3').waitFor()
    expect((await blockOf('operation')).params).toMatchObject({ params: { room: '<start.room>', coats: 9 } })
  }, 120_000)
})

test('a pasted cURL command becomes an API block, and says what was not taken', async () => {
  const { page } = visited
  const command = `curl -X POST https://api.example.com/items -u ada:secret -H 'X-Version: 2' -d '{"name": "Tea"}'`
  await page.getByRole('region', { name: 'Workflow', exact: true }).focus()
  await page.evaluate((text) => {
    const data = new DataTransfer()
    data.setData('text/plain', text)
    globalThis.document.activeElement?.dispatchEvent(
      new ClipboardEvent('paste', { clipboardData: data, bubbles: true, cancelable: true }),
    )
  }, command)
  await inspector('Request').waitFor()
  await page.getByText('create a credential for them').waitFor()
  const { params } = await blockOf('api')
  expect(params).toMatchObject({ url: 'https://api.example.com/items', method: 'POST', body: { name: 'Tea' } })
  expect(JSON.stringify(params)).not.toContain('secret')
}, 120_000)

test('a result is shown as its schema describes it, which also suggests references before the first run', async () => {
  const { page, serving, apiKey } = visited
  const params = { connector: 'house', operation: 'listRooms', credential: 'house' }
  const made = document({
    name: 'Results',
    blocks: [
      block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
      block('rooms', 'operation', params, { position: { x: 300, y: 0 } }),
      block('reply', 'response', { data: '<rooms.status>' }, { position: { x: 600, y: 0 } }),
    ],
    edges: ['start > rooms', 'rooms > reply'],
  })
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
  await node(page, 'reply').click()
  await inspector('reply').getByRole('button', { name: 'Input' }).click()
  await inspector('reply').getByRole('button', { name: 'Expand <rooms.data>' }).click()
  await inspector('reply').getByRole('button', { name: 'Expand <rooms.data[0]>' }).click()
  await inspector('reply').getByTitle('<rooms.data[0].name>').waitFor()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await node(page, 'rooms').click()
  const result = page.getByRole('region', { name: 'Console', exact: true }).getByRole('region', { name: 'Output' })
  await result.getByText('Output: 2 items').waitFor()
  expect(await result.getByRole('columnheader').allTextContents()).toEqual(['id', 'Room'])
  expect(await result.getByRole('cell').allTextContents()).toEqual(['r1', 'Hall', 'r2', 'Attic'])
  expect(await accessibilityFaults(page)).toEqual([])
  await result.getByRole('button', { name: 'Show as JSON' }).click()
  await result.getByText('status:').waitFor()
  await result.getByRole('button', { name: 'Show as table' }).waitFor()
}, 120_000)
