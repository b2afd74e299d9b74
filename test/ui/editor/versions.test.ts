import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block, type Draft, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import { type Visit, visit } from '../../support/ui/browser.ts'
import { node, openWorkflow, saved, until } from '../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../accessibility.ts'

let visited: Visit
beforeAll(async () => {
  visited = await visit()
}, 120_000)
afterAll(() => visited.close())

const at = (x: number, y: number) => ({ position: { x, y } })
const start = block('Start', 'api_trigger', { inputFormat: [] }, at(0, 0))

/** Opens a workflow whose version 1 is live. */
async function openDeployed(name: string, blocks: Draft['blocks'], edges: string[]): Promise<string> {
  const { page, serving, apiKey } = visited
  const id = await openWorkflow(visited, { name, blocks, edges })
  await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  await page.reload()
  await page.getByRole('button', { name: 'v1 is live', exact: true }).waitFor()
  return id
}

test('the header turns amber with the first saved change, and back after undo and after deploying', async () => {
  const { page, pageErrors } = visited
  const reply = block('Reply', 'response', { data: 'one', status: 200 }, at(320, 0))
  const id = await openDeployed('Amber', [start, reply], ['Start > Reply'])
  const isLive = page.getByRole('button', { name: 'v1 is live', exact: true })
  const isChanged = page.getByRole('button', { name: 'v1 is live, draft changed' })
  const deploy = page.getByRole('button', { name: 'Deploy', exact: true })
  const background = async (name: string) => {
    const button = page.getByRole('button', { name, exact: true })
    return await button.evaluate((element) => getComputedStyle(element).backgroundColor)
  }
  // Run is the primary action. Deploy looks like any other button while there is nothing to deploy.
  const quiet = await background('Deploy')
  const primary = await background('Run')
  expect(quiet).not.toBe(primary)

  await node(page, 'Reply').click()
  const inspector = page.getByRole('complementary', { name: 'Block Reply' })
  await inspector.getByLabel('Status').fill('201')
  await saved(visited, id)
  await isChanged.waitFor()
  await until(async () => (await background('Deploy')) !== quiet)
  expect(await background('Deploy')).not.toBe(primary)

  await page.locator('.react-flow__pane').click({ position: { x: 300, y: 500 } })
  await page.keyboard.press('Control+z')
  await isLive.waitFor()
  await until(async () => (await background('Deploy')) === quiet)

  // Changes that do not affect runs do not count.
  await node(page, 'Reply').click()
  await page.keyboard.press('ArrowRight')
  await saved(visited, id)
  await isLive.waitFor()

  await inspector.getByLabel('Status').fill('202')
  await isChanged.waitFor()
  await deploy.click()
  await page.getByRole('dialog').getByRole('button', { name: 'Deploy version 2' }).click()
  await page.getByRole('dialog').getByRole('button', { name: 'Close' }).click()
  await page.getByRole('button', { name: 'v2 is live', exact: true }).waitFor()
  expect(pageErrors).toEqual([])
}, 120_000)

