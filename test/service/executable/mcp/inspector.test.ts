import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { McpInspector } from '../../../support/mcp-inspector.ts'
import { deploy, type Installation, init, type Serving, serve } from '../../../support/running-service.ts'

// Tests the executable with the published inspector of the Model Context Protocol, unmodified, in command line mode.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let inspector: McpInspector

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path)
  await deploy(service.url, installation.apiKey, {
    ...document({
      name: 'Greets',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'name', type: 'string', required: true }] }),
        block('greet', 'function', { code: 'return `Hello, ${<start.name>}.`' }),
        block('end', 'response', { data: { text: '<greet.result>' } }),
      ],
      edges: ['start > greet', 'greet > end'],
    }),
    mcp: { expose: true },
  })
  inspector = new McpInspector({ url: service.url, apiKey: installation.apiKey, folder: folder.path })
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

type Listed = { tools: { name: string }[] }
type Called = { structuredContent: Record<string, unknown>; isError?: boolean }

describe('the inspector', () => {
  test('lists tools whose schemas every client understands', async () => {
    // With --strict, it fails when a schema is not portable. It also warns of members that may be anything.
    const { code, out, words } = await inspector.run('--method', 'tools/list', '--strict')
    expect([code, words]).toEqual([0, expect.stringMatching(/\b0 errors, /)])
    const { tools } = (JSON.parse(out) as { result: Listed }).result
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining(['greets', 'edit_workflow', 'run_draft']))
  })

  test('calls a workflow and a building tool', async () => {
    const greeted = await inspector.json<Called>('tools/call', '--tool-name', 'greets', '--tool-arg', 'name=Ada')
    expect(greeted.structuredContent).toEqual({ text: 'Hello, Ada.' })
    const listed = await inspector.json<Called>('tools/call', '--tool-name', 'list_workflows')
    expect(listed.structuredContent).toMatchObject({ workflows: [{ name: 'Greets', isTool: true }] })
  })

  test('reports the error of a tool', async () => {
    const { code, out } = await inspector.run('--method', 'tools/call', '--tool-name', 'greets')
    const { result } = JSON.parse(out) as { result: Called }
    expect([code, result.structuredContent]).toEqual([5, expect.objectContaining({ code: 'INVALID_INPUT' })])
  })

  test('reads resources and prompts', async () => {
    const { resources } = await inspector.json<{ resources: { uri: string; name: string }[] }>('resources/list')
    const { uri } = resources.find(({ name }) => name === 'Greets')!
    const { contents } = await inspector.json<{ contents: { text: string }[] }>('resources/read', '--uri', uri)
    expect(JSON.parse(contents[0]?.text ?? '')).toMatchObject({ name: 'Greets' })
    const page = await inspector.json<{ contents: { text: string }[] }>(
      ...(['resources/read', '--uri', 'millrace://docs/mcp'] as const),
    )
    expect(page.contents[0]?.text).toStartWith('# MCP')
    const { prompts } = await inspector.json<{ prompts: { name: string }[] }>('prompts/list')
    expect(prompts.map(({ name }) => name)).toEqual(['build', 'debug'])
    const prompt = ['--prompt-name', 'build', '--prompt-args', 'task=Greet people']
    expect(JSON.stringify(await inspector.json('prompts/get', ...prompt))).toContain('Greet people')
  })

  test('finds the server whichever versions of the protocol it offers', async () => {
    for (const era of ['legacy', 'auto']) {
      const { tools } = await inspector.json<Listed>('tools/list', '--protocol-era', era)
      expect([era, tools.some(({ name }) => name === 'greets')]).toEqual([era, true])
    }
  })

  test('is refused without a valid key', async () => {
    const stranger = new McpInspector({ url: service.url, apiKey: 'mrk_wrong', folder: folder.path })
    const { code } = await stranger.run('--method', 'tools/list', '--stored-auth-only')
    expect(code).toBe(3)
  })

  test('connects again after the service was killed', async () => {
    await service.kill('SIGKILL')
    expect((await inspector.run('--method', 'tools/list')).code).not.toBe(0)
    service = await serve(folder.path, { MILLRACE_PORT: new URL(service.url).port })
    const greeted = await inspector.json<Called>('tools/call', '--tool-name', 'greets', '--tool-arg', 'name=Ada')
    expect(greeted.structuredContent).toEqual({ text: 'Hello, Ada.' })
  }, 60_000)
})
