import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../src/app.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import { startTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { callService } from './call-service.ts'

const data = temporaryFolder()
let app: App
let apiKey = ''
let workspaceId = ''

beforeAll(async () => {
  app = await startTestApp(data.path)
  const made = await createInstallation(app.store, Date.now())
  apiKey = made!.apiKey
  workspaceId = made!.workspaceId
})
afterAll(async () => {
  await app.stop(0)
  data[Symbol.dispose]()
})

const call = (...words: string[]) => callService(app, apiKey, words)

async function json<Data>(...words: string[]): Promise<Data> {
  const { code, out, words: said } = await call(...words, '--json')
  expect({ code, said }).toEqual({ code: 0, said: '' })
  return JSON.parse(out) as Data
}

type Pushed = { id: string; name: string }

/** `text` makes documents differ. */
const greeting = (name: string, text = 'Hello') =>
  document({
    name,
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string' }] }),
      block('answer', 'variables', { assign: [{ name: 'said', value: `${text}, <api.who>` }] }),
    ],
    edges: ['start > answer'],
    variables: { said: { value: '' } },
  })

function write(folder: string, files: Record<string, unknown>): string {
  for (const [name, value] of Object.entries(files)) writeFileSync(join(folder, name), JSON.stringify(value))
  return folder
}

const workflowsNow = async () => (await app.store.listWorkflows(workspaceId)).map(({ id, document }) => [id, document])

describe('tests of workflows', () => {
  const tests = [{ name: 'Greets', input: { who: 'Ada' }, mocks: [], expect: { output: { said: 'Hello, Ada' } } }]
  const testsOf = async (id: string) => JSON.parse((await app.store.getTests(id))?.content ?? '[]')

  test('are pushed from the file beside the document, and exported into one', async () => {
    using folder = temporaryFolder()
    const files = { 'tested.json': greeting('Tested'), 'tested.test.json': { workflow: 'tested.json', tests } }
    const pushed = await json<Pushed[]>('workflows', 'push', write(folder.path, files))
    expect(pushed.map(({ name }) => name)).toEqual(['Tested'])
    const { id } = pushed[0]!
    expect(await testsOf(id)).toEqual(tests)
    // A push of the document alone keeps them.
    using alone = temporaryFolder()
    await json<Pushed[]>('workflows', 'push', write(alone.path, { 'tested.json': greeting('Tested', 'Hi') }))
    expect(await testsOf(id)).toEqual(tests)

    using out = temporaryFolder()
    const written = await json<string[]>('workflows', 'export', '--out', out.path)
    expect(written).toContain(join(out.path, 'tested.test.json'))
    const exported = JSON.parse(readFileSync(join(out.path, 'tested.test.json'), 'utf8'))
    expect(exported).toEqual({ workflow: 'tested.json', tests })
    // Pushing what was exported changes nothing.
    const { revision } = (await app.store.getTests(id))!
    await json<Pushed[]>('workflows', 'push', out.path)
    expect((await app.store.getTests(id))?.revision).toBe(revision)
    // When the tests are gone, the next export does not leave the old ones in the folder.
    await app.store.setTests(id, { content: '[]', at: 1 })
    await json<string[]>('workflows', 'export', '--out', out.path)
    expect(JSON.parse(readFileSync(join(out.path, 'tested.test.json'), 'utf8')).tests).toEqual([])
  })

  test('that cannot be read leave everything as it was, and name the file', async () => {
    using folder = temporaryFolder()
    const before = await workflowsNow()
    const bad = { 'bad.json': greeting('Bad tests'), 'bad.test.json': { tests: [{ name: 'No expectation' }] } }
    const { code, words } = await call('workflows', 'push', write(folder.path, bad))
    expect([code, await workflowsNow()]).toEqual([1, before])
    expect(words).toContain('bad.test.json: tests[0].expect is missing')
  })

  test('are put back when a later document of the push is refused', async () => {
    using folder = temporaryFolder()
    const file = (list: unknown) => ({ 'a.json': greeting('Kept tests'), 'a.test.json': { tests: list } })
    const [kept] = await json<Pushed[]>('workflows', 'push', write(folder.path, file(tests)))
    const double = [...tests, ...tests]
    const later = {
      ...file([{ ...tests[0], name: 'Other' }]),
      'b.json': greeting('Later'),
      'b.test.json': { tests: double },
    }
    expect((await call('workflows', 'push', write(folder.path, later))).code).toBe(1)
    expect(await testsOf(kept!.id)).toEqual(tests)
  })
})
