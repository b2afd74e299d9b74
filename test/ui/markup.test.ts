import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../support/make.ts'
import { ModelServer } from '../support/models/model-server.ts'
import { call, deploy } from '../support/running-service.ts'
import { type Visit, visit } from '../support/ui/browser.ts'

/** Markup that would run if the page interpreted it. */
const evil = `<img src=x onerror="document.title='owned'"><script>document.title='owned'</script> {{x}} & <b>b</b>`
const name = `<img src=x onerror="document.title='owned'"> & "name"`
const receiver = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: () => new Response(evil, { status: 422, headers: { 'content-type': 'text/html' } }),
})

let visited: Visit
let model: ModelServer
let id: string
beforeAll(async () => {
  visited = await visit({ environment: { MILLRACE_OUTBOUND_ALLOW: 'loopback' } })
  model = await ModelServer.start([{ text: [evil], usage: { prompt: 3, completion: 4 } }])
  const { serving, apiKey } = visited
  const fields = [
    { name: 'text', type: 'string' },
    { name: 'files', type: 'files' },
  ]
  const code = 'throw new Error(<api.text>)'
  const asked = { provider: 'openai-compatible', baseUrl: model.url, model: '<b>model</b>', userPrompt: '<api.text>' }
  const endpoint = await deploy(serving.url, apiKey, {
    ...document({
      ...{ name, description: evil },
      folder: '<i>folder',
      blocks: [
        block('start', 'api_trigger', { inputFormat: fields }),
        { ...block('ask', 'agent', asked), name: '"ask" & co' },
        { ...block('trip', 'function', { code }), name: "trip '&' fall" },
      ],
      edges: ['start > ask', 'ask > trip'],
    }),
    webhooks: [{ id: 'hook', url: `http://127.0.0.1:${receiver.port}/?<script>` }],
  })
  id = endpoint.split('/').at(-2) ?? ''
  const file = { type: 'file', name: `${evil}.txt`, mime: 'text/plain', data: 'data:text/plain;base64,aGk=' }
  const link = { type: 'url', name: 'bad link', data: 'https://example.com/"onmouseover="x' }
  const { body } = await call(endpoint, apiKey, 'POST', { text: evil, files: [file, link] })
  expect(body).toMatchObject({ success: false, blockId: 'trip' })
}, 120_000)
afterAll(async () => {
  await visited.close()
  await model?.[Symbol.asyncDispose]()
  await receiver.stop(true)
})

describe('markup in names, errors, outputs, files and responses', () => {
  const seen = async (text: string) => {
    const { page } = visited
    await page.getByText(text).first().waitFor()
    // Interpreted markup would appear as an element, even if the page's policy blocked it.
    expect(await page.locator('img, main script, b, i').count()).toBe(0)
    expect(await page.title()).not.toContain('owned')
  }

  test('is text in the list of workflows', async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
    await seen(name)
    await seen('<i>folder')
    await seen('</script> {{x}} & <b>b</b>')
  })

  test('is text in the log: trace, outputs, costs and files', async () => {
    const { page, serving, workspaceId } = visited
    await page.goto(`${serving.url}/w/${workspaceId}/logs`)
    await seen(name)
    await page.getByRole('row').nth(1).click()
    await seen("trip '&' fall")
    await seen('</script> {{x}} & <b>b</b>')
    const expected = { Output: '<b>b</b>', Cost: '<b>model</b>', Files: '<b>b</b>', Canvas: '"ask" & co' }
    for (const [tab, text] of Object.entries(expected)) {
      await page.getByRole('tab', { name: tab }).click()
      await seen(text)
    }
    await page.getByRole('tab', { name: 'Deliveries' }).click()
    await seen('It failed for good')
  })

  test('is text in responses of webhook receivers', async () => {
    const { page, serving } = visited
    await page.goto(`${serving.url}/workflows/${id}/webhooks?view=deliveries`)
    await page.getByRole('button', { name: /script/ }).click()
    await seen('</script> {{x}} & <b>b</b>')
  })

  test("never reaches the page's policy", () => {
    expect(visited.pageErrors).toEqual([])
  })
})