test('the menu of the editor duplicates, moves, undeploys and deletes the open workflow', async () => {
  const { page, serving, apiKey, workspaceId } = visited
  const id = await openDeployed('Menu', [start], [])
  const choose = async (name: string) => {
    await page.getByRole('button', { name: 'More', exact: true }).click()
    await page.getByRole('menuitem', { name, exact: true }).click()
    await page.getByRole('menu').waitFor({ state: 'detached' })
  }
  const dialog = page.getByRole('dialog')
  const notes = page.getByRole('region', { name: 'Notifications' })
  const names = async () => {
    const { body } = await call(`${serving.url}/api/workflows?workspaceId=${workspaceId}`, apiKey)
    return (body as { data: { name: string }[] }).data.map(({ name }) => name)
  }

  await choose('Move to folder')
  await dialog.getByLabel('Folder').fill(' tools / old ')
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByRole('button', { name: 'Move', exact: true }).click()
  await page.getByText('tools/old', { exact: true }).waitFor()
  await saved(visited, id)
  expect((await call(`${serving.url}/api/workflows/${id}`, apiKey)).body).toMatchObject({ folder: 'tools/old' })

  await choose('Duplicate')
  await notes.getByText('Menu copy was created.').waitFor()
  expect(await names()).toContain('Menu copy')

  await choose('Undeploy')
  await dialog.getByText('Version 1 stops').waitFor()
  await dialog.getByRole('button', { name: 'Undeploy' }).click()
  await page.getByText('Not deployed', { exact: true }).waitFor()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Duplicate' }).waitFor()
  expect(await page.getByRole('menuitem', { name: 'Undeploy' }).count()).toBe(0)
  await page.keyboard.press('Escape')
  await page.getByRole('menu').waitFor({ state: 'detached' })

  await choose('Delete')
  await dialog.getByRole('button', { name: 'Delete' }).click()
  await page.getByRole('heading', { name: 'Workflows', level: 1 }).waitFor()
  expect(await names()).not.toContain('Menu')
  await notes.getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await names()).includes('Menu'))
}, 120_000)

test('the deploy dialog shows each change with its values and takes a note; secrets stay hidden', async () => {
  const { page, serving, apiKey, pageErrors } = visited
  const code = (last: string) => ['const order = <start.input>', 'const tax = 0.2', '', last].join('\n')
  const headers = [{ key: 'Authorization', value: 'Bearer old-secret-token' }]
  const [call1, sum] = [
    block('Fetch', 'api', { url: 'https://one.example/orders', retries: 1, headers }, at(320, 0)),
    block('Sum', 'function', { code: code('return 1') }, at(640, 0)),
  ]
  const id = await openDeployed('Values', [start, call1, sum], ['Start > Fetch', 'Fetch > Sum'])
  const changed = document({
    name: 'Values',
    blocks: [
      start,
      block(
        'Fetch',
        'api',
        {
          ...{ url: 'https://two.example/orders', retries: 1 },
          headers: [{ key: 'Authorization', value: 'Bearer new-secret-token' }],
        },
        at(320, 0),
      ),
      block('Sum', 'function', { code: code('return 2') }, at(640, 0)),
      block('Reply', 'response', { data: 'done' }, at(960, 0)),
    ],
    edges: ['Start > Fetch', 'Fetch > Sum', 'Sum > Reply'],
    variables: { rate: { type: 'number', value: 3 } },
  })
  await call(`${serving.url}/api/workflows/${id}`, apiKey, 'PUT', changed)
  await page.reload()
  await page.getByRole('button', { name: 'v1 is live, draft changed' }).click()
  const dialog = page.getByRole('dialog')
  const changes = dialog.getByRole('region', { name: 'Changes since version 1' })
  await changes.getByText('1 block added, 2 blocks changed, 1 connection changed, run variables changed').waitFor()
  await changes.getByText('https://one.example/orders').waitFor()
  await changes.getByText('https://two.example/orders').waitFor()
  await changes.getByText('removed: return 1').waitFor()
  await changes.getByText('added: return 2').waitFor()
  await changes.getByText('Sum → Reply').waitFor()
  await changes.getByText('The secret changed.').waitFor()
  expect(await dialog.textContent()).not.toContain('secret-token')
  expect(await accessibilityFaults(page)).toEqual([])
  await dialog.getByLabel('Name of the version').fill('Second host')
  await dialog.getByLabel('What changed, and why').fill('The first host closes in May.')
  await dialog.getByRole('button', { name: 'Deploy version 2' }).click()
  await page.getByRole('region', { name: 'Notifications' }).getByText('Version 2 is live.').waitFor()
  const { body } = await call(`${serving.url}/api/workflows/${id}/deployments/2`, apiKey)
  expect(body).toMatchObject({ name: 'Second host', description: 'The first host closes in May.', isActive: true })
  expect(pageErrors).toEqual([])
}, 120_000)

