import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../src/app.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
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

const webhooks = [{ id: 'hook', url: 'https://example.com/', secret: 'a secret' }]

type Pushed = { id: string; name: string; version?: number }
type Listed = { id: string; name: string; isDeployed: boolean; version: number | null }

/** A workflow that greets. `text` makes documents differ. */
function greeting(name: string, text = 'Hello'): WorkflowDocument {
  return document({
    name,
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'who', type: 'string' }] }),
      block('answer', 'variables', { assign: [{ name: 'said', value: `${text}, <api.who>` }] }),
    ],
    edges: ['start > answer'],
    variables: { said: { value: '' } },
  })
}

function write(folder: string, documents: Record<string, unknown>): string {
  mkdirSync(folder, { recursive: true })
  for (const [name, value] of Object.entries(documents)) {
    mkdirSync(join(folder, name, '..'), { recursive: true })
    writeFileSync(join(folder, name), typeof value === 'string' ? value : JSON.stringify(value))
  }
  return folder
}

/** The full content of the workspace, to show that nothing changed. */
async function contents(): Promise<unknown> {
  const rows = await app.store.listWorkflows(workspaceId)
  return Promise.all(
    rows.map(async ({ id, document, activeVersion }) => {
      const webhooks = await app.store.listSubscriptions(id)
      return { id, document, activeVersion, webhooks: webhooks.map(({ id, url, secret }) => ({ id, url, secret })) }
    }),
  )
}

