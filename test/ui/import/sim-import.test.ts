import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { call } from '../../support/running-service.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, saved, until } from '../../support/ui/editor-page.ts'
import { faultsInBothThemes } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const leads = simFile(
  [
    simBlock('s', 'start_trigger', { inputFormat: [{ name: 'topic', type: 'string' }] }, { name: 'Start' }),
    {
      ...simBlock('kb', 'knowledge', { operation: 'search', query: 'About <start.topic>' }, { name: 'Look up' }),
      position: { x: 300, y: 20 },
    },
    {
      ...simBlock('g', 'guardrails', { input: '<lookup.content>', validationType: 'json' }, { name: 'Check' }),
      position: { x: 600, y: 20 },
    },
  ],
  ['s > kb', 'kb > g'],
  { metadata: { name: 'Leads' } },
)
const simple = simFile([simBlock('s', 'start_trigger', {}, { name: 'Start' })], [], { metadata: { name: 'Simple' } })

const fileOf = (name: string, content: unknown) => ({
  name,
  mimeType: 'application/json',
  buffer: Buffer.from(typeof content === 'string' ? content : JSON.stringify(content)),
})
const dialog = (title: string) => visited.page.getByRole('dialog', { name: title })
const section = (name: string) => dialog('Import report').getByRole('region', { name, exact: true })

async function importFiles(...files: ReturnType<typeof fileOf>[]): Promise<void> {
  const { page, serving, workspaceId } = visited
  await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
  await page.getByRole('button', { name: 'Import', exact: true }).click()
  await page.getByLabel('Files to import').setInputFiles(files)
  await dialog('Import workflows').getByRole('button', { name: 'Import', exact: true }).click()
}

const workflows = async () => {
  const { serving, apiKey, workspaceId } = visited
  const { body } = await call(`${serving.url}/api/workflows?workspaceId=${workspaceId}`, apiKey)
  return (body as { data: { id: string; name: string }[] }).data
}

describe('the import of files of Sim on the workflows screen', () => {
  test('converts several files at once, and reports what is left to do for each', async () => {
    const { page } = visited
    await importFiles(fileOf('leads.json', leads), fileOf('simple.json', simple))
    await dialog('Import report').getByText('2 of 2 files imported.').waitFor()
    const placeholders = section('Leads').getByRole('list', { name: 'Placeholders' })
    expect((await placeholders.textContent()) ?? '').toMatch(/^Look up knowledge needs .+\.$/)
    await section('Leads').getByText('2 blocks converted.').waitFor()
    await section('Simple').getByText('1 block converted. No placeholders.').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
    await section('Leads').getByRole('link', { name: 'Leads' }).click()
    await page.waitForURL(/\/workflows\/[\w-]+$/)
    await node(page, 'Look up').waitFor()
    expect((await workflows()).map(({ name }) => name)).toEqual(expect.arrayContaining(['Leads', 'Simple']))
  }, 120_000)

  test('replaces an earlier import or takes another name, on request', async () => {
    const before = (await workflows()).find(({ name }) => name === 'Leads')
    await importFiles(fileOf('leads.json', leads))
    await section('Leads').getByText('from an earlier import').waitFor()
    await section('Leads').getByRole('button', { name: 'Replace the earlier import' }).click()
    await section('Leads').getByText('2 blocks converted.').waitFor()
    expect((await workflows()).filter(({ name }) => name === 'Leads')).toMatchObject([{ id: before!.id }])
    await importFiles(fileOf('leads.json', leads))
    await section('Leads').getByRole('button', { name: 'Import as “Leads 2”' }).click()
    await section('Leads 2').getByText('2 blocks converted.').waitFor()
    expect((await workflows()).map(({ name }) => name)).toContain('Leads 2')
  }, 120_000)

  test('offers no replacement of a workflow that no import created', async () => {
    const taken = { ...simple, state: { ...simple.state, metadata: { name: 'First workflow' } } }
    await importFiles(fileOf('first.json', taken))
    await section('First workflow').getByText('The workspace already has a workflow named “First workflow”.').waitFor()
    await section('First workflow').getByRole('button', { name: 'Import as “First workflow 2”' }).waitFor()
    expect(await section('First workflow').getByRole('button').count()).toBe(1)
  }, 120_000)

  test('creates a credential that blocks need, with its name and kind, and takes dropped files', async () => {
    const { page, serving, apiKey, workspaceId } = visited
    const values = { operation: 'send', credential: 'c1', channel: 'C1', text: 'Hi' }
    const tell = simFile(
      [simBlock('s', 'start_trigger'), simBlock('t', 'slack', values, { name: 'Tell' })],
      ['s > t'],
      {
        metadata: { name: 'Tell' },
      },
    )
    await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
    const transfer = await page.evaluateHandle((text) => {
      const data = new DataTransfer()
      data.items.add(new File([text], 'tell.json', { type: 'application/json' }))
      return data
    }, JSON.stringify(tell))
    await page
      .getByRole('link', { name: 'First workflow', exact: true })
      .dispatchEvent('drop', { dataTransfer: transfer })
    await dialog('Import workflows').getByText('tell.json').waitFor()
    await dialog('Import workflows').getByRole('button', { name: 'Import', exact: true }).click()
    const credentials = section('Tell').getByRole('list', { name: 'Credentials' })
    await credentials.getByText('for Tell').waitFor()
    await credentials.getByRole('button', { name: /^Create / }).click()
    const form = dialog('New credential for Slack')
    const name = await form.getByLabel('Name', { exact: true }).inputValue()
    expect(await faultsInBothThemes(page)).toEqual([])
    await form.getByLabel('Token').fill('xoxb-1')
    await form.getByRole('button', { name: 'Create credential' }).click()
    await credentials.getByText('Exists').waitFor()
    const { body } = await call(`${serving.url}/api/workspaces/${workspaceId}/credentials`, apiKey)
    expect((body as { data: { name: string }[] }).data).toMatchObject([{ name, kind: 'bearer', hosts: ['slack.com'] }])
  }, 120_000)

  test('shows the problem of one file beside the reports of the others, and imports our own documents too', async () => {
    const own = { name: 'Own', blocks: {}, edges: [] }
    await importFiles(
      fileOf('empty.json', simFile([])),
      fileOf('own.json', own),
      fileOf('b.json', simFile([simBlock('s', 'start_trigger')])),
    )
    await dialog('Import report').getByText('1 of 2 files imported.').waitFor()
    await dialog('Import report').getByRole('alert').getByText('has no blocks').waitFor()
    expect((await workflows()).map(({ name }) => name)).toContain('Own')
  }, 120_000)

  test('works with the keyboard alone and on a phone', async () => {
    const { page, serving, workspaceId } = visited
    await page.setViewportSize({ width: 390, height: 844 })
    await page.goto(`${serving.url}/w/${workspaceId}/workflows`)
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name: 'Import' }).click()
    const phone = { ...leads, state: { ...leads.state, metadata: { name: 'Phone' } } }
    await page.getByLabel('Or paste a document').fill(JSON.stringify(phone))
    await page.keyboard.press('Tab')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await section('Phone').getByText('2 blocks converted.').waitFor()
    const over = await page.evaluate(() => globalThis.document.documentElement.scrollWidth - innerWidth)
    expect([over, await faultsInBothThemes(page)]).toEqual([0, []])
    await page.keyboard.press('Escape')
    await dialog('Import report').waitFor({ state: 'detached' })
    await page.setViewportSize({ width: 1440, height: 900 })
  }, 120_000)
})

