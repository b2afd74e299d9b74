import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

describe('a manual run', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
    const { page, serving, apiKey } = visited
    const inputFormat = [
      { name: 'who', type: 'string', value: 'you' },
      { name: 'times', type: 'number' },
    ]
    const blocks = {
      api: { name: 'Start', type: 'api_trigger', position: { x: 0, y: 0 }, params: { inputFormat } },
      hook: { name: 'Hook', type: 'webhook_trigger', position: { x: 0, y: 200 }, params: {} },
      answer: {
        name: 'Answer',
        type: 'function',
        position: { x: 300, y: 0 },
        params: { code: 'return `Hello, ${<api.who>}.`' },
      },
      echo: { name: 'Echo', type: 'function', position: { x: 300, y: 200 }, params: { code: 'return <webhook.body>' } },
    }
    const edges = [
      { source: 'api', target: 'answer' },
      { source: 'hook', target: 'echo' },
    ]
    const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', { name: 'Two starts', blocks, edges })
    await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
    await page.locator('.react-flow__node').first().waitFor()
  }, 120_000)
  afterAll(() => visited.close())

  const write = async (text: string) => {
    const { page } = visited
    await page.getByRole('dialog').getByLabel('Input', { exact: true }).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText(text)
  }
  const output = () => visited.page.getByRole('region', { name: 'Output' })

  test('accepts custom input, reports what does not fit, and keeps what was typed', async () => {
    const { page, pageErrors } = visited
    const dialog = page.getByRole('dialog', { name: 'Run with custom input' })
    await page.getByRole('button', { name: 'Run with custom input' }).click()
    await dialog.getByLabel('Input', { exact: true }).getByText('"you"').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await write('{ "who": ')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.getByRole('alert').getByText('The input is not valid JSON').waitFor()
    await write('{ "who": "Ada", "times": "many" }')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.getByRole('alert').getByText('times').waitFor()
    await write('{ "who": "Ada", "times": 2 }')
    await dialog.getByRole('button', { name: 'Run', exact: true }).click()
    await dialog.waitFor({ state: 'detached' })
    await output().getByText('"Hello, Ada."').waitFor()
    await page.keyboard.press('Control+Shift+Enter')
    await dialog.getByLabel('Input', { exact: true }).getByText('"Ada"').waitFor()
    expect(pageErrors).toEqual([])
  }, 120_000)

  test('starts with the selected trigger', async () => {
    const { page } = visited
    const dialog = page.getByRole('dialog', { name: 'Run with custom input' })
    await dialog.getByLabel('Trigger').selectOption('Hook')
    await dialog.getByLabel('Input', { exact: true }).getByText('"method"').waitFor()
    await write('{ "body": { "order": 17 } }')
    await page.keyboard.press('Control+Enter')
    await dialog.waitFor({ state: 'detached' })
    await output().getByText('17').waitFor()
  }, 120_000)

  test('starts from within the code editor without changing the code', async () => {
    const { page } = visited
    await node(page, 'Answer').click()
    const code = page.getByRole('complementary', { name: 'Block Answer' }).getByLabel('Code')
    await code.and(page.locator('.cm-content')).click()
    await page.keyboard.press('Control+Enter')
    await output().getByText('"Hello, you."').waitFor()
    expect(await page.getByRole('status').getByText('Saved', { exact: true }).count()).toBe(1)
  }, 120_000)
})

describe('a run of a draft that the API starts', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  test('asks for required fields without a value, and for fields that are only read', async () => {
    const { page, pageErrors } = visited
    const dialog = page.getByRole('dialog', { name: 'Run with custom input' })
    const output = page.getByRole('region', { name: 'Output' })
    const run = () => page.getByRole('button', { name: 'Run', exact: true }).click()
    const draft = (name: string, read: string, params: object = {}): Draft => ({
      name,
      blocks: [
        block('start', 'api_trigger', { ...params }, { position: { x: 0, y: 0 } }),
        block('end', 'function', { code: `return 'Hi ' + ${read}` }, { position: { x: 320, y: 0 } }),
      ],
      edges: ['start > end'],
    })
    await openWorkflow(
      visited,
      draft('Required', '<start.who>', { inputFormat: [{ name: 'who', type: 'string', required: true }] }),
    )
    await run()
    await dialog.getByText('Required fields have no value.').waitFor()
    await page.keyboard.press('Control+Enter')
    await output.getByText('Hi text').waitFor()

    await openWorkflow(visited, draft('Only read', '<start.input.who>'))
    await run()
    await dialog.getByText('Blocks read fields of the input.').waitFor()
    await dialog.getByLabel('Input', { exact: true }).getByText('"who"').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Control+Enter')
    await output.getByText('Hi text').waitFor()

    await openWorkflow(
      visited,
      draft('Given', '<start.who>', { inputFormat: [{ name: 'who', type: 'string', value: 'you' }] }),
    )
    await run()
    await output.getByText('Hi you').waitFor()
    expect(await dialog.count()).toBe(0)
    expect(pageErrors).toEqual([])
  }, 60_000)
})

