import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const rows = () => visited.page.getByRole('list', { name: 'Blocks that ran' })
const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()
const ended = () => visited.page.getByText(/^(Succeeded in|Failed after)/).waitFor()
const at = (x: number) => ({ position: { x, y: 0 } })
const shot = async (name: string) => {
  const folder = process.env['SHOTS']
  if (folder) await visited.page.screenshot({ path: `${folder}/${name}.png` })
}

type Listed = { blockId: string; output: { result: { number: number } } }
const pinsOf = async (id: string): Promise<Listed[]> => {
  const { serving, apiKey } = visited
  return ((await call(`${serving.url}/api/workflows/${id}/pins`, apiKey)).body as { data: Listed[] }).data
}

const quotes: Draft = {
  name: 'Quotes',
  blocks: [
    block('start', 'api_trigger', {}, at(0)),
    block('draw', 'function', { code: 'return { number: Math.random() }' }, at(320)),
    block('end', 'function', { code: 'return `It is ${<draw.result.number>}`' }, at(640)),
  ],
  edges: ['start > draw', 'draw > end'],
}

describe('a pinned output', () => {
  test('comes from a run, is used by the next run, and is not deployed', async () => {
    const { page, serving, apiKey, pageErrors } = visited
    const id = await openWorkflow(visited, quotes)
    const pins = () => pinsOf(id)
    await node(page, 'draw').click()
    await run()
    await ended()
    await inspector('draw').getByRole('button', { name: 'Pin', exact: true }).click()
    await inspector('draw').getByText('Pinned', { exact: true }).waitFor()
    await node(page, 'draw').getByLabel('Output pinned').waitFor()
    const number = (await pins())[0]?.output.result.number
    await run()
    await rows().getByText('pinned').waitFor()
    await ended()
    await node(page, 'draw').getByLabel('Pinned: it did not run').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await shot('pin-panel')
    // The panels leave no room for the block "end". The browser would scroll it into view and the canvas back again.
    await page.getByRole('button', { name: 'Fit to view' }).click()
    await node(page, 'end').click()
    await inspector('end').getByText(`It is ${number}`).first().waitFor()
    // The deployed version runs the block.
    await page.getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByRole('dialog').getByText('Pins are not deployed').waitFor()
    await shot('pin-deploy')
    await page.getByRole('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
    await page.getByText('Version 1 is live').first().waitFor()
    await page.keyboard.press('Escape')
    const { body } = await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})
    const { result } = (body as { output: { result: string } }).output
    expect(result).toStartWith('It is 0.')
    expect(result).not.toBe(`It is ${number}`)
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('can be written by hand and removed with the keyboard', async () => {
    const { page } = visited
    const id = await openWorkflow(visited, { ...quotes, name: 'Quotes by hand' })
    const pins = () => pinsOf(id)
    await node(page, 'draw').click()
    await page.keyboard.press('p')
    const dialog = page.getByRole('dialog', { name: 'Pin an output of draw' })
    await dialog.locator('.cm-content').fill('{ "result": ')
    await dialog.getByRole('button', { name: 'Pin', exact: true }).click()
    await dialog.getByText('The output is not valid JSON').waitFor()
    await dialog.locator('.cm-content').fill('{ "result": { "number": 42 } }')
    expect(await accessibilityFaults(page)).toEqual([])
    await shot('pin-dialog')
    await dialog.getByRole('button', { name: 'Pin', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    expect(await pins()).toMatchObject([{ blockId: 'draw', output: { result: { number: 42 } } }])
    await run()
    await ended()
    await node(page, 'end').click()
    await inspector('end').getByText('It is 42').first().waitFor()
    await node(page, 'draw').click()
    await page.keyboard.press('p')
    await until(async () => (await pins()).length === 0)
  }, 60_000)
})

test('pinned outputs are exported on request, and pinned again by the import', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const id = await openWorkflow(visited, { ...quotes, name: 'Carried' })
  const output = { result: { number: 7 } }
  await call(`${serving.url}/api/workflows/${id}/pins/draw`, apiKey, 'PUT', { output })
  await page.reload()
  await node(page, 'draw').getByLabel('Output pinned').waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  const downloading = page.waitForEvent('download')
  await page.getByRole('menuitem', { name: 'Export with pinned outputs' }).click()
  const path = await (await downloading).path()
  expect(await Bun.file(path).json()).toMatchObject({ name: 'Carried', mocks: [{ block: 'draw', output }] })
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('button', { name: 'Import' }).first().click()
  const dialog = page.getByRole('dialog', { name: 'Import workflows' })
  await dialog.getByRole('textbox').fill(await Bun.file(path).text())
  await dialog.getByRole('button', { name: 'Import', exact: true }).click()
  await node(page, 'draw').getByLabel('Output pinned').waitFor()
}, 60_000)

describe('a webhook trigger of the draft', () => {
  const hooked = (name: string): Draft => ({
    name,
    blocks: [
      block('hook', 'webhook_trigger', { path: crypto.randomUUID(), authentication: { type: 'none' } }, at(0)),
      block('end', 'function', { code: 'return `${<hook.body.city>} by ${<hook.method>}`' }, at(320)),
    ],
    edges: ['hook > end'],
  })

  test('takes one real request at a test address, and runs and pins it', async () => {
    const { page, pageErrors } = visited
    const id = await openWorkflow(visited, hooked('Hooked'))
    await node(page, 'hook').click()
    const section = inspector('hook').getByRole('region', { name: 'Test request' })
    await section.getByRole('button', { name: 'Listen for a test request' }).click()
    await section.getByText('Waiting for a request').waitFor()
    await section.getByText(/^curl -X POST /).waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await shot('listen-waiting')
    const url = (await section.getByTitle('Test address').textContent()) ?? ''
    const headers = { 'content-type': 'application/json' }
    const sent = await fetch(url, { method: 'POST', headers, body: '{"city":"Braga"}' })
    expect(sent.status).toBe(202)
    await section.getByText('"Braga"').waitFor()
    await section.getByRole('button', { name: 'Run with this request' }).click()
    await ended()
    await shot('listen-taken')
    await section.getByRole('button', { name: 'Pin to the trigger' }).click()
    await node(page, 'hook').getByLabel('Output pinned').waitFor()
    expect(await pinsOf(id)).toMatchObject([{ blockId: 'hook', output: { body: { city: 'Braga' } } }])
    // From now on, every run of the draft has the request.
    await run()
    await rows().getByText('pinned').waitFor()
    await ended()
    await node(page, 'end').click()
    await inspector('end').getByText('Braga by POST').first().waitFor()
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('offers the request as the source of the values beside the fields, before any run', async () => {
    const { page } = visited
    await openWorkflow(visited, hooked('Source'))
    await node(page, 'hook').click()
    const section = inspector('hook').getByRole('region', { name: 'Test request' })
    await section.getByRole('button', { name: 'Listen for a test request' }).click()
    const url = (await section.getByTitle('Test address').textContent()) ?? ''
    const headers = { 'content-type': 'application/json' }
    await fetch(url, { method: 'POST', headers, body: '{"city":"Evora"}' })
    await section.getByText('"Evora"').waitFor()
    await node(page, 'end').click()
    const source = inspector('end').getByLabel('Source of run data')
    const option = source.getByRole('option', { name: /^Test request,/ })
    await source.selectOption(await option.textContent().then((label) => ({ label: label ?? '' })))
    await inspector('end').getByRole('button', { name: 'Input', exact: true }).click()
    await shot('listen-source')
    await inspector('end').getByText('{ city }').waitFor()
    await inspector('end').getByRole('button', { name: 'Input', exact: true }).click()
    await shot('listen-source')
    // The block alone uses the request as well.
    await inspector('end').getByRole('button', { name: 'Run this block' }).click()
    await ended()
    await rows().getByText('end').first().waitFor()
    await source.selectOption('')
    await inspector('end').getByText('Evora by POST').first().waitFor()
  }, 60_000)

  test('stops listening, and then refuses requests', async () => {
    const { page } = visited
    await openWorkflow(visited, hooked('Stopped'))
    await node(page, 'hook').click()
    const section = inspector('hook').getByRole('region', { name: 'Test request' })
    await section.getByRole('button', { name: 'Listen for a test request' }).click()
    const url = (await section.getByTitle('Test address').textContent()) ?? ''
    await section.getByRole('button', { name: 'Stop' }).click()
    await section.getByRole('button', { name: 'Listen for a test request' }).waitFor()
    await until(async () => (await fetch(url, { method: 'POST', body: '{}' })).status === 404)
  }, 60_000)
})

test('a chat trigger of the draft takes one real message at a test address, and replies', async () => {
  const { page, pageErrors } = visited
  await openWorkflow(visited, {
    name: 'Chatty at a test address',
    blocks: [
      block('chat', 'chat_trigger', { identifier: 'chatty-address', access: 'public' }, at(0)),
      block('end', 'function', { code: 'return `You said ${<chat.input>}`' }, at(320)),
    ],
    edges: ['chat > end'],
  })
  await node(page, 'chat').click()
  const section = inspector('chat').getByRole('region', { name: 'Test address' })
  await section.getByRole('button', { name: 'Listen for a test message' }).click()
  await section.getByText('Waiting for a message').waitFor()
  const curl = (await section.getByTitle('curl').textContent()) ?? ''
  expect(await accessibilityFaults(page)).toEqual([])
  await shot('listen-chat-waiting')
  const sent = Bun.spawn(['sh', '-c', curl], { stdout: 'pipe', stderr: 'ignore' })
  expect(await new Response(sent.stdout).json()).toMatchObject({ success: true, reply: 'You said Hello' })
  await section.getByText('"Hello"').waitFor()
  await shot('listen-chat-taken')
  await section.getByRole('button', { name: 'Run with this message' }).click()
  await ended()
  await node(page, 'end').click()
  await inspector('end').getByText('You said Hello').first().waitFor()
  expect(pageErrors).toEqual([])
}, 60_000)

test('a chat trigger of the draft runs with a test message', async () => {
  const { page } = visited
  await openWorkflow(visited, {
    name: 'Chatty',
    blocks: [
      block('chat', 'chat_trigger', { identifier: 'chatty-test' }, at(0)),
      block('end', 'function', { code: 'return `You said ${<chat.input>}`' }, at(320)),
    ],
    edges: ['chat > end'],
  })
  await node(page, 'chat').click()
  await inspector('chat').getByLabel('Test message').fill('Hello')
  await inspector('chat').getByRole('button', { name: 'Run with this text' }).click()
  await ended()
  await node(page, 'end').click()
  await inspector('end').getByText('You said Hello').first().waitFor()
}, 60_000)

test('pins and test requests fit dark and narrow screens', async () => {
  const { page } = visited
  await openWorkflow(visited, { ...quotes, name: 'Narrow' })
  await page.emulateMedia({ colorScheme: 'dark' })
  await node(page, 'draw').click()
  await page.keyboard.press('p')
  const dialog = page.getByRole('dialog', { name: 'Pin an output of draw' })
  await dialog.locator('.cm-content').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await shot('pin-dialog-dark')
  await page.setViewportSize({ width: 390, height: 844 })
  await shot('pin-dialog-390')
  const box = await dialog.boundingBox()
  expect(box && box.x >= 0 && box.x + box.width <= 390).toBe(true)
  await dialog.getByRole('button', { name: 'Pin', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await inspector('draw').getByText('Pinned', { exact: true }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await shot('pin-panel-390')
  await page.emulateMedia({ colorScheme: null })
  await page.setViewportSize({ width: 1440, height: 900 })
}, 60_000)
