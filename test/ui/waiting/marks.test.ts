import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { until } from '../../support/ui/editor-page.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
}, 120_000)
afterAll(() => visited.close())

async function deploy(made: ReturnType<typeof document>): Promise<string> {
  const { serving, apiKey } = visited
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
  const { id } = body as { id: string }
  expect((await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')).status).toBe(200)
  return id
}

test('cards of every size mark an agent that asks a person, and a block whose called workflow waits', async () => {
  const { page, serving, apiKey } = visited
  const asks = [{ id: 'c1', name: 'ask_person', arguments: JSON.stringify({ message: 'May I?' }) }]
  await using server = await ModelServer.start([{ toolCalls: asks }, { toolCalls: asks }])
  const inner = await deploy(
    document({
      name: 'Payments',
      blocks: [block('start', 'api_trigger'), block('ask', 'approval', { title: 'Pay the invoice?' })],
      edges: ['start > ask'],
    }),
  )
  const id = await deploy(
    document({
      name: 'Orders',
      blocks: [
        block('start', 'api_trigger'),
        block('clerk', 'agent', {
          ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, apiKey: 'key', retries: 0 },
          ...{ userPrompt: 'Ask', tools: [{ type: 'human', title: 'A question' }] },
        }),
        block('pay', 'workflow', { workflowId: inner }),
      ],
      edges: ['start > clerk', 'start > pay'],
    }),
  )
  for (let n = 0; n < 2; n += 1) {
    expect((await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', {})).status).toBe(202)
  }
  await page.goto(`${serving.url}/workflows/${id}`)
  await page.getByRole('button', { name: '2 waiting at clerk' }).waitFor()
  const mark = page.getByRole('button', { name: '2 waiting at pay' })
  await mark.waitFor()
  expect(await page.getByRole('button', { name: /waiting at/ }).count()).toBe(2)
  expect(await faultsInBothThemes(page)).toEqual([])
  const zoomOut = page.getByRole('button', { name: 'Zoom out' })
  await until(async () => {
    await zoomOut.click()
    return (await page.locator('.compact-card').count()) > 0
  })
  await page.locator('.compact-card').filter({ has: mark }).waitFor()
  expect((await mark.textContent())?.trim()).toBe('2')
  expect(await faultsInBothThemes(page)).toEqual([])
  await mark.focus()
  await page.keyboard.press('Enter')
  // The question is in the called workflow.
  await page.getByRole('link', { name: 'Pay the invoice?' }).first().waitFor()
  expect(await page.getByRole('link', { name: 'Pay the invoice?' }).count()).toBe(2)
  expect(await faultsInBothThemes(page)).toEqual([])
  await page.keyboard.press('Escape')
  await until(() => mark.evaluate((element) => element === element.ownerDocument.activeElement))
  expect(visited.pageErrors).toEqual([])
}, 120_000)
