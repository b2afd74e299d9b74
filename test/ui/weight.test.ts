import { afterAll, beforeAll, expect, test } from 'bun:test'
import { call } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'

let visited: Visit
let cookies: Awaited<ReturnType<Visit['context']['cookies']>>
beforeAll(async () => {
  visited = await visit()
  cookies = await visited.context.cookies()
}, 120_000)
afterAll(() => visited.close())

/** Bytes received until the page is idle, or shows an element, including headers. */
async function bytesOf(go: () => Promise<unknown>, element?: string): Promise<{ all: number; scripts: number }> {
  const session = await visited.context.newCDPSession(visited.page)
  await session.send('Network.enable')
  const scripts = new Set<string>()
  const bytes = { all: 0, scripts: 0 }
  session.on('Network.responseReceived', ({ requestId, type }) => {
    if (type === 'Script') scripts.add(requestId)
  })
  session.on('Network.loadingFinished', ({ requestId, encodedDataLength }) => {
    bytes.all += encodedDataLength
    if (scripts.has(requestId)) bytes.scripts += encodedDataLength
  })
  await go()
  // On a busy machine the page may be idle before it has requested everything.
  await visited.page
    .locator(element ?? 'h1')
    .first()
    .waitFor()
  // The stream of an editor never ends.
  if (element === undefined) await visited.page.waitForLoadState('networkidle')
  await session.detach()
  return bytes
}

test('screens load at most 400 kB of scripts at first, and less than 10 kB the second time', async () => {
  const { page, serving, workspaceId, browser } = visited
  for (const path of ['workflows', 'logs', 'settings/keys', 'settings/usage']) {
    // A new context has no cached files from earlier screens.
    visited.context = await browser.newContext()
    await visited.context.addCookies(cookies)
    visited.page = await visited.context.newPage()
    const first = await bytesOf(() => visited.page.goto(`${serving.url}/w/${workspaceId}/${path}`))
    const second = await bytesOf(() => visited.page.reload())
    expect([path, first.scripts > 50_000, first.scripts <= 400_000]).toEqual([path, true, true])
    expect([path, second.all < 10_000, second.scripts]).toEqual([path, true, 0])
    await visited.context.close()
  }
  expect(await page.title()).toBeString()
}, 120_000)

test('the editor loads at most 400 kB of scripts at first, and none the second time', async () => {
  const { serving, browser, apiKey, workspaceId } = visited
  const list = await call(`${serving.url}/api/workflows?workspaceId=${workspaceId}`, apiKey)
  const [workflow] = (list.body as { data: { id: string }[] }).data
  visited.context = await browser.newContext()
  await visited.context.addCookies(cookies)
  visited.page = await visited.context.newPage()
  const card = '.react-flow__node'
  const first = await bytesOf(() => visited.page.goto(`${serving.url}/workflows/${workflow!.id}`), card)
  expect([first.scripts > 200_000, first.scripts <= 400_000]).toEqual([true, true])
  expect((await bytesOf(() => visited.page.reload(), card)).scripts).toBe(0)
  await visited.context.close()
}, 120_000)