describe('push', () => {
  test('creates and deploys a workflow that runs, and updates it by name the next time', async () => {
    using folder = temporaryFolder()
    const file = join(write(folder.path, { 'a.json': greeting('Push once') }), 'a.json')
    const [first] = await json<Pushed[]>('workflows', 'push', file, '--deploy')
    expect(first).toEqual({ id: expect.any(String), name: 'Push once', version: 1 })
    const ran = await call('run', first!.id, '--input', '{"who": "Ada"}')
    expect(ran).toEqual({ code: 0, out: '{\n  "said": "Hello, Ada"\n}\n', words: '' })

    write(folder.path, { 'a.json': greeting('Push once', 'Bye') })
    const [second] = await json<Pushed[]>('workflows', 'push', file, '--deploy')
    expect(second).toEqual({ id: first!.id, name: 'Push once', version: 2 })
    const envelope = await json<object>('run', first!.id, '--input', '{"who": "Ada"}')
    expect(envelope).toMatchObject({
      success: true,
      output: { said: 'Bye, Ada' },
      metadata: { duration: expect.any(Number) },
    })
  })

  test('keeps an unused ID, and prefers the ID to the name', async () => {
    using folder = temporaryFolder()
    write(folder.path, { 'a.json': { ...greeting('By id'), id: 'my-own-id' } })
    expect(await json<Pushed[]>('workflows', 'push', folder.path)).toEqual([{ id: 'my-own-id', name: 'By id' }])
    write(folder.path, { 'a.json': { ...greeting('By id, renamed'), id: 'my-own-id' } })
    expect(await json<Pushed[]>('workflows', 'push', folder.path)).toEqual([
      { id: 'my-own-id', name: 'By id, renamed' },
    ])
    expect((await json<Listed[]>('workflows', 'list')).filter(({ name }) => name.startsWith('By id'))).toHaveLength(1)
  })

  test('accepts folders, including their subfolders', async () => {
    using folder = temporaryFolder()
    write(folder.path, {
      'one.json': greeting('Tree one'),
      'deep/er/two.json': greeting('Tree two'),
      'notes.txt': 'no',
    })
    const pushed = await json<Pushed[]>('workflows', 'push', folder.path)
    expect(pushed.map(({ name }) => name)).toEqual(['Tree two', 'Tree one'])
  })

  const broken = { ...greeting('Broken'), edges: [{ source: 'start', target: 'nowhere' }] }
  test.each<[string, Record<string, unknown>, string[], string]>([
    ['a file that is not JSON', { 'a.json': greeting('N1'), 'b.json': '{' }, [], 'b.json is not valid JSON'],
    [
      'a document of the wrong shape',
      { 'a.json': greeting('N2'), 'b.json': { name: 7 } },
      [],
      'b.json: name must be text',
    ],
    [
      'a document that cannot be deployed',
      { 'a.json': greeting('N3'), 'b.json': broken },
      ['--deploy'],
      'b.json: error: ',
    ],
    ['two documents with the same name', { 'a.json': greeting('N4'), 'b.json': greeting('N4') }, [], 'both have'],
    ['an empty folder', {}, [], 'contains no .json file'],
  ])('changes nothing for %s', async (_what, files, flags, message) => {
    using folder = temporaryFolder()
    const before = await contents()
    const { code, out, words } = await call('workflows', 'push', write(folder.path, files), ...flags)
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(words).toContain(message)
    expect(words).toContain('Nothing was changed.')
    expect(await contents()).toEqual(before)
  })

  test('undoes all changes when the service rejects one document', async () => {
    using folder = temporaryFolder()
    const known = (id: string, text = 'Hello') => ({ ...greeting(`Undo ${id}`, text), id })
    write(folder.path, { 'b.json': { ...known('b'), webhooks }, 'd.json': greeting('Undo taken') })
    write(folder.path, { 'e.json': known('e'), 'f.json': known('f') })
    await json<Pushed[]>('workflows', 'push', folder.path, '--deploy')
    const before = await contents()
    write(folder.path, {
      'a.json': greeting('Undo a'),
      'b.json': { ...known('b', 'Changed'), webhooks: [] },
      'c.json': known('c'),
      'e.json': { ...known('e'), webhooks },
    })
    // Another workflow has this name, which only the service can detect, after others were saved.
    const late = join(folder.path, 'late.json')
    write(folder.path, { 'late.json': { ...greeting('Undo taken'), id: 'f' } })
    const files = ['a.json', 'b.json', 'c.json', 'e.json'].map((name) => join(folder.path, name))
    const { code, out, words } = await call('workflows', 'push', ...files, late, '--deploy')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(words).toContain('late.json: PUT')
    expect(words).toContain('returned 409')
    expect(words).toContain('Nothing was changed.')
    expect(await contents()).toEqual(before)
  })

  test('reactivates the previous version when a later deployment is rejected', async () => {
    using folder = temporaryFolder()
    const files = {
      'a.json': { ...greeting('Back a'), id: 'back-a' },
      'b.json': { ...greeting('Back b'), id: 'back-b' },
    }
    await json<Pushed[]>('workflows', 'push', write(folder.path, files), '--deploy')
    const before = await contents()
    // A proxy rejects only the deployment of the second workflow.
    const proxy = Bun.serve({
      port: 0,
      hostname: '127.0.0.1',
      async fetch(request) {
        const { pathname, search } = new URL(request.url)
        if (pathname === '/api/workflows/back-b/deploy')
          return Response.json({ error: 'Not now.', code: 'X' }, { status: 503 })
        return fetch(app.address.url + pathname + search, {
          method: request.method,
          headers: request.headers,
          ...(request.method === 'GET' ? {} : { body: await request.text() }),
        })
      },
    })
    write(folder.path, {
      'a.json': { ...greeting('Back a', 'New'), id: 'back-a' },
      'b.json': { ...greeting('Back b', 'New'), id: 'back-b' },
    })
    const { code, words } = await call(
      'workflows',
      'push',
      folder.path,
      '--deploy',
      '--url',
      `http://127.0.0.1:${proxy.port}`,
    )
    await proxy.stop(true)
    expect(code).toBe(1)
    expect(words).toContain('b.json: POST')
    expect(words).toContain('Nothing was changed.')
    expect(await contents()).toEqual(before)
  })
})

