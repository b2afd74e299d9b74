import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { temporaryFolder } from '../executable.ts'
import { programPath } from '../programs.ts'
import { type Serving, serve } from '../running-service.ts'

/** The executable with its own data folder, and a signed-in browser. */
export type Visit = {
  serving: Serving
  browser: Browser
  context: BrowserContext
  page: Page
  /** The API key of the first start. */
  apiKey: string
  workspaceId: string
  /** The data folder. */
  data: string
  /** Script errors and everything the page's policy refused. */
  pageErrors: string[]
  close(): Promise<void>
}

/** The time limit for page actions on a busy machine. */
export const timeoutMs = 30_000

/** Debian's Chromium, without any background connections. */
export async function launch(more: readonly string[] = []): Promise<Browser> {
  const quiet = ['--disable-quic', '--no-first-run', '--disable-background-networking', '--disable-component-update']
  return await chromium.launch({
    executablePath: programPath('chromium'),
    args: ['--headless', '--no-sandbox', '--disable-gpu', ...quiet, '--disable-sync', ...more],
  })
}

/** Starts the service, opens the sign-in link it prints, and waits until the page shows the account. */
export async function visit(
  options: { environment?: Record<string, string>; viewport?: { width: number; height: number } } = {},
): Promise<Visit> {
  const folder = temporaryFolder()
  const serving = await serve(folder.path, options.environment)
  const printed = (pattern: RegExp) => pattern.exec(serving.output())?.[1] ?? ''
  const browser = await launch()
  const context = await browser.newContext({ viewport: options.viewport ?? { width: 1440, height: 900 } })
  context.setDefaultTimeout(timeoutMs)
  const page = await context.newPage()
  const pageErrors = listen(page)
  await page.goto(`${serving.url}/sign-in?token=${printed(/sign-in\?token=(\S+)/)}`)
  await page.getByRole('button', { name: /^Account/ }).waitFor()
  return {
    ...{ serving, browser, context, page, pageErrors },
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

/** Collects script errors and policy violations of a page. HTTP error statuses are not included. */
export function listen(page: Page): string[] {
  const pageErrors: string[] = []
  page.on('pageerror', (error) => pageErrors.push(error.message))
  page.on('console', (message) => {
    const isAnswer = message.text().startsWith('Failed to load resource')
    if (message.type() === 'error' && !isAnswer) pageErrors.push(message.text())
  })
  return pageErrors
}
