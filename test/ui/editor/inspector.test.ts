import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, type Draft, document as documentOf } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, saved } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

/** Opens a workflow and the inspector of one of its blocks. */
async function inspect(draft: Draft, name: string) {
  const { serving, apiKey, page } = visited
  const { body } = await call(`${serving.url}/api/workflows`, apiKey, 'POST', documentOf(draft))
  const { id } = body as { id: string }
  await page.goto(`${serving.url}/workflows/${id}`)
  await node(page, name).click()
  const inspector = page.getByRole('complementary', { name: `Block ${name}` })
  await inspector.waitFor()
  return { id, inspector }
}

test('the outputs of a block include declared fields and assigned variables', async () => {
  const { page } = visited
  const inputFormat = [{ name: 'customer', type: 'string' }]
  const { inspector } = await inspect(
    {
      name: 'Outputs',
      blocks: [
        block('Start', 'api_trigger', { inputFormat }, { position: { x: 0, y: 0 } }),
        block('Keep', 'variables', { assign: [{ name: 'total', value: 1 }] }, { position: { x: 0, y: 200 } }),
      ],
      edges: ['Start > Keep'],
    },
    'Start',
  )
  await inspector.getByRole('button', { name: '<start.customer>' }).waitFor()
  await inspector.getByRole('button', { name: '<start.input>' }).waitFor()
  await node(page, 'Keep').click()
  await page.getByRole('complementary', { name: 'Block Keep' }).getByRole('button', { name: '<keep.total>' }).waitFor()
})

test('a name that is taken is rejected at the field and stays there', async () => {
  const { page } = visited
  const blocks = [
    block('One', 'wait', { ms: 1 }, { position: { x: 0, y: 0 } }),
    block('Two', 'wait', { ms: 1 }, { position: { x: 0, y: 200 } }),
  ]
  const { id, inspector } = await inspect({ name: 'Names', blocks }, 'One')
  const name = inspector.getByLabel('Block name')
  await name.fill('t w')
  await name.pressSequentially('o')
  expect(await name.evaluate((field) => field === document.activeElement)).toBe(true)
  await name.press('Enter')
  await inspector.getByRole('alert').getByText('A block named “Two” already exists.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await name.blur()
  expect(await name.inputValue()).toBe('t wo')
  await name.fill('Three')
  await name.press('Enter')
  await node(page, 'Three').waitFor()
  expect(await inspector.getByRole('alert').count()).toBe(0)
  expect((await saved(visited, id)).blocks['One']?.name).toBe('Three')
})

test('the tab strip of the deploy dialog does not scroll vertically', async () => {
  const { page } = visited
  await inspect({ name: 'Tabs', blocks: [block('Start', 'api_trigger', {}, { position: { x: 0, y: 0 } })] }, 'Start')
  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  const strip = page.getByRole('tablist', { name: 'Deployment' })
  await strip.waitFor()
  expect(await strip.evaluate((list) => list.scrollHeight - list.clientHeight)).toBe(0)
})

test('the webhook trigger shows only the fields of the selected authentication', async () => {
  const { page } = visited
  const hook = block('Hook', 'webhook_trigger', { path: 'orders' }, { position: { x: 0, y: 0 } })
  const { id, inspector } = await inspect({ name: 'Proof', blocks: [hook] }, 'Hook')
  const proof = inspector.getByRole('group', { name: 'Authentication' })
  const way = inspector.getByLabel('Authentication', { exact: true }).and(inspector.getByRole('combobox'))
  expect(await proof.getByRole('textbox').count()).toBe(0)
  await way.focus()
  await way.selectOption('Bearer token')
  // A problem is shown after the field was left.
  await inspector.getByLabel('Block name').focus()
  await proof.getByText('Token is empty').waitFor()
  await proof.getByLabel('Token').fill('{{HOOK_TOKEN}}')
  const stored = async () => (await saved(visited, id)).blocks['Hook']?.params['authentication']
  expect(await stored()).toEqual({ type: 'bearer', token: '{{HOOK_TOKEN}}' })
  await way.selectOption('Signature')
  expect(await proof.getByLabel('Token').count()).toBe(0)
  await proof.getByLabel('Secret').fill('{{SECRET}}')
  await proof.getByLabel('Signature scheme').selectOption('Stripe')
  expect(await stored()).toEqual({ type: 'signature', scheme: 'stripe', secret: '{{SECRET}}' })
  expect(await accessibilityFaults(page)).toEqual([])
}, 120_000)

test('an API block is given a credential of the workspace', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const written = { name: 'crm', kind: 'bearer', hosts: ['api.crm.example.com'], secrets: { token: 'token-1234' } }
  await call(`${serving.url}/api/workspaces/${workspaceId}/credentials`, apiKey, 'POST', written)
  const blocks = [block('Call', 'api', { url: 'https://api.crm.example.com/' }, { position: { x: 0, y: 0 } })]
  const { id, inspector } = await inspect({ name: 'Credential', blocks }, 'Call')
  await inspector.getByLabel('Credential').selectOption('crm (api.crm.example.com)')
  let credential: unknown
  while (credential === undefined) credential = (await saved(visited, id)).blocks['Call']?.params['credential']
  expect(credential).toBe('crm')
  expect(await accessibilityFaults(page)).toEqual([])
})
