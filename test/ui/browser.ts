import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { temporaryFolder } from '../executable.ts'
import { programPath } from '../programs.ts'
import { type Serving, serve } from '../running-service.ts'

/** The executable on a folder of its own, and a browser that is signed in to it. */
export type Visit = {
  serving: Serving
  browser: Browser
  context: BrowserContext
  page: Page
  /** Of the first start. */
  apiKey: string
  workspaceId: string
  /** The data folder. */
  data: string
  /** What the page complained about: errors of scripts, and all that its policy refused. */
  complaints: string[]
  close(): Promise<void>
}

/** What a page on a busy machine may take for anything. */
export const patienceMs = 60_000

/** Debian's Chromium, talking to nobody but the page's own server. */
export async function launch(): Promise<Browser> {
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update']
  return await chromium.launch({
    executablePath: programPath('chromium'),
    args: ['--headless', '--no-sandbox', '--disable-gpu', ...quiet, '--disable-sync'],
  })
}

/** Starts the service, opens the link that its first start prints, and waits until the page shows who is signed in. */
export async function visit(
  options: { environment?: Record<string, string>; viewport?: { width: number; height: number } } = {},
): Promise<Visit> {
  const folder = temporaryFolder()
  const serving = await serve(folder.path, options.environment)
  const printed = (pattern: RegExp) => pattern.exec(serving.output())?.[1] ?? ''
  const browser = await launch()
  const context = await browser.newContext({ viewport: options.viewport ?? { width: 1440, height: 900 } })
  context.setDefaultTimeout(patienceMs)
  const page = await context.newPage()
  const complaints = listen(page)
  await page.goto(`${serving.url}/sign-in?token=${printed(/sign-in\?token=(\S+)/)}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  return {
    ...{ serving, browser, context, page, complaints },
    apiKey: printed(/API key\s+(\S+)/),
    workspaceId: printed(/Workspace\s+(\S+)/),
    data: folder.path,
    async close() {
      await browser.close()
      await serving.kill('SIGTERM')
      folder[Symbol.dispose]()
    },
  }
}

/** Gathers errors of a page's scripts and what its policy refuses. Answers that are not 2xx are the page's business. */
export function listen(page: Page): string[] {
  const complaints: string[] = []
  page.on('pageerror', (error) => complaints.push(error.message))
  page.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) complaints.push(message.text())
  })
  return complaints
}