describe('a run of a draft that a webhook starts', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  const dialog = () => visited.page.getByRole('dialog', { name: 'Run with custom input' })
  const input = () => dialog().getByLabel('Input', { exact: true })
  const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()
  const output = () => visited.page.getByRole('region', { name: 'Output' })
  const hooked = (name: string, code: string, path = crypto.randomUUID()): Draft => ({
    name,
    blocks: [
      block('hook', 'webhook_trigger', { path, authentication: { type: 'none' } }, { position: { x: 0, y: 0 } }),
      block('end', 'function', { code }, { position: { x: 320, y: 0 } }),
    ],
    edges: ['hook > end'],
  })

  test('asks for the request that its blocks read, with an example, the latest logged one, or a real one', async () => {
    const { page, serving, apiKey, pageErrors } = visited
    const path = crypto.randomUUID()
    const id = await openWorkflow(visited, hooked('Asks', 'return `${<hook.body.city>} by ${<hook.method>}`', path))
    await run()
    await dialog().getByText('An example with the fields that blocks read').waitFor()
    await input().getByText('"city"').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await shot('run-webhook')
    await page.keyboard.press('Control+Enter')
    await dialog().waitFor({ state: 'detached' })
    await output().getByText('"text by POST"').waitFor()

    // A run of a part lacks the request as well.
    await node(page, 'end').click()
    await page.getByRole('complementary', { name: 'Block end' }).getByRole('button', { name: 'Block actions' }).click()
    await page.getByRole('menuitem', { name: 'Run up to this block' }).click()
    const test = dialog().getByRole('region', { name: 'Test request' })
    await test.getByRole('button', { name: 'Listen for a test request' }).click()
    const headers = { 'content-type': 'application/json' }
    const url = (await test.getByTitle('Test address').textContent()) ?? ''
    await fetch(url, { method: 'POST', headers, body: '{"city":"Braga"}' })
    await test.getByRole('button', { name: 'Run with this request' }).click()
    await dialog().waitFor({ state: 'detached' })
    await output().getByText('"Braga by POST"').waitFor()

    await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST', {})
    await fetch(`${serving.url}/api/webhooks/trigger/${path}`, { method: 'POST', headers, body: '{"city":"Faro"}' })
    const logs = `${serving.url}/api/v1/logs?workspaceId=${visited.workspaceId}&workflowIds=${id}&triggers=webhook`
    await until(async () => ((await call(logs, apiKey)).body as { data: unknown[] }).data.length > 0)
    await page.reload()
    await node(page, 'end').waitFor()
    await run()
    await dialog().getByText('The latest logged request').waitFor()
    await input().getByText('"Faro"').waitFor()
    await shot('run-webhook-logged')
    await dialog().getByRole('button', { name: 'Run', exact: true }).click()
    await output().getByText('"Faro by POST"').waitFor()
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('starts at once when no block reads the request', async () => {
    await openWorkflow(visited, hooked('Asks nothing', 'return "Called"'))
    await run()
    await output().getByText('"Called"').waitFor()
    expect(await dialog().count()).toBe(0)
  }, 60_000)

  const shot = async (name: string) => {
    const folder = process.env['SHOTS']
    if (folder) await visited.page.screenshot({ path: `${folder}/${name}.png` })
  }
})

describe('a run of a draft that a chat starts', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  const dialog = () => visited.page.getByRole('dialog', { name: 'Run with a message' })
  const run = () => visited.page.getByRole('button', { name: 'Run', exact: true }).click()
  const output = () => visited.page.getByRole('region', { name: 'Output' })
  const talk = (name: string, code: string): Draft => ({
    name,
    blocks: [
      block('talk', 'chat_trigger', { identifier: crypto.randomUUID() }, { position: { x: 0, y: 0 } }),
      block('end', 'function', { code }, { position: { x: 320, y: 0 } }),
    ],
    edges: ['talk > end'],
  })

  test('asks for the message that its blocks read, and offers the latest one again', async () => {
    const { page, pageErrors } = visited
    await openWorkflow(visited, talk('Asks for a message', 'return `You said ${<chat.input>}.`'))
    await run()
    const message = dialog().getByLabel('Message')
    await until(async () => await message.evaluate((field) => field === document.activeElement))
    expect(await dialog().getByRole('button', { name: 'Run', exact: true }).isDisabled()).toBe(true)
    await page.keyboard.type('Hello')
    await page.keyboard.press('Shift+Enter')
    await page.keyboard.type('there')
    expect(await accessibilityFaults(page)).toEqual([])
    await page.keyboard.press('Enter')
    await dialog().waitFor({ state: 'detached' })
    await output()
      .getByText(/You said Hello\W+there\./)
      .waitFor()

    await run()
    expect(await message.inputValue()).toBe('Hello\nthere')
    await until(async () => await message.evaluate((field) => field === document.activeElement))
    await page.keyboard.type('Again')
    await page.keyboard.press('Enter')
    await output().getByText('You said Again.').waitFor()
    expect(pageErrors).toEqual([])
  }, 60_000)

  test('starts at once when no block reads the message', async () => {
    await openWorkflow(visited, talk('Asks for no message', 'return "Called"'))
    await run()
    await output().getByText('"Called"').waitFor()
    expect(await dialog().count()).toBe(0)
  }, 60_000)
})
