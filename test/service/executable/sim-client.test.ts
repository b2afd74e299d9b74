import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { join } from 'node:path'
import '../../support/built.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { Gate } from '../../support/gate.ts'
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
  workflowId = await deployed(greets)
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

  test('reads every page of a list', async () => {
    const names = Array.from({ length: 101 }, (_, n) => `Page ${n}`)
    for (const name of names) {
      const draft = document({ name, folder: 'pages', blocks: [] })
      await call(`${service.url}/api/workflows`, installation.apiKey, 'POST', draft)
    }
    const listed = await sim.json<{ data: { name: string }[]; nextCursor: string | null }>(
      ...['workflows', 'list', '--folder', 'pages', '--limit', '0', '--sort-by', 'createdAt'],
    )
    expect(listed.data.map(({ name }) => name)).toEqual(names)
    expect(listed.nextCursor).toBeNull()
  })

  test('creates, renames, moves and deletes a workflow', async () => {
    const { id } = await sim.json<{ id: string }>('workflows', 'create', '--name', 'Made', '--folder', 'made here')
    expect(await own(`/api/workflows/${id}`)).toMatchObject({ name: 'Made', folder: 'made here' })
    await sim.json('workflows', 'update', id, '--name', 'Made again')
    await sim.json('workflows', 'move', '--workflow', id, '--to', 'moved here')
    expect(await own(`/api/workflows/${id}`)).toMatchObject({ folder: 'moved here' })
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

  test('exports a workflow, and imports it as an equal one that runs', async () => {
    const file = await sim.json<object>('workflows', 'export', workflowId)
    expect(file).toMatchObject({ version: '1.0', workflow: { id: workflowId, name: 'Greets' } })
    const path = join(folder.path, 'greets.json')
    await Bun.write(path, JSON.stringify(file))
    const taken = await sim.run('workflows', 'import', '--workflow', `@${path}`)
    expect([taken.code, taken.words]).toEqual([1, expect.stringContaining('has a workflow named "Greets"')])
    const into = ['--name', 'Greets again', '--folder', 'imported']
    const imported = await sim.json<{ id: string }>('workflows', 'import', '--workflow', `@${path}`, ...into)
    expect(imported).toMatchObject({ name: 'Greets again', folderPath: '/imported', warnings: [] })
    const [before, after] = await Promise.all([
      own<Draft>(`/api/workflows/${workflowId}`),
      own<Draft>(`/api/workflows/${imported.id}`),
    ])
    expect(after.folder).toBe('imported')
    expect({ blocks: after.blocks, edges: after.edges }).toEqual({ blocks: before.blocks, edges: before.edges })
    await sim.json('workflows', 'deploy', imported.id)
    const run = await sim.json<Run>('workflows', 'run', imported.id, '--input', '{"name":"Grace"}')
    expect(run).toMatchObject({ output: { result: 'Hello, Grace.' } })
    // The command finds the blocks of a selection in the state of the workflow.
    const selected = await runOf(imported.id, run.runId, '--select-output', 'greet.result')
    expect(selected).toMatchObject({ blockOutputs: { 'greet.result': 'Hello, Grace.' } })
  })

  test('runs a workflow, and says when it fails', async () => {
    const run = await sim.json<Run>('workflows', 'run', workflowId, '--input', '{"name":"Ada"}')
    expect(run).toMatchObject({ workflowId, status: 'completed', output: { result: 'Hello, Ada.' } })
    const logged = await own<{ success: boolean }>(`/api/workflows/${workflowId}/executions/${run.runId}`)
    expect(logged).toMatchObject({ status: 'completed', output: { result: 'Hello, Ada.' } })
    const failing = await deployed(
      document({
        name: 'Fails',
        blocks: [block('start', 'api_trigger'), block('fail', 'function', { code: 'throw new Error("no luck")' })],
        edges: ['start > fail'],
      }),
    )
    const failed = await sim.run('--output', 'json', 'workflows', 'run', failing)
    expect([failed.code, failed.words]).toEqual([1, expect.stringContaining('no luck')])
    expect(JSON.parse(failed.out)).toMatchObject({ status: 'failed', error: { blockId: 'fail' } })
    const unfit = await sim.run('workflows', 'run', workflowId, '--input', '{}')
    expect([unfit.code, unfit.words]).toEqual([1, expect.stringContaining('name')])
  })

  test('follows a run while it happens', async () => {
    const { code, out } = await sim.run(
      ...['--output', 'json', 'workflows', 'run', workflowId, '--input', '{"name":"Mary"}', '--follow'],
    )
    expect([code, JSON.parse(out)]).toMatchObject([0, { success: true, output: { result: 'Hello, Mary.' } }])
  })

  test('starts a run, waits for its end, and lists and shows it', async () => {
    const peer = new Gate()
    try {
      const blocks = [block('start', 'api_trigger'), block('call', 'api', { url: `${peer.url}/warm`, method: 'GET' })]
      const id = await deployed(document({ name: 'Slow', blocks, edges: ['start > call'] }))
      const { runId } = await sim.json<Run>('workflows', 'run', id, '--async')
      await peer.arrivals(1)
      expect(await runOf(id, runId)).toMatchObject({ runId, status: 'running', endedAt: null })
      const waiting = sim.json<Run>('workflows', 'runs', 'wait', runId, '--workflow', id)
      peer.answer()
      expect(await waiting).toMatchObject({ runId, status: 'completed' })
      expect(await runOf(id, runId, '--include-output')).toMatchObject({ output: { data: { path: '/warm' } } })
      const listed = await sim.json<{ data: Run[] }>('workflows', 'runs', 'list', '--workflow', id)
      expect(listed.data).toMatchObject([{ runId, status: 'completed', trigger: 'api' }])
    } finally {
      await peer.stop()
    }
  })

  test('lists and shows log entries, with the trace', async () => {
    const { runId } = await sim.json<Run>('workflows', 'run', workflowId, '--input', '{"name":"Lin"}')
    const listed = await sim.json<{ data: Run[] }>('logs', 'list', '--workflow', workflowId, '--limit', '1')
    const logs = `/api/v1/logs?workspaceId=${installation.workspaceId}&workflowIds=${workflowId}&limit=1`
    const { data } = await own<{ data: { executionId: string }[] }>(logs)
    expect(listed.data.map((entry) => entry.runId)).toEqual([runId])
    expect(data.map(({ executionId }) => executionId)).toEqual([runId])
    expect((await sim.run('logs', 'list')).out).toContain('Greets')
    const shown = await sim.run('--output', 'json', 'logs', 'get', runId, '--trace')
    expect([shown.code, JSON.parse(shown.out)]).toMatchObject([0, { runId, workflow: { id: workflowId } }])
    expect(shown.out).toContain('Hello, Lin.')
  })

  test('resumes a run that waits for somebody, and cancels another one', async () => {
    const id = await deployed(
      document({
        name: 'Asks',
        blocks: [
          block('start', 'api_trigger'),
          block('ask', 'approval', {
            title: 'Go on?',
            access: 'members',
            fields: [{ name: 'reason', type: 'string' }],
          }),
          block('say', 'function', { code: 'return [<ask.approved>, <ask.fields.reason>]' }),
        ],
        edges: ['start > ask', 'ask > say'],
      }),
    )
    const { runId, status } = await sim.json<Run>('workflows', 'run', id)
    expect(status).toBe('paused')
    const waited = await sim.run('workflows', 'runs', 'wait', runId, '--workflow', id)
    expect([waited.code, waited.words]).toEqual([3, expect.stringContaining('waiting for input')])
    const { paused } = await runOf(id, runId)
    const answer = '{"approved":true,"reason":"fine"}'
    const context = paused?.contextId ?? ''
    await sim.json('workflows', 'runs', 'resume', runId, '--workflow', id, '--context', context, '--input', answer)
    await sim.json('workflows', 'runs', 'wait', runId, '--workflow', id)
    expect(await runOf(id, runId, '--include-output')).toMatchObject({
      ...{ status: 'completed', output: { result: [true, 'fine'] } },
    })

    const other = await sim.json<Run>('workflows', 'run', id)
    await sim.json('workflows', 'runs', 'cancel', other.runId, '--workflow', id)
    expect(await runOf(id, other.runId)).toMatchObject({ status: 'cancelled' })
    const cancelled = await sim.run('workflows', 'runs', 'wait', other.runId, '--workflow', id)
    expect(cancelled.code).toBe(2)
  })
})

type Draft = { folder?: string; blocks: object; edges: object[] }
type Run = { runId: string; status: string; paused?: { contextId: string } | null }

function runOf(id: string, runId: string, ...more: string[]): Promise<Run> {
  return sim.json<Run>('workflows', 'runs', 'get', runId, '--workflow', id, ...more)
}

/** Deploys a workflow. Returns its ID. */
async function deployed(draft: object): Promise<string> {
  return (await deploy(service.url, installation.apiKey, draft)).split('/').at(-2)!
}
