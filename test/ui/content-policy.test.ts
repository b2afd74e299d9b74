import { afterAll, beforeAll, expect, setDefaultTimeout, test } from 'bun:test'
import type { Browser, BrowserContext } from 'playwright-core'
import '../support/built.ts'
import { temporaryFolder } from '../support/executable.ts'
import { block, document as draft } from '../support/make.ts'
import { call, deploy, type Serving, serve } from '../support/running-service.ts'
import { launch, listen, timeoutMs } from '../support/ui/browser.ts'
import { node } from '../support/ui/editor-page.ts'

setDefaultTimeout(120_000)

let folder: ReturnType<typeof temporaryFolder>
let service: Serving
let browser: Browser
let context: BrowserContext
let workspaceId: string
let workflowId: string
/** A host name on plain http, where browsers do not say what they load a file for. */
let origin: string

/** A workflow that responds with the text of the query as a file of this type. */
const served = (path: string, type: string) => {
  const headers = [{ key: 'Content-Type', value: type }]
  const blocks = [
    block('hook', 'webhook_trigger', { path, methods: ['GET'], respond: 'workflow' }),
    block('answer', 'response', { data: '<hook.query.text>', headers }),
  ]
  return draft({ name: path, blocks, edges: ['hook > answer'] })
}

const script = '/api/webhooks/trigger/script?text=globalThis.isForeign=true'
const style = '/api/webhooks/trigger/style?text=p{color:red}'

beforeAll(async () => {
  folder = temporaryFolder()
  service = await serve(folder.path)
  const printed = (pattern: RegExp) => pattern.exec(service.output())?.[1] ?? ''
  const apiKey = printed(/API key\s+(\S+)/)
  workspaceId = printed(/Workspace\s+(\S+)/)
  await deploy(service.url, apiKey, served('script', 'text/javascript'))
  await deploy(service.url, apiKey, served('style', 'text/css'))
  const talk = [block('talk', 'chat_trigger', { identifier: 'help', access: 'public' })]
  await deploy(service.url, apiKey, draft({ name: 'Help', blocks: talk, edges: [] }))
  const blocks = [block('start', 'api_trigger'), block('think', 'function', { code: 'return 1' })]
  const endpoint = await deploy(service.url, apiKey, draft({ name: 'Order', blocks, edges: ['start > think'] }))
  workflowId = endpoint.split('/').at(-2) ?? ''
  await call(endpoint, apiKey, 'POST', {})
  browser = await launch(['--host-resolver-rules=MAP millrace.test 127.0.0.1'])
  origin = service.url.replace('127.0.0.1', 'millrace.test')
  context = await browser.newContext({ viewport: { width: 1440, height: 900 } })
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  await page.goto(`${origin}/sign-in?token=${printed(/sign-in\?token=(\S+)/)}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  await page.close()
}, 120_000)
afterAll(async () => {
  await browser?.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

test('every screen loads all of its scripts and styles', async () => {
  const page = await context.newPage()
  const complaints = () => errors.filter((text) => !text.startsWith('The Cross-Origin-Opener-Policy header'))
  const errors = listen(page)
  const scripts = new Set<string>()
  page.on('response', (response) => {
    if (response.url().endsWith('.js')) scripts.add(new URL(response.url()).pathname)
  })
  const home = `/w/${workspaceId}`
  const sections = ['keys', 'account', 'environment', 'workspace', 'usage', 'about']
  const screens = [`${home}/workflows`, `${home}/logs`, `/workflows/${workflowId}/webhooks`, '/docs', '/docs/security']
  for (const path of [...screens, ...sections.map((name) => `${home}/settings/${name}`)]) {
    await page.goto(origin + path)
    await page.getByRole('heading', { level: 1 }).waitFor()
    await page.waitForLoadState('networkidle')
    expect([path, complaints()]).toEqual([path, []])
  }

  await page.goto(`${origin}${home}/logs`)
  await page.getByRole('row').nth(1).click()
  await page.getByRole('complementary', { name: 'Log entry' }).waitFor()

  await page.goto(`${origin}/workflows/${workflowId}`)
  await node(page, 'think').click()
  await page.locator('.cm-content').first().waitFor()

  await page.goto(`${origin}/docs`)
  await page.keyboard.press('/')
  await page.keyboard.type('cookie')
  await page.getByRole('list', { name: 'Search results' }).getByRole('link').first().waitFor()

  await page.goto(`${origin}/chat/help`)
  await page.getByRole('textbox').waitFor()

  await page.goto(`${origin}/swagger`)
  await page.getByRole('heading', { name: 'Millrace' }).first().waitFor()
  expect(complaints()).toEqual([])
  // Lazy files are among them, so the policy allows dynamic imports.
  expect(scripts.size).toBeGreaterThan(12)
  await page.close()
})

for (const path of ['/', '/docs', '/chat/help', '/form/help', '/swagger']) {
  test(`${path} refuses a script that a workflow serves from the same origin`, async () => {
    const page = await context.newPage()
    await page.goto(origin + path)
    const outcome = await page.evaluate(async (url) => {
      const violations: string[] = []
      document.addEventListener('securitypolicyviolation', ({ effectiveDirective, blockedURI }) => {
        violations.push(`${effectiveDirective} ${new URL(blockedURI).pathname}`)
      })
      const isLoaded = await import(url).then(
        () => true,
        () => false,
      )
      return { isLoaded, isForeign: 'isForeign' in globalThis, violations }
    }, origin + script)
    expect(outcome).toEqual({
      isLoaded: false,
      isForeign: false,
      violations: ['script-src-elem /api/webhooks/trigger/script'],
    })
    await page.close()
  })
}

test('the dashboard refuses a style sheet that a workflow serves from the same origin', async () => {
  const page = await context.newPage()
  await page.goto(`${origin}/`)
  const outcome = await page.evaluate(async (href) => {
    const link = Object.assign(document.createElement('link'), { rel: 'stylesheet', href })
    const { promise, resolve } = Promise.withResolvers<string>()
    link.onload = () => resolve('loaded')
    link.onerror = () => resolve('refused')
    document.head.append(link)
    return await promise
  }, origin + style)
  expect(outcome).toBe('refused')
  await page.close()
})

test('the service serves these files to other programs', async () => {
  const response = await fetch(service.url + script)
  expect([response.status, response.headers.get('content-type'), await response.text()]).toEqual([
    200,
    'text/javascript',
    'globalThis.isForeign=true',
  ])
})
