import type { Page } from 'playwright-core'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { listen, type Visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'

/** A field of each kind. */
export const fields = [
  { name: 'name', type: 'string', label: 'Your name', required: true },
  { name: 'mail', type: 'string', format: 'email', label: 'E-mail' },
  { name: 'day', type: 'string', format: 'date', label: 'Day' },
  { name: 'guests', type: 'number', label: 'Guests' },
  { name: 'meal', type: 'string', label: 'Meal', options: ['Soup', 'Rice'] },
  { name: 'days', type: 'array', label: 'Days', options: ['Monday', 'Tuesday'], description: 'Choose some.' },
  { name: 'vegan', type: 'boolean', label: 'Vegan' },
  { name: 'wish', type: 'string', format: 'long', label: 'Wishes' },
]

export type Blocks = Parameters<typeof document>[0]['blocks']

const returnsInput = block('end', 'function', { code: 'return <form.input>' })

/** Deploys a form. Returns the URL of its page. */
export async function deployForm(
  { serving, apiKey }: Visit,
  params: object = {},
  steps: Blocks = [],
  end: Blocks = [returnsInput],
): Promise<string> {
  const path = crypto.randomUUID()
  const blocks = [
    block('start', 'form_trigger', { path, title: 'Order a <b>meal</b>', fields, ...params }),
    ...steps,
    ...end,
  ]
  const edges = blocks.slice(1).map(({ id }, index) => `${blocks[index]!.id} > ${id}`)
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', document({ name: path, blocks, edges }))
  const { id } = body as { id: string }
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  return `${serving.url}/form/${path}`
}

/** The output of the first run of the form at this URL, when it is in the log. */
export async function outputOf({ serving, apiKey, workspaceId }: Visit, url: string): Promise<Record<string, unknown>> {
  const name = new URL(url).pathname.split('/')[2]
  return await until(async () => {
    const query = `workspaceId=${workspaceId}&limit=10&includeFinalOutput=true&details=full`
    const { body } = await call(`${serving.url}/api/v1/logs?${query}`, apiKey, 'GET')
    const { data } = body as { data: Entry[] }
    return data.find(({ workflow }) => workflow.name === name)?.finalOutput.result
  })
}

type Entry = { workflow: { name: string }; finalOutput: { result: Record<string, unknown> } }

/** A phone without a session. Its script errors are collected. */
export async function phone(
  { browser }: Visit,
  colorScheme: 'light' | 'dark' = 'light',
): Promise<{ page: Page; errors: string[] }> {
  const context = await browser.newContext({ viewport: { width: 390, height: 780 }, colorScheme })
  const page = await context.newPage()
  return { page, errors: listen(page) }
}

export const focused = (page: Page) => page.evaluate(() => globalThis.document.activeElement?.getAttribute('name'))