test('pushing exported documents changes nothing', async () => {
  using folder = temporaryFolder()
  const notes = { n: { text: 'Ask Ada' } }
  write(folder.path, { 'a.json': { ...greeting('Round trip!'), webhooks, notes, limits: { timeoutMs: 900 } } })
  const [pushed] = await json<Pushed[]>('workflows', 'push', folder.path)
  const one = await json<WorkflowDocument>('workflows', 'export', pushed!.id)
  expect(one).toMatchObject({ id: pushed!.id, name: 'Round trip!', variables: { said: { value: '' } } })
  expect(one).toMatchObject({ notes, limits: { timeoutMs: 900 } })
  expect(Object.keys(one)).not.toContain('createdAt')

  const out = join(folder.path, 'out')
  const files = await json<string[]>('workflows', 'export', '--out', out)
  expect(readdirSync(out)).toContain('round-trip.json')
  expect(files).toHaveLength(readdirSync(out).length)
  expect(JSON.parse(readFileSync(join(out, 'round-trip.json'), 'utf8'))).toEqual(one)
  const before = await contents()
  await json<Pushed[]>('workflows', 'push', out)
  expect(await contents()).toEqual(before)
})

describe('pinned outputs', () => {
  const mocks = [{ block: 'answer', output: { said: 'Pinned' } }]

  test('are exported only with --pins, and pinned again by a push', async () => {
    using folder = temporaryFolder()
    const [pushed] = await json<Pushed[]>('workflows', 'push', write(folder.path, { 'a.json': greeting('Held') }))
    const exported = () => json<{ mocks?: unknown }>('workflows', 'export', 'Held', '--pins')
    expect(await exported()).not.toHaveProperty('mocks')
    await json<Pushed[]>('workflows', 'push', write(folder.path, { 'a.json': { ...greeting('Held'), mocks } }))
    expect(await exported()).toMatchObject({ id: pushed!.id, mocks })
    expect(await json<object>('workflows', 'export', 'Held')).not.toHaveProperty('mocks')
  })

  test('that cannot be read or pinned leave everything as it was', async () => {
    using folder = temporaryFolder()
    const before = await contents()
    const refusedBy = async (bad: unknown) => {
      const files = write(folder.path, { 'a.json': { ...greeting('Bad pins'), mocks: bad } })
      const { code, words } = await call('workflows', 'push', files)
      expect([code, await contents()]).toEqual([1, before])
      return words
    }
    expect(await refusedBy([{ block: 'answer', output: 1 }])).toContain('mocks must be a list')
    expect(await refusedBy([...mocks, { block: 'nowhere', output: {} }])).toContain('no block "nowhere"')
  })
})

test('deploy, versions, status, activate and undeploy accept an ID or a name', async () => {
  using folder = temporaryFolder()
  const files = () => write(folder.path, { 'a.json': greeting('Life', String(Math.random())) })
  const [{ id }] = (await json<Pushed[]>('workflows', 'push', files())) as [Pushed]
  const status = () =>
    json<{ isDeployed: boolean; version: number | null; needsRedeployment: boolean }>('workflows', 'status', id)
  expect(await status()).toMatchObject({ isDeployed: false })
  expect((await call('workflows', 'status', 'Life')).out).toBe('Not deployed.\n')
  expect(await json<object>('workflows', 'deploy', 'Life')).toMatchObject({ version: 1 })
  await call('workflows', 'push', files())
  expect(await status()).toMatchObject({ isDeployed: true, version: 1, needsRedeployment: true })
  await call('workflows', 'deploy', id)
  const versions = await json<{ version: number; isActive: boolean }[]>('workflows', 'versions', id)
  expect(versions.toSorted((a, b) => a.version - b.version)).toMatchObject([
    { version: 1, isActive: false },
    { version: 2, isActive: true },
  ])
  expect((await call('workflows', 'activate', id, '1')).code).toBe(0)
  expect(await status()).toMatchObject({ isDeployed: true, version: 1 })
  expect((await call('workflows', 'undeploy', 'Life')).code).toBe(0)
  expect(await status()).toMatchObject({ isDeployed: false })
})

test('push --deploy deploys changed workflows and reports the version of unchanged ones', async () => {
  using folder = temporaryFolder()
  const pushed = (version: number) =>
    call('workflows', 'push', write(folder.path, { 'a.json': greeting('Same', `hello ${version}`) }), '--deploy')
  expect((await pushed(1)).out).toContain('created, deployed as version 1')
  expect((await pushed(1)).out).toContain('updated, version 1 is already up to date')
  expect((await pushed(2)).out).toContain('updated, deployed as version 2')
  expect(await json<object[]>('workflows', 'versions', 'Same')).toHaveLength(2)
})
