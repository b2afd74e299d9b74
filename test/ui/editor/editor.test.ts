import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

describe('the first visit', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  test('shows the sample on the canvas, ready to run', async () => {
    const { page } = visited
    await node(page, 'Quotes').waitFor()
    expect(new URL(page.url()).pathname).toStartWith('/workflows/')
    expect(await page.locator('.react-flow__node').count()).toBe(6)
    expect(await page.getByRole('button', { name: 'Run', exact: true }).first().isEnabled()).toBe(true)
  })

  test('the tour leads through running, inspecting and calling the sample', async () => {
    const { page } = visited
    const steps = page.getByRole('region', { name: 'First steps' })
    await steps.getByRole('button', { name: 'Run' }).click()
    await page.getByText(/Succeeded in/).waitFor()
    expect(await page.getByRole('list', { name: 'Blocks that ran' }).getByRole('button').count()).toBe(6)
    await node(page, 'Pick').click()
    await page.getByRole('complementary', { name: 'Block Pick' }).getByText('In the latest run').waitFor()
    await steps.getByRole('button', { name: 'Show me how' }).click()
    expect(await page.getByTestId('snippet').textContent()).toContain('curl')
    await page.keyboard.press('Escape')
    // The steps have a row of their own: they cover no block.
    const [row, canvas] = [(await steps.boundingBox())!, (await page.locator('.react-flow').boundingBox())!]
    expect(row.y + row.height).toBeLessThanOrEqual(canvas.y)
    const sample = page.url()
    await steps.getByRole('button', { name: 'Open the gallery' }).click()
    await page.waitForURL((url) => url.pathname.endsWith('/gallery'))
    await page.goto(sample)
    await node(page, 'Pick').waitFor()
    expect(await steps.count()).toBe(0)
  })

  test("short URLs lead to the workspace's screens", async () => {
    const { page, serving, workspaceId } = visited
    const sample = page.url()
    for (const short of ['workflows', 'logs', 'settings']) {
      await page.goto(`${serving.url}/${short}`)
      await page.waitForURL(new RegExp(`/w/${workspaceId}/${short}`))
    }
    await page.goto(sample)
    await node(page, 'Quotes').waitFor()
  })

  test('has no page errors and no accessibility problems', async () => {
    expect(await accessibilityFaults(visited.page)).toEqual([])
    expect(visited.pageErrors).toEqual([])
  })

  test('a sign-in link works only once', async () => {
    const { browser, serving } = visited
    const visitor = await (await browser.newContext()).newPage()
    await visitor.goto(`${serving.url}/workflows/whatever`)
    await visitor.getByRole('heading', { name: 'Sign in to Millrace' }).waitFor()
    const link = /http\S+sign-in\?token=\S+/.exec(serving.output())![0]
    await visitor.goto(link)
    await visitor.getByText('has expired or was already used').waitFor()
    expect(await accessibilityFaults(visitor)).toEqual([])
    await visitor.context().close()
  })
})

describe('values and markup in an opened workflow', () => {
  let visited: Visit
  beforeAll(async () => {
    visited = await visit()
  }, 120_000)
  afterAll(() => visited.close())

  test('suggests values from the latest run in the log when there was no run in the editor', async () => {
    const { page, serving, apiKey } = visited
    const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', {
      name: 'Samples',
      blocks: {
        a: { type: 'api_trigger', name: 'A', params: { inputFormat: [{ name: 'city', type: 'string' }] } },
        b: { type: 'response', name: 'B', position: { x: 320, y: 0 }, params: { data: { city: '<api.city>' } } },
      },
      edges: [{ source: 'a', target: 'b' }],
    })
    const { id } = body as { id: string }
    await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
    await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', { city: 'Faro' })
    await page.goto(`${serving.url}/workflows/${id}`)
    await page.locator('.react-flow__node[data-id=b]').click()
    const status = page.getByRole('complementary', { name: 'Block B' }).getByLabel('Status')
    await status.pressSequentially('<api.ci')
    await page.getByRole('option', { name: '<api.city>' }).getByText('Faro', { exact: true }).waitFor()
  }, 120_000)

  test('shows markup in names, values and errors as text', async () => {
    const { page, serving, apiKey, pageErrors } = visited
    const bad = '<img src=x onerror="globalThis.hit=1"><script>hit=1</script>'
    const marked = {
      name: `Name ${bad}`,
      description: bad,
      folder: bad,
      blocks: {
        a: {
          id: 'a',
          type: 'api_trigger',
          name: `A ${bad}`,
          params: { inputFormat: [{ name: 'x', type: 'string', value: bad, description: bad }] },
        },
        b: {
          id: 'b',
          type: 'function',
          name: 'B',
          position: { x: 320, y: 0 },
          params: { code: `return ${JSON.stringify({ [bad]: bad })}` },
        },
        c: {
          id: 'c',
          type: 'api',
          name: 'C',
          position: { x: 640, y: 0 },
          params: { url: bad, headers: [{ key: bad, value: bad }], retries: 0, onError: 'continue' },
        },
      },
      edges: [
        { source: 'a', target: 'b' },
        { source: 'b', target: 'c' },
      ],
      notes: { n: { id: 'n', text: bad, position: { x: 0, y: -200 } } },
    }
    const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', marked)
    await page.goto(`${serving.url}/workflows/${(body as { id: string }).id}`)
    for (const block of ['a', 'b', 'c']) {
      await page.locator(`.react-flow__node[data-id=${block}]`).click()
      await page.getByRole('complementary', { name: /^Block / }).waitFor()
      await page.keyboard.press('Escape')
      await page.getByRole('button', { name: 'Fit to view' }).click()
    }
    await page.getByRole('button', { name: /problem/ }).click()
    await page
      .getByRole('button', { name: /A <img/ })
      .first()
      .waitFor()
    await page.keyboard.press('Escape')
    expect(
      await page.evaluate(() => [document.querySelectorAll('img, #root script').length, 'hit' in globalThis]),
    ).toEqual([0, false])
    expect(pageErrors).toEqual([])
  }, 120_000)
})
