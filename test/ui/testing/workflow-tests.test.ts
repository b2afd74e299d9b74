import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, type Draft } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { openWorkflow, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const at = (x: number) => ({ position: { x, y: 0 } })
const greeting = (name: string, word = 'Hello'): Draft => ({
  name,
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string', value: 'Ada' }] }, at(0)),
    block('greet', 'function', { code: `return { said: '${word}, ' + <start.who> }` }, at(320)),
  ],
  edges: ['start > greet'],
})
const dialog = () => visited.page.getByRole('dialog', { name: /^Tests of/ })
const testsOf = async (id: string) => {
  const { serving, apiKey } = visited
  const { body } = await call(`${serving.url}/api/workflows/${id}/tests`, apiKey)
  return (body as { tests: { name: string; expect: { output?: unknown } }[] }).tests
}
const openTests = async () => {
  await visited.page.getByRole('button', { name: 'More', exact: true }).click()
  await visited.page.getByRole('menuitem', { name: 'Tests', exact: true }).click()
  await dialog().waitFor()
}
const shot = async (name: string) => {
  const folder = process.env['SHOTS']
  if (folder) await visited.page.screenshot({ path: `${folder}/${name}.png` })
}

test('a run becomes a test with one click; the test passes, shows a diff after a change, and accepts it', async () => {
  const { page, serving, apiKey, pageErrors } = visited
  const id = await openWorkflow(visited, greeting('Tested'))
  await openTests()
  await dialog().getByText('No tests yet').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await page.keyboard.press('Escape')
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  await page.getByText(/^Succeeded in/).waitFor()
  await page.getByRole('region', { name: 'Console' }).getByRole('button', { name: 'Make a test' }).click()
  await page.getByRole('button', { name: 'Show tests' }).click()
  await dialog().getByRole('button', { name: 'Run all' }).click()
  await dialog()
    .getByText(/^Passed in/)
    .waitFor()
  await dialog().getByText('1 test, 1 passed').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await shot('tests-passed')

  await page.keyboard.press('Escape')
  const { body } = await call(`${serving.url}/api/workflows/${id}`, apiKey)
  const { blocks, ...rest } = body as { blocks: Record<string, { params: object }> }
  const changed = {
    ...blocks,
    greet: { ...blocks['greet'], params: { code: "return { said: 'Bye, ' + <start.who> }" } },
  }
  await call(`${serving.url}/api/workflows/${id}`, apiKey, 'PUT', {
    name: 'Tested',
    edges: (rest as never)['edges'],
    blocks: changed,
  })
  await page.reload()
  await page.locator('.react-flow__node').first().waitFor()
  await openTests()
  await dialog()
    .getByRole('button', { name: /^Run the test/ })
    .click()
  await dialog()
    .getByText(/^Failed after/)
    .waitFor()
  await dialog().locator('del', { hasText: 'Hello, Ada' }).waitFor()
  await dialog().locator('ins', { hasText: 'Bye, Ada' }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await shot('tests-failed')
  await dialog()
    .getByRole('button', { name: /^Update expectation of/ })
    .click()
  await until(async () => JSON.stringify(await testsOf(id)).includes('Bye, Ada'))
  await dialog().getByRole('button', { name: 'Run all' }).click()
  await dialog()
    .getByText(/^Passed in/)
    .waitFor()
  expect(pageErrors).toEqual([])
}, 120_000)

test('a test is renamed, run and deleted with the keyboard alone', async () => {
  const { page, serving, apiKey } = visited
  const id = await openWorkflow(visited, greeting('By keyboard'))
  const tests = ['One', 'Two'].map((name) => ({ name, input: { who: name }, mocks: [], expect: { success: true } }))
  await call(`${serving.url}/api/workflows/${id}/tests`, apiKey, 'PUT', { tests })
  await openTests()
  const name = dialog().getByRole('textbox', { name: 'Name of the test One' })
  await name.focus()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('Two')
  await dialog().getByText('Another test has this name.').waitFor()
  await page.keyboard.press('Control+a')
  await page.keyboard.type('First')
  await page.keyboard.press('Enter')
  await until(async () => (await testsOf(id)).some((each) => each.name === 'First'))
  await dialog().getByRole('button', { name: 'Run the test First' }).focus()
  await page.keyboard.press('Enter')
  await dialog().getByText('2 tests, 1 passed, 1 not run').waitFor()
  await dialog().getByRole('button', { name: 'More for the test First' }).focus()
  await page.keyboard.press('Enter')
  await page.getByRole('menuitem', { name: 'Delete' }).waitFor()
  await page.keyboard.press('End')
  await page.keyboard.press('Enter')
  const confirm = page.getByRole('dialog', { name: 'Delete the test First?' })
  await confirm.getByRole('button', { name: 'Delete' }).press('Enter')
  await until(async () => (await testsOf(id)).length === 1)
  await confirm.waitFor({ state: 'detached' })
}, 120_000)

test('an entry of the log becomes a test, and its button leads to the tests of the workflow', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const id = await openWorkflow(visited, greeting('From the log'))
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  await call(`${serving.url}/api/workflows/${id}/execute`, apiKey, 'POST', { who: 'Grace' })
  await page.goto(`${serving.url}/w/${workspaceId}/logs?workflowIds=${id}`)
  await page.getByRole('row').nth(1).click()
  const panel = page.getByRole('complementary', { name: 'Log entry' })
  await panel.getByRole('button', { name: 'Make a test' }).click()
  await page.getByRole('button', { name: 'Show tests' }).click()
  await dialog().getByRole('list', { name: 'Tests' }).getByRole('listitem').waitFor()
  expect(await testsOf(id)).toMatchObject([{ input: { who: 'Grace' } }])
}, 120_000)

test('the tests fit a narrow page, light and dark', async () => {
  const { page, serving, apiKey } = visited
  const id = await openWorkflow(visited, greeting('Narrow'))
  const tests = [
    { name: 'Greets', input: { who: 'Ada' }, mocks: [], expect: { output: { result: { said: 'Hi, Ada' } } } },
  ]
  await call(`${serving.url}/api/workflows/${id}/tests`, apiKey, 'PUT', { tests })
  await page.setViewportSize({ width: 390, height: 844 })
  try {
    await openTests()
    await dialog().getByRole('button', { name: 'Run all' }).click()
    await dialog()
      .getByText(/^Failed after/)
      .waitFor()
    const overflow = await dialog().evaluate((element) => element.scrollWidth - element.clientWidth)
    expect(overflow).toBeLessThanOrEqual(0)
    expect(await faultsInBothThemes(page)).toEqual([])
    await shot('tests-narrow')
  } finally {
    await page.setViewportSize({ width: 1440, height: 900 })
  }
}, 120_000)
