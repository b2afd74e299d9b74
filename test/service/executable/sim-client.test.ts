import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../support/built.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'
import { SimClient } from '../../support/sim-client.ts'

// Tests the executable with Sim's published command line, unmodified.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let sim: SimClient
let workflowId: string

const greets = document({
  name: 'Greets',
  folder: 'samples/eu west',
  blocks: [
    block('start', 'api_trigger', { inputFormat: [{ name: 'name', type: 'string', required: true }] }),
    block('greet', 'function', { code: 'return `Hello, ${<start.name>}.`' }),
  ],
  edges: ['start > greet'],
})

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  const { apiKey, workspaceId } = installation
  sim = new SimClient({ url: service.url, apiKey, workspaceId, folder: folder.path })
  workflowId = (await deploy(service.url, apiKey, greets)).split('/').at(-2)!
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

/** A response of the service in its own shapes. */
async function own<Body>(path: string): Promise<Body> {
  const { status, body } = await call(`${service.url}${path}`, installation.apiKey)
  if (status !== 200) throw new Error(`${path} returned ${status}: ${JSON.stringify(body)}`)
  return body
}

describe("Sim's command line", () => {
  test('knows its key and its workspace', async () => {
    const who = await sim.json<{ authenticated: boolean; verification: unknown }>('whoami')
    expect(who).toMatchObject({
      authenticated: true,
      workspaceId: installation.workspaceId,
      verification: {
        ...{ status: 'verified', keyType: 'personal', detail: null },
        workspace: { id: installation.workspaceId, memberCount: 1 },
      },
    })
    const stranger = new SimClient({ url: service.url, apiKey: 'mrk_wrong', workspaceId: 'x', folder: folder.path })
    const { code, out } = await stranger.run('whoami')
    expect([code, out]).toEqual([1, expect.stringContaining('misspelt')])
  })

  test('lists and shows workflows as the service holds them', async () => {
    const listed = await sim.json<{ data: { id: string }[] }>('workflows', 'list')
    const { data } = await own<{ data: { id: string; name: string; deployedAt: string | null }[] }>('/api/workflows')
    expect(listed.data.map(({ id }) => id).sort()).toEqual(data.map(({ id }) => id).sort())
    const shown = await sim.json('workflows', 'get', workflowId)
    expect(shown).toMatchObject({
      ...{ id: workflowId, name: 'Greets', folderPath: '/samples/eu%20west', isDeployed: true },
      deployedAt: data.find(({ id }) => id === workflowId)?.deployedAt,
      inputs: [{ name: 'name', type: 'string' }],
    })
    const inFolder = await sim.json<{ data: unknown[] }>('workflows', 'list', '--folder', 'samples/eu west')
    expect(inFolder.data).toMatchObject([{ id: workflowId }])
    expect((await sim.run('workflows', 'list')).out).toContain('samples/eu west')
    const missing = await sim.run('workflows', 'get', 'nothing')
    expect([missing.code, missing.words]).toEqual([1, expect.stringContaining('no workflow')])
  })

  test('creates, renames, moves and deletes a workflow', async () => {
    const { id } = await sim.json<{ id: string }>('workflows', 'create', '--name', 'Made', '--folder', 'made here')
    expect(await own(`/api/workflows/${id}`)).toMatchObject({ name: 'Made', folder: 'made here' })
    await sim.json('workflows', 'update', id, '--name', 'Made again')
    await sim.json('workflows', 'mv', id, '/')
    const changed = await own<object>(`/api/workflows/${id}`)
    expect(changed).toMatchObject({ name: 'Made again' })
    expect('folder' in changed).toBe(false)
    await sim.json('workflows', 'delete', id, '--yes')
    expect((await call(`${service.url}/api/workflows/${id}`, installation.apiKey)).status).toBe(404)
  })

  test('deploys, rolls back and undeploys a workflow, and lists its versions', async () => {
    const { id } = await sim.json<{ id: string }>('workflows', 'create', '--name', 'Versions')
    const active = async () => (await own<{ version: number | null }>(`/api/workflows/${id}/status`)).version
    const first = await sim.json<object>('workflows', 'deploy', id, '--name', 'First')
    expect(first).toMatchObject({ isDeployed: true, version: 1 })
    await sim.json('workflows', 'deploy', id)
    expect(await active()).toBe(2)
    const versions = await sim.json<{ data: object[] }>('workflows', 'versions', 'list', id)
    expect(versions.data).toMatchObject([
      { version: 2, isActive: true, name: null },
      { version: 1, isActive: false, name: 'First' },
    ])
    expect((await sim.run('workflows', 'rollback', id)).words).toContain('--yes')
    await sim.json('workflows', 'rollback', id, '--yes')
    expect(await active()).toBe(1)
    expect(await sim.json('workflows', 'deployment', 'status', id)).toMatchObject({ activeDeployment: { version: 1 } })
    await sim.json('workflows', 'activate', 'create', id, '2', '--yes')
    expect(await active()).toBe(2)
    await sim.json('workflows', 'undeploy', id, '--yes')
    expect(await active()).toBeNull()
  })

  test('sets, lists and deletes secrets, whose values it never gets', async () => {
    const value = 'a value that stays here'
    const set = await sim.json('secrets', 'set', 'WEATHER_TOKEN', '--scope', 'workspace', '--value', value)
    expect(set).toMatchObject({ name: 'WEATHER_TOKEN', scope: 'workspace', unredacted: false })
    const environment = `/api/workspaces/${installation.workspaceId}/environment`
    const variables = async () => (await own<{ data: { name: string }[] }>(environment)).data
    expect(await variables()).toMatchObject([{ name: 'WEATHER_TOKEN', plain: false }])
    const { out } = await sim.run('--output', 'json', 'secrets', 'list')
    expect(out).toContain('WEATHER_TOKEN')
    expect(out).not.toContain(value)
    await sim.json('secrets', 'delete', 'WEATHER_TOKEN', '--scope', 'workspace', '--yes')
    expect(await variables()).toEqual([])
    expect(await sim.json('credentials', 'list')).toEqual({ data: [], nextCursor: null })
  })

  test('lists and moves folders', async () => {
    const { id } = await sim.json<{ id: string }>('workflows', 'create', '--name', 'Filed', '--folder', 'old name')
    const root = await sim.json<{ name: string }[]>('workflows', 'ls')
    expect(root.map(({ name }) => name)).toContain('old name')
    await sim.json('workflows', 'folders', 'move', 'old name', 'new name')
    expect(await own(`/api/workflows/${id}`)).toMatchObject({ folder: 'new name' })
    const folders = await sim.json<{ path: string }[]>('workflows', 'folders', 'list')
    expect(folders.map(({ path }) => path)).toContain('/new%20name')
  })
})
