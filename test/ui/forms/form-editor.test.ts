import { afterAll, beforeAll, expect, test } from 'bun:test'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { emptyWorkflow, node, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults, faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

test('a form is built in the inspector, run with values of its fields, deployed, and opened at its address', async () => {
  const { page, serving, pageErrors } = visited
  const id = await emptyWorkflow(visited, 'Formed')
  await page.getByRole('region', { name: 'What starts it?' }).getByRole('button', { name: 'Form' }).click()
  const inspector = page.getByRole('complementary', { name: 'Block Form' })
  await inspector.getByLabel('Title').waitFor()
  const params = async () => Object.values((await saved(visited, id)).blocks)[0]!.params
  const given = (await until(async () => (await params())['path'])) as string
  const url = `${serving.url}/form/${given}`
  expect(await inspector.getByTestId('address').textContent()).toBe(url)
  await inspector.getByRole('button', { name: 'Copy URL' }).waitFor()
  expect(await inspector.getByRole('link', { name: 'Open form' }).getAttribute('href')).toBe(url)
  await node(page, `/form/${given}`).waitFor()

  // A list of fields with labels, types and choices, one on each line.
  await inspector.getByRole('button', { name: 'Add field' }).click()
  await inspector.getByLabel('Name of field 2').fill('meal')
  await inspector.getByLabel('Label of field 2').fill('Meal')
  const choices = inspector.getByLabel('Choices of field 2')
  await choices.fill('')
  await choices.pressSequentially('Soup\nRice\n\nBread ')
  expect(await choices.inputValue()).toBe('Soup\nRice\n\nBread ')
  await inspector.getByRole('checkbox', { name: 'Required' }).nth(1).check()
  await inspector.getByRole('button', { name: 'Add field' }).click()
  await inspector.getByLabel('Name of field 3').fill('papers')
  await inspector.getByLabel('Type of field 3').selectOption('Files')
  expect(await inspector.getByLabel('Choices of field 3').count()).toBe(0)
  await inspector.getByLabel('Format of field 1').selectOption('E-mail address')
  expect((await params())['fields']).toEqual([
    { name: 'name', type: 'string', label: 'Your name', required: true, format: 'email' },
    { name: 'meal', type: 'string', label: 'Meal', options: ['Soup', 'Rice', 'Bread'], required: true },
    { name: 'papers', type: 'files' },
  ])
  expect(await faultsInBothThemes(page)).toEqual([])
  // A change of the type removes the members that the new type cannot have.
  await inspector.getByLabel('Type of field 2').selectOption('Yes or no')
  expect(await until(async () => ((await params())['fields'] as object[])[1])).toEqual({
    ...{ name: 'meal', type: 'boolean', label: 'Meal', required: true },
  })

  // A manual run starts at the form, with an example of its fields.
  await page.getByRole('region', { name: 'What happens next?' }).getByRole('button', { name: 'Function' }).click()
  await page.getByRole('button', { name: 'Run', exact: true }).click()
  const dialog = page.getByRole('dialog')
  await dialog.getByText('A form starts this workflow.').waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Run', exact: true }).click()
  await dialog.waitFor({ state: 'detached' })
  await page.getByText('Succeeded').first().waitFor()

  await page.getByRole('button', { name: 'Deploy', exact: true }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deploy', exact: true }).click()
  const section = page.getByRole('dialog').getByRole('region', { name: 'Form' })
  await until(async () => !(await section.textContent())?.includes('inactive until'))
  const opening = page.context().waitForEvent('page')
  await section.getByRole('link', { name: 'Open form' }).click()
  const form = await opening
  await form.getByLabel('Your name').fill('ada@example.com')
  await form.getByRole('button', { name: 'Send' }).click()
  await form.getByText('Thank you. The form was sent.').waitFor()
  await form.close()
  expect(pageErrors).toEqual([])
}, 120_000)

test('the fields of an approval have the same list, with choices as lines of text', async () => {
  const { page, pageErrors } = visited
  const id = await emptyWorkflow(visited, 'Approved')
  await page.getByRole('complementary', { name: 'Blocks' }).getByRole('button', { name: 'Approval' }).click()
  const inspector = page.getByRole('complementary', { name: 'Block Approval' })
  await inspector.getByRole('button', { name: 'Add field' }).click()
  await inspector.getByLabel('Type of field 1').selectOption('List')
  await inspector.getByLabel('Choices of field 1').fill('Yes\nNo')
  await page.keyboard.press('Tab')
  const params = async () => Object.values((await saved(visited, id)).blocks)[0]!.params
  expect((await params())['fields']).toEqual([{ name: 'field1', type: 'array', options: ['Yes', 'No'] }])
  await page.reload()
  await node(page, 'Approval').click()
  expect(await inspector.getByLabel('Choices of field 1').inputValue()).toBe('Yes\nNo')
  expect(pageErrors).toEqual([])
}, 120_000)
