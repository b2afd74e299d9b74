import type { Page } from 'playwright-core'
import { type Draft, document } from '../make.ts'
import { programPath } from '../programs.ts'
import { call } from '../running-service.ts'
import type { Visit } from './browser.ts'

/** Waits until the callback finds something. */
export async function until<Found>(find: () => Promise<Found | undefined | false>): Promise<Found> {
  const deadline = performance.now() + 30_000
  for (;;) {
    const found = await find()
    if (found) return found
    if (performance.now() > deadline) throw new Error('It did not happen')
    await Bun.sleep(20)
  }
}

export const node = (page: Page, name: string) => page.locator('.react-flow__node', { hasText: name }).first()
export const port = (page: Page, name: string, handle: string) =>
  node(page, name).locator(`[data-handleid="${handle}"]`)

/** Runs a command line in a shell and parses its output. */
export async function shell(line: string): Promise<unknown> {
  programPath('curl')
  const child = Bun.spawn(['sh', '-c', line], { stdout: 'pipe', stderr: 'pipe' })
  const text = await new Response(child.stdout).text()
  return JSON.parse(text)
}

export async function emptyWorkflow({ serving, apiKey, page }: Visit, name: string): Promise<string> {
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', { name, blocks: {}, edges: [] })
  const { id } = body as { id: string }
  await page.goto(`${serving.url}/workflows/${id}`)
  await page.locator('.react-flow__pane').waitFor()
  return id
}

/** Creates and opens a workflow with blocks; returns its id. */
export async function openWorkflow({ serving, apiKey, page }: Visit, draft: Draft): Promise<string> {
  const { status, body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', document(draft))
  if (status !== 201) throw new Error(`The workflow was not created: ${JSON.stringify(body)}`)
  const { id } = body as { id: string }
  await page.goto(`${serving.url}/workflows/${id}`)
  await page.locator('.react-flow__node').first().waitFor()
  return id
}

/** The stored workflow, after the page has saved it. */
export async function saved(
  { serving, apiKey, page }: Visit,
  id: string,
): Promise<{
  blocks: Record<string, { id: string; name: string; type: string; params: Record<string, unknown> }>
  edges: { source: string; target: string; sourceHandle: string }[]
}> {
  await page.getByRole('status').getByText('Saved', { exact: true }).waitFor()
  return (await call(`${serving.url}/api/workflows/${id}`, apiKey)).body
}

/** Deploys the open draft and runs the displayed curl command. */
export async function deployAndCall({ page, apiKey }: Visit): Promise<unknown> {
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByText('Version 1 is live').first().waitFor()
  const line = (await page.getByTestId('snippet').textContent()) ?? ''
  await page.keyboard.press('Escape')
  return await shell(line.replace('YOUR_API_KEY', apiKey))
}