describe('a placeholder in the editor', () => {
  const inspector = () => visited.page.getByRole('complementary', { name: 'Block Look up' })

  test('says what it was and what it needs, and shows its content', async () => {
    const { page, serving } = visited
    const { id } = (await workflows()).find(({ name }) => name === 'Leads')!
    await page.goto(`${serving.url}/workflows/${id}`)
    await node(page, 'Look up').getByText('Placeholder · knowledge').waitFor()
    await node(page, 'Look up').click()
    const missing = inspector().getByRole('region', { name: 'What is missing' })
    await missing.getByText('Before the import, its type was “knowledge”.').waitFor()
    const settings = inspector().getByRole('region', { name: 'Original settings' })
    await settings.getByText('About <start.topic>').waitFor()
    expect(await faultsInBothThemes(page)).toEqual([])
  }, 120_000)

  test('is replaced by a block of another type, which keeps the name and the connections', async () => {
    const { page } = visited
    const id = page.url().split('/').at(-1)!
    const edges = async () => (await saved(visited, id)).edges.map(({ source, target }) => `${source} > ${target}`)
    const before = await edges()
    await inspector().getByRole('button', { name: 'Replace with…' }).click()
    await page.getByPlaceholder('Add a block…').fill('function')
    await page.keyboard.press('Enter')
    await inspector().getByText('The body of an async function.').first().waitFor()
    await until(async () => (await saved(visited, id)).blocks['kb']?.type === 'function')
    expect(await edges()).toEqual(before)
    expect((await saved(visited, id)).blocks['kb']).toMatchObject({ name: 'Look up', params: { code: 'return null' } })
    await page.keyboard.press('Control+z')
    await inspector().getByRole('region', { name: 'What is missing' }).waitFor()
  }, 120_000)

  test('is not offered as a new block, and causes no page errors', async () => {
    const { page } = visited
    await page.keyboard.press('Escape')
    expect(await page.getByRole('button', { name: 'Placeholder', exact: true }).count()).toBe(0)
    expect(visited.pageErrors).toEqual([])
  }, 120_000)
})
