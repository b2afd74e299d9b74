import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext, Page } from 'playwright-core'
import '../support/built.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../support/models/model-server.ts'
import { deploy, type Serving, serve } from '../support/running-service.ts'
import { launch, listen, timeoutMs } from '../support/ui/browser.ts'
import { accessibilityFaults } from './accessibility.ts'

setDefaultTimeout(120_000)

let folder: ReturnType<typeof temporaryFolder>
let installation: { apiKey: string; workspaceId: string }
let service: Serving
let model: ModelServer
let browser: Browser
let response: (question: string) => ScriptedResponse = (question) => ({ text: [`You said: ${question}`] })

beforeAll(async () => {
  folder = temporaryFolder()
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  const printed = (pattern: RegExp) => pattern.exec(service.output())?.[1] ?? ''
  installation = { apiKey: printed(/API key\s+(\S+)/), workspaceId: printed(/Workspace\s+(\S+)/) }
  model = await ModelServer.start(({ body }) => {
    const messages = body['messages'] as { content: string }[]
    return response(messages.at(-1)?.content ?? '')
  })
  browser = await launch()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.kill('SIGTERM')
  await model?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

let names = 0
async function chat(params: Record<string, unknown> = {}): Promise<string> {
  names += 1
  const identifier = `chat-${names}`
  const asked = { provider: 'openai-compatible', model: 'm', baseUrl: model.url, retries: 0 }
  const blocks = [
    block('talk', 'chat_trigger', { identifier, access: 'public', ...params }),
    block('ask', 'agent', { ...asked, userPrompt: '<chat.input>' }),
  ]
  await deploy(service.url, installation.apiKey, document({ name: identifier, blocks, edges: ['talk > ask'] }))
  return `${service.url}/chat/${identifier}`
}

type Visit = { page: Page; context: BrowserContext; problems: string[] } & AsyncDisposable

async function visit(url: string, options: Parameters<Browser['newContext']>[0] = {}): Promise<Visit> {
  const context = await browser.newContext(options)
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  const problems = listen(page)
  await page.goto(url)
  return { page, context, problems, [Symbol.asyncDispose]: () => context.close() }
}

const messages = (page: Page) => page.locator('#messages > li .chat-text')
const lastMessage = (page: Page) => messages(page).last()
/** Waits until the reply is complete and stored; its last word is shown earlier. */
const whenReplied = (page: Page) => page.getByRole('button', { name: 'Send' }).waitFor()

test('the chat works by keyboard alone and shows the reply while it is written', async () => {
  await using visited = await visit(await chat({ title: 'Ask us', greeting: 'How can we help?' }))
  const { page, problems } = visited
  await page.getByText('How can we help?').waitFor()
  expect(await page.title()).toBe('Ask us')
  const gate = Promise.withResolvers<void>()
  const gates = [Promise.resolve(), gate.promise]
  response = () => ({ text: ['Once upon', ' a time.'], gate: () => gates.shift() ?? Promise.resolve() })
  await page.keyboard.type('Tell me')
  await page.keyboard.press('Shift+Enter')
  await page.keyboard.type('a story')
  await page.keyboard.press('Enter')
  await page.getByText('Once upon').waitFor()
  expect(await lastMessage(page).textContent()).toBe('Once upon')
  expect(await page.getByRole('button', { name: 'Stop' }).isVisible()).toBe(true)
  gate.resolve()
  await page.getByText('Once upon a time.').waitFor()
  await whenReplied(page)
  expect(await messages(page).nth(1).textContent()).toBe('Tell me\na story')
  expect(await page.locator(':focus').getAttribute('id')).toBe('message')
  expect(problems).toEqual([])
})

test('the conversation survives a reload, and a new one can be started', async () => {
  const counting = ({ length }: { length: number }) => ({ text: [`${length} messages`] })
  await using visited = await visit(await chat())
  const { page } = visited
  const send = async (text: string) => {
    response = () => counting(model.requests.at(-1)?.body['messages'] as { length: number })
    await page.fill('#message', text)
    await page.keyboard.press('Enter')
    await whenReplied(page)
  }
  await send('One')
  await page.getByText('1 messages').waitFor()
  await page.reload()
  await page.getByText('1 messages').waitFor()
  await send('Two')
  await page.getByText('3 messages').waitFor()
  await page.getByRole('button', { name: 'New chat' }).click()
  await messages(page).first().waitFor({ state: 'detached' })
  await send('Three')
  await page.getByText('1 messages').waitFor()
})

test('markup in messages, replies, titles and greetings is shown as text', async () => {
  const markup = '<img src=x onerror="document.title=1"><b>bold</b><script>document.title=2</script>'
  await using visited = await visit(await chat({ title: markup, greeting: markup }))
  const { page, problems } = visited
  response = (question) => ({ text: [question.slice(0, 10), question.slice(10)] })
  await page.fill('#message', markup)
  await page.keyboard.press('Enter')
  await messages(page).nth(2).filter({ hasText: 'bold' }).waitFor()
  await whenReplied(page)
  expect(await messages(page).allTextContents()).toEqual([markup, markup, markup])
  expect(await page.locator('main img, main b, main script, h1 *').count()).toBe(0)
  expect(await page.title()).toBe(markup)
  expect(problems).toEqual([])
})

test('the password is requested, requested again when wrong, and remembered by the tab', async () => {
  await using visited = await visit(await chat({ access: 'password', password: 'Schlüssel' }))
  const { page } = visited
  response = () => ({ text: ['Welcome'] })
  expect(await page.locator('#composer').isVisible()).toBe(false)
  await page.getByLabel('Password').fill('guess')
  await page.keyboard.press('Enter')
  await page.fill('#message', 'Hello')
  await page.keyboard.press('Enter')
  await page.getByText('The password is wrong.').waitFor()
  await page.getByLabel('Password').fill('Schlüssel')
  await page.keyboard.press('Enter')
  // The typed message is still there.
  expect(await page.inputValue('#message')).toBe('Hello')
  await page.keyboard.press('Enter')
  await whenReplied(page)
  await page.reload()
  await page.getByText('Welcome').waitFor()
  expect(await page.locator('#composer').isVisible()).toBe(true)
})

test('somebody signed in to the dashboard needs no API key', async () => {
  await using visited = await visit(`${service.url}/${/sign-in\?token=\S+/.exec(service.output())?.[0]}`)
  const { page } = visited
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  await page.goto(await chat({ access: 'key' }))
  response = () => ({ text: ['Welcome'] })
  await page.fill('#message', 'Hello')
  await page.keyboard.press('Enter')
  await page.getByText('Welcome').waitFor()
})

test('an error is shown, and the message can be sent again', async () => {
  await using visited = await visit(await chat({ access: 'key' }))
  const { page } = visited
  await page.getByLabel('API key').fill(installation.apiKey)
  await page.keyboard.press('Enter')
  response = () => ({ status: 400, said: 'out of tea' })
  await page.fill('#message', 'Hello')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await page.getByRole('alert').textContent()).toContain('out of tea')
  response = () => ({ text: ['Here you are'] })
  await page.getByRole('button', { name: 'Try again' }).click()
  await page.getByText('Here you are').waitFor()
  expect(await messages(page).count()).toBe(2)
})

test('stopping a reply cancels its run', async () => {
  await using visited = await visit(await chat())
  const { page } = visited
  response = () => ({ text: ['A long'], trouble: 'hang' })
  const before = model.requests.length
  await page.fill('#message', 'Hello')
  await page.keyboard.press('Enter')
  await page.getByRole('button', { name: 'Stop' }).waitFor()
  while (model.requests.length === before) await Bun.sleep(1)
  const { left } = model.requests.at(-1) as { left: Promise<void> }
  await page.keyboard.press('Escape')
  await whenReplied(page)
  await left
})

test('files are sent with the message', async () => {
  await using visited = await visit(await chat())
  const { page } = visited
  response = () => ({ text: ['Thank you'] })
  await page.setInputFiles('#attach', { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') })
  await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor()
  await page.fill('#message', 'Read this')
  await page.keyboard.press('Enter')
  await page.getByText('Thank you').waitFor()
  await whenReplied(page)
  const path = `${service.url}/api/v1/logs?workspaceId=${installation.workspaceId}&limit=1`
  const { data } = await (await fetch(path, { headers: { 'x-api-key': installation.apiKey } })).json()
  expect(data[0].files).toMatchObject([{ name: 'notes.txt', size: 5 }])
})

test('on a phone nothing is wider than the screen, and buttons are large enough to tap', async () => {
  const phone = { viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true }
  await using visited = await visit(await chat({ title: 'A rather long title for such a small screen' }), phone)
  const { page } = visited
  response = () => ({ text: [`https://example.com/${'x'.repeat(300)}`] })
  await page.fill('#message', 'Where?')
  await page.getByRole('button', { name: 'Send' }).tap()
  await page.getByText('https://example.com').waitFor()
  expect(await page.locator('html').evaluate(({ scrollWidth }) => scrollWidth)).toBe(390)
  for (const name of ['Send', 'New chat']) {
    const box = await page.getByRole('button', { name }).boundingBox()
    expect(box?.height).toBeGreaterThanOrEqual(36)
  }
})

test.each(['light', 'dark'] as const)('the chat page is accessible in %s', async (colorScheme) => {
  await using visited = await visit(await chat({ access: 'key', greeting: 'Hello' }), { colorScheme })
  const { page } = visited
  expect(await accessibilityFaults(page)).toEqual([])
  await page.getByLabel('API key').fill(installation.apiKey)
  await page.keyboard.press('Enter')
  await page.setInputFiles('#attach', { name: 'notes.txt', mimeType: 'text/plain', buffer: Buffer.from('Hello') })
  await page.getByRole('button', { name: 'Remove notes.txt' }).waitFor()
  response = () => ({ status: 400 })
  await page.fill('#message', 'Hello')
  await page.keyboard.press('Enter')
  await page.getByRole('alert').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
})

test('a URL without a chat says so', async () => {
  await using visited = await visit(`${service.url}/chat/nowhere`)
  await visited.page.getByText('No chat was found at this URL.').waitFor()
  expect((await fetch(`${service.url}/chat/nowhere`)).status).toBe(404)
})

test('the page loads only its own files', async () => {
  const { headers } = await fetch(await chat())
  const policy = headers.get('content-security-policy') ?? ''
  expect(policy).toContain("script-src 'self'")
  expect(policy).toContain("frame-ancestors 'none'")
  expect(policy).not.toContain('unsafe')
  expect(headers.get('x-content-type-options')).toBe('nosniff')
})

test('the reply of a run that asks a person appears when the person has answered, also after a reload', async () => {
  const identifier = 'chat-with-a-person'
  const blocks = [
    block('talk', 'chat_trigger', { identifier, access: 'public' }),
    block('person', 'approval', { title: 'May we?' }),
    block('reply', 'function', { code: 'return <person.approved> ? "They said yes." : "They said no."' }),
  ]
  const edges = ['talk > person', 'person > reply']
  await deploy(service.url, installation.apiKey, document({ name: identifier, blocks, edges }))
  await using visitor = await visit(`${service.url}/chat/${identifier}`, { viewport: { width: 390, height: 800 } })
  const { page, problems } = visitor
  await page.getByLabel('Message').fill('May I?')
  await page.keyboard.press('Enter')
  await page.getByText('It will appear here.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.reload()
  await page.getByText('It will appear here.').waitFor()
  const headers = { 'x-api-key': installation.apiKey, 'content-type': 'application/json' }
  const list = `${service.url}/api/workspaces/${installation.workspaceId}/pauses`
  const { data } = (await (await fetch(list, { headers })).json()) as { data: { contextId: string }[] }
  const detail = (await (await fetch(`${list}/${data[0]!.contextId}`, { headers })).json()) as { callbackUrl: string }
  await fetch(detail.callbackUrl, { method: 'POST', headers, body: '{}' })
  await page.getByText('They said yes.').waitFor()
  await page.reload()
  await page.getByText('They said yes.').waitFor()
  expect(await page.getByText('It will appear here.').count()).toBe(0)
  expect(problems).toEqual([])
})