test('versions show their author and note, and can be previewed, compared, activated and restored', async () => {
  const { page, serving, apiKey, pageErrors } = visited
  const coded = (code: string) => [start, block('Draw', 'function', { code }, at(320, 0))]
  const id = await openDeployed('Versions', coded('return 1'), ['Start > Draw'])
  const api = `${serving.url}/api/workflows/${id}`
  await call(api, apiKey, 'PUT', document({ name: 'Versions', blocks: coded('return 2'), edges: ['Start > Draw'] }))
  await call(`${api}/deploy`, apiKey, 'POST', { name: 'Two', description: 'Returns two.' })
  await page.reload()
  await page.getByRole('button', { name: 'More', exact: true }).click()
  await page.getByRole('menuitem', { name: 'Versions' }).click()
  const dialog = page.getByRole('dialog')
  const [second, first] = ['v2', 'v1'].map((text) => dialog.getByRole('listitem').filter({ hasText: text })) as [
    ReturnType<typeof dialog.getByRole>,
    ReturnType<typeof dialog.getByRole>,
  ]
  await second.getByText('Returns two.').waitFor()
  await second.getByText('Live', { exact: true }).waitFor()
  await until(async () => / by \S+@\S+/.test((await first.textContent()) ?? ''))
  expect(await accessibilityFaults(page)).toEqual([])
  await first.getByLabel('Name of version 1').fill('The first')
  await first.getByLabel('Name of version 1').press('Enter')
  type Version = { version: number; name: string | null; description: string | null; isActive: boolean }
  const versions = async () => ((await call(`${api}/deployments`, apiKey)).body as { data: Version[] }).data
  await until(async () => (await versions()).some(({ name }) => name === 'The first'))
  const choose = async (entry: string) => {
    await first.getByRole('button', { name: 'More for version 1' }).click()
    await page.getByRole('menuitem', { name: entry, exact: true }).click()
  }
  await choose('Add note')
  await page.getByRole('dialog', { name: 'Note of version 1' }).getByRole('textbox').fill('As it began.')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await first.getByText('As it began.').waitFor()

  await first.getByRole('button', { name: 'Preview' }).click()
  const preview = dialog.getByRole('region', { name: 'Preview of version 1' })
  await preview.locator('.react-flow__node', { hasText: 'Draw' }).click()
  const settings = preview.getByRole('complementary', { name: 'Settings of Draw' })
  await settings.locator('.cm-content').getByText('return 1').waitFor()
  await settings.locator('.cm-content').click()
  await page.keyboard.type('x')
  expect(await settings.locator('.cm-content').textContent()).toBe('return 1')
  expect(await accessibilityFaults(page)).toEqual([])
  await settings.getByRole('button', { name: 'Close' }).click()
  await settings.waitFor({ state: 'detached' })
  await preview.getByRole('button', { name: 'Fit to view' }).click()
  await dialog.getByRole('button', { name: 'All versions' }).click()

  await first.getByRole('button', { name: 'Compare' }).click()
  const comparison = dialog.getByRole('region', { name: 'Comparison' })
  await comparison.getByText('return 1', { exact: true }).waitFor()
  await comparison.getByText('return 2', { exact: true }).waitFor()
  expect(await accessibilityFaults(page)).toEqual([])
  await comparison.getByLabel('From').selectOption('2')
  await comparison.getByText('No differences that affect runs.').waitFor()
  await comparison.getByLabel('To').selectOption('1')
  await comparison.getByText('return 1', { exact: true }).waitFor()
  await dialog.getByRole('button', { name: 'All versions' }).click()

  await choose('Make live')
  await first.getByText('Live', { exact: true }).waitFor()
  expect((await versions()).find(({ isActive }) => isActive)?.version).toBe(1)
  await choose('Restore into draft')
  await dialog.waitFor({ state: 'detached' })
  const code = async () => (await saved(visited, id)).blocks['Draw']?.params['code']
  await until(async () => (await code()) === 'return 1')
  const restored = page.getByText('Version 1 was restored into the draft.').locator('..')
  await restored.getByRole('button', { name: 'Undo' }).click()
  await until(async () => (await code()) === 'return 2')
  expect(pageErrors).toEqual([])
}, 120_000)
