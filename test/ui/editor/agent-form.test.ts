import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, saved } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
let id: string
let helperId: string
beforeAll(async () => {
  visited = await visit()
  const { serving, apiKey, page } = visited
  const make = async (made: unknown) => {
    const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', made)
    return (body as { id: string }).id
  }
  helperId = await make(document({ name: 'Order status', blocks: [block('start', 'api_trigger')] }))
  const params = { provider: 'openai', model: 'gpt-4o', apiKey: 'secret', userPrompt: 'Hello' }
  const ask = block('ask', 'agent', params, { name: 'Ask', position: { x: 320, y: 0 } })
  id = await make(document({ name: 'Agent', blocks: [block('start', 'api_trigger'), ask], edges: ['start > ask'] }))
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, 'Ask').click()
}, 120_000)
afterAll(() => visited.close())

const inspector = () => visited.page.getByRole('complementary', { name: 'Block Ask' })
const tools = () => inspector().getByRole('group', { name: 'Tools' })
/** Leaves the field, which shows its problems. */
const leave = () => inspector().getByLabel('Block name').focus()
const paramsOf = async () => (await saved(visited, id)).blocks['ask']!.params

describe('the form of an agent', () => {
  test('adds a workflow as a tool, and reports a missing workflow at its field', async () => {
    await tools().getByRole('button', { name: 'Add tool' }).click()
    await leave()
    await tools().getByText('The tool "tool_1" has no workflow. Choose one.').waitFor()
    await tools().getByLabel('Name', { exact: true }).fill('order status')
    await tools().getByLabel('Description').fill('Says where an order is')
    await tools().getByRole('combobox', { name: 'Workflow', exact: true }).selectOption({ label: 'Order status' })
    await leave()
    await tools().getByText('has no workflow').waitFor({ state: 'detached' })
    const tool = { type: 'workflow', name: 'order_status', description: 'Says where an order is', workflowId: helperId }
    expect((await paramsOf())['tools']).toEqual([tool])
  }, 120_000)

  test('adds an API request as a tool, and completes its arguments in parameters', async () => {
    const { page } = visited
    await tools().getByRole('button', { name: 'Add tool' }).click()
    const second = tools().locator('> [data-row]').nth(1)
    await second.getByLabel('Type of tool 2').selectOption('api')
    await second.getByLabel('Name', { exact: true }).first().fill('weather')
    const args = second.getByRole('group', { name: 'Arguments' })
    await args.getByRole('button', { name: 'Add argument' }).click()
    await args.getByLabel('Name of field 1').fill('city')
    await args.getByLabel('Description of field 1').fill('Where')
    await second.getByLabel('URL').fill('https://weather.example/')
    await second.getByLabel('URL').press('End')
    await second.getByLabel('URL').pressSequentially('<args.ci')
    await page.getByRole('option', { name: '<args.city>' }).click()
    expect(await accessibilityFaults(page)).toEqual([])
    expect((await paramsOf())['tools']).toMatchObject([
      { name: 'order_status' },
      {
        type: 'api',
        name: 'weather',
        parameters: {
          type: 'object',
          properties: { city: { type: 'string', description: 'Where' } },
          required: ['city'],
          additionalProperties: false,
        },
        params: { url: 'https://weather.example/<args.city>' },
      },
    ])
  }, 120_000)

  test('adds a person as a tool, with the fields that the person fills in', async () => {
    const { page } = visited
    await tools().getByRole('button', { name: 'Add tool' }).click()
    const third = tools().locator('> [data-row]').nth(2)
    await third.getByLabel('Type of tool 3').selectOption('human')
    await third.getByLabel('Name', { exact: true }).first().fill('manager')
    await third.getByLabel('Title').fill('A refund')
    await third.getByRole('button', { name: 'Add field' }).click()
    await third.getByLabel('Name of field 1').fill('note')
    await leave()
    expect(await accessibilityFaults(page)).toEqual([])
    expect(((await paramsOf())['tools'] as unknown[])[2]).toMatchObject({
      ...{ type: 'human', name: 'manager', title: 'A refund' },
      fields: [{ name: 'note', type: 'string' }],
    })
  }, 120_000)

  test('adds the store as a tool, with a prefix and some operations', async () => {
    const { page } = visited
    await tools().getByRole('button', { name: 'Add tool' }).click()
    const fourth = tools().locator('> [data-row]').nth(3)
    await fourth.getByLabel('Type of tool 4').selectOption('store')
    await fourth.getByLabel('Name', { exact: true }).first().fill('notes')
    await fourth.getByLabel('Prefix').fill('notes/')
    await fourth.getByLabel('Delete').uncheck()
    await leave()
    expect(await accessibilityFaults(page)).toEqual([])
    const tool = ((await paramsOf())['tools'] as { operations: unknown }[])[3]!
    expect(tool).toMatchObject({ type: 'store', name: 'notes', prefix: 'notes/' })
    expect(tool.operations).toEqual(['get', 'set', 'increment', 'compare_and_set', 'add_if_absent', 'list'])
  }, 120_000)

  test('edits the response format as fields or as JSON, and reports its errors at the field', async () => {
    const { page } = visited
    const shape = inspector().getByRole('group', { name: 'Response format', exact: true })
    await shape.getByRole('button', { name: 'Add field' }).click()
    await shape.getByLabel('Name of field 1').fill('mood')
    await shape.getByLabel('Type of field 1').selectOption('enum')
    await shape.getByLabel('Choices of field 1').fill('glad, sad')
    const mood = { mood: { type: 'string', enum: ['glad', 'sad'] } }
    expect((await paramsOf())['responseFormat']).toMatchObject({ properties: mood, required: ['mood'] })
    await shape.getByRole('button', { name: 'Edit as JSON' }).click()
    await inspector().locator('.cm-content').and(inspector().getByLabel('Response format')).click()
    await page.keyboard.press('Control+a')
    await page.keyboard.insertText('{ "type": "object", "properties": { "age": { "type": "numbr" } } }')
    await leave()
    await inspector().getByText('Unknown type "numbr"').waitFor()
    expect(await accessibilityFaults(page)).toEqual([])
    await inspector().locator('.cm-content').and(inspector().getByLabel('Response format')).focus()
    await page.keyboard.press('Control+z')
    await leave()
    await inspector().getByText('Unknown type "numbr"').waitFor({ state: 'detached' })
    expect((await paramsOf())['responseFormat']).toMatchObject({ properties: mood })
    expect(visited.pageErrors).toEqual([])
  }, 120_000)
})
