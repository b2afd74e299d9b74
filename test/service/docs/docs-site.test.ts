import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { readPages } from '../../../scripts/docs/pages.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Serving, serve } from '../../support/running-service.ts'

const pages = readPages((name) => name).flatMap((group) => group.pages)
let folder: ReturnType<typeof temporaryFolder>
let service: Serving
beforeAll(async () => {
  folder = temporaryFolder()
  service = await serve(folder.path)
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

const get = (path: string, headers: Record<string, string> = {}) => fetch(`${service.url}${path}`, { headers })

test('the list of pages and every page are served without a key', async () => {
  const list = await (await get('/docs')).text()
  for (const { name, title } of pages) {
    expect(list).toContain(`href="/docs/${name}"`)
    const response = await get(`/docs/${name}`)
    const facts = [name, response.status, response.headers.get('content-type')]
    expect(facts).toEqual([name, 200, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain(`<title>${Bun.escapeHTML(title)} · Millrace</title>`)
  }
})

test('the list of pages is in reading order, and each page links to the previous and the next one', async () => {
  for (const [index, { name }] of pages.entries()) {
    const html = await (await get(`/docs/${name}`)).text()
    const near = (rel: string) => new RegExp(`rel="${rel}" href="/docs/([^"]+)"`).exec(html)?.[1]
    expect([name, near('prev'), near('next')]).toEqual([name, pages[index - 1]?.name, pages[index + 1]?.name])
  }
})

test('an unknown page returns a 404 page with a link back', async () => {
  for (const path of ['/docs/nothing', '/docs/constructor', '/docs/%00', '/docs/..%2fchat']) {
    const response = await get(path)
    const facts = [path, response.status, response.headers.get('content-type')]
    expect(facts).toEqual([path, 404, 'text/html; charset=utf-8'])
    expect(await response.text()).toContain('Page not found')
  }
})

test('a page loads nothing from other hosts, and has no inline script or style', async () => {
  for (const path of ['/docs', '/docs/nothing', ...pages.map(({ name }) => `/docs/${name}`)]) {
    const response = await get(path)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'self'; script-src 'self'; style-src 'self'")
    const html = await response.text()
    const loaded = [...html.matchAll(/<(?:script|link|img)\b[^>]*?\s(?:src|href)="([^"]*)"/g)].map((match) => match[1]!)
    expect(loaded.length).toBeGreaterThan(4)
    expect([path, loaded.filter((address) => !address.startsWith('/assets/'))]).toEqual([path, []])
    expect([path, /<style|\sstyle=|\son[a-z]+="|<script(?![^>]*\ssrc=)/.exec(html)?.[0]]).toEqual([path, undefined])
    for (const address of new Set(loaded)) expect([address, (await get(address)).status]).toEqual([address, 200])
  }
})

test('a browser may cache the files of a page, but must revalidate the page', async () => {
  const first = await get('/docs', { 'accept-encoding': 'br' })
  expect([first.headers.get('cache-control'), first.headers.get('content-encoding')]).toEqual(['no-cache', 'br'])
  const again = await get('/docs', { 'if-none-match': first.headers.get('etag')! })
  expect([again.status, await again.text()]).toEqual([304, ''])
  const index = /data-index="([^"]+)"/.exec(await first.text())![1]!
  const { headers } = await get(index)
  expect(headers.get('cache-control')).toBe('public, max-age=31536000, immutable')
})

test('the search index contains every heading', async () => {
  const html = await (await get('/docs')).text()
  const entries = (await (await get(/data-index="([^"]+)"/.exec(html)![1]!)).json()) as { address: string }[]
  const addresses = new Set(entries.map(({ address }) => address))
  for (const { name, headings } of pages) {
    expect(addresses).toContain(`/docs/${name}`)
    for (const { anchor } of headings) expect(addresses).toContain(`/docs/${name}#${anchor}`)
  }
})
