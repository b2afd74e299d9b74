import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../support/models/model-server.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow, node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
let models: ModelServer
let responses: ScriptedResponse[] = []
beforeAll(async () => {
  models = await ModelServer.start(() => responses.shift() ?? { text: ['Nothing is left to say.'] })
  visited = await visit({
    environment: {
      MILLRACE_ASSISTANT_MODEL: 'openai-compatible/gpt-5-mini',
      MILLRACE_ASSISTANT_BASE_URL: models.url,
    },
  })
}, 120_000)
afterAll(async () => {
  await visited?.close()
  await models?.[Symbol.asyncDispose]()
})

const usage = { prompt: 3000, completion: 150 }
const edits = (workflowId: string, list: readonly object[]): ScriptedResponse => ({
  toolCalls: [{ id: 'c1', name: 'edit_workflow', arguments: JSON.stringify({ workflowId, edits: list }) }],
  usage,
})
const add = (id: string, type: string, name: string, params: object, after?: string) => ({
  ...{ op: 'add_block', block: { id, type, name, params } },
  ...(after === undefined ? {} : { after }),
})
const panel = () => visited.page.getByRole('complementary', { name: 'Assistant' })
const box = () => panel().getByRole('textbox')

const sum: Draft = {
  name: 'Sum',
  blocks: [
    block('start', 'api_trigger', {}, { position: { x: 0, y: 0 } }),
    block('total', 'function', { code: 'return <start.order>.total' }, { position: { x: 320, y: 0 } }),
  ],
  edges: ['start > total'],
}

describe('the assistant', () => {
  test('makes a draft from a description, which one undo takes back', async () => {
    const { page } = visited
    const id = await emptyWorkflow(visited, 'Described')
    responses = [
      edits(id, [
        add('start', 'api_trigger', 'Start', { inputFormat: [{ name: 'name', type: 'string', required: true }] }),
        add('greet', 'function', 'Greet', { code: 'return "Hello, " + <start.name>' }, 'start'),
        add('reply', 'response', 'Reply', { data: '<greet.result>' }, 'greet'),
      ]),
      { text: ['It greets the name ', 'that it receives.'], usage },
    ]
    await page.getByRole('button', { name: /^Describe it/ }).click()
    await until(async () => await box().evaluate((element) => element === document.activeElement))
    await page.keyboard.type('Greet the caller.')
    await page.keyboard.press('Enter')
    await panel().getByText('It greets the name that it receives.').waitFor()
    await panel().getByText('Applied to the draft.').waitFor()
    await node(page, 'Reply').waitFor()
    await panel().getByText('6,300 tokens, $0.0021').waitFor()
    expect(Object.keys((await saved(visited, id)).blocks)).toEqual(['start', 'greet', 'reply'])
    expect(await faultsInBothThemes(page)).toEqual([])
    await panel().getByRole('button', { name: 'Undo' }).click()
    await node(page, 'Reply').waitFor({ state: 'detached' })
    expect((await saved(visited, id)).blocks).toEqual({})
  }, 120_000)

  test('explains a failed run, and shows its correction as differences before they are applied', async () => {
    const { page } = visited
    const id = await openWorkflow(visited, sum)
    await page.getByRole('button', { name: 'Run', exact: true }).click()
    await page.getByText(/^Failed after/).waitFor()
    const code = 'return <start.order>?.total ?? 0'
    responses = [
      edits(id, [{ op: 'set', path: ['blocks', 'total', 'params', 'code'], value: code }]),
      { text: ['The input has no order.'], usage },
    ]
    const before = models.requests.length
    await page.getByRole('button', { name: 'Explain' }).first().click()
    const proposed = panel().getByRole('region', { name: 'Proposed changes' })
    await proposed.getByText('1 block changed').waitFor()
    expect(JSON.stringify(models.requests[before]?.body)).toMatch(/Explain why the run [-0-9a-f]{36} failed/)
    expect((await saved(visited, id)).blocks['total']?.params['code']).toBe('return <start.order>.total')
    expect(await faultsInBothThemes(page)).toEqual([])
    await proposed.getByRole('button', { name: 'Apply' }).click()
    await panel().getByText('Applied to the draft.').waitFor()
    await until(async () => (await saved(visited, id)).blocks['total']?.params['code'] === code)
  }, 120_000)

  test('explains a run of the log in the editor, and not again after a reload', async () => {
    const { page, serving, workspaceId } = visited
    responses = [{ text: ['It had no order.'], usage }]
    await page.goto(`${serving.url}/w/${workspaceId}/logs`)
    await page.getByRole('row', { name: /Sum/ }).first().click()
    await page.getByRole('complementary', { name: 'Log entry' }).getByRole('button', { name: 'Explain' }).click()
    await panel().getByText('It had no order.').waitFor()
    const asked = models.requests.length
    await page.reload()
    await node(page, 'total').waitFor()
    expect(await panel().count()).toBe(0)
    expect(models.requests.length).toBe(asked)
  }, 120_000)

  test('changes nothing when a proposal is discarded, and closes with the keyboard', async () => {
    const { page } = visited
    const id = await openWorkflow(visited, { ...sum, name: 'Discarded' })
    responses = [
      { toolCalls: [{ id: 'c0', name: 'list_runs', arguments: JSON.stringify({ workflowId: id }) }], usage },
      edits(id, [{ op: 'remove', path: ['blocks', 'total'] }]),
      { text: ['Removed.'], usage },
    ]
    await page.getByRole('button', { name: 'Assistant', exact: true }).click()
    await box().fill('Remove the total.')
    await page.keyboard.press('Enter')
    await panel().getByRole('button', { name: 'Discard' }).click()
    await panel().getByText('Discarded.').waitFor()
    // A session may use the tools that call the API.
    await panel().getByText('Lists runs', { exact: true }).waitFor()
    expect(await node(page, 'total').count()).toBe(1)
    await until(async () => await box().evaluate((element) => element === document.activeElement))
    await page.keyboard.press('Escape')
    await panel().waitFor({ state: 'detached' })
    expect(Object.keys((await saved(visited, id)).blocks)).toEqual(['start', 'total'])
  }, 120_000)

  test('stops when asked to, and covers a narrow page', async () => {
    const { page } = visited
    await page.setViewportSize({ width: 390, height: 800 })
    await openWorkflow(visited, { ...sum, name: 'Narrow' })
    responses = [{ trouble: 'hang' }]
    const before = models.requests.length
    await page.getByRole('button', { name: 'Assistant', exact: true }).click()
    await box().fill('Explain this workflow.')
    await page.keyboard.press('Enter')
    await until(async () => models.requests.length > before)
    expect(await accessibilityFaults(page)).toEqual([])
    const width = await page.evaluate(() => document.documentElement.scrollWidth)
    expect(width).toBe(390)
    await panel().getByRole('button', { name: 'Stop' }).click()
    await panel().getByText('Stopped.').waitFor()
    await models.requests[before]?.left
    await page.setViewportSize({ width: 1440, height: 900 })
  }, 120_000)

  test('leaves no errors on the page', () => {
    expect(visited.pageErrors).toEqual([])
  })
})
