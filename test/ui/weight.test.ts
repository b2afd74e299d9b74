import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Visit, visit } from '../support/ui/browser.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

/** Bytes received until the page is idle, including headers. */
async function bytesOf(go: () => Promise<unknown>): Promise<{ all: number; scripts: number }> {
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
  await visited.page.getByRole('heading', { level: 1 }).waitFor()
  await visited.page.waitForLoadState('networkidle')
  await session.detach()
  return bytes
}

test('screens load at most 400 kB of scripts at first, and less than 10 kB the second time', async () => {
  const { page, serving, workspaceId, browser } = visited
  const cookies = await visited.context.cookies()
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
