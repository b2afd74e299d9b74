import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { callTool, connectMcp } from '../../../support/mcp-client.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../../support/running-service.ts'

// Tests the executable with the official client of the Model Context Protocol, unmodified.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let client: Client

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  for (const workflow of [greets, silent, fails, asks, waits]) await deploy(service.url, installation.apiKey, workflow)
  client = await connectMcp(service.url, installation.apiKey)
}, 120_000)
afterAll(async () => {
  await client?.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

const start = (...inputFormat: object[]) => block('start', 'api_trigger', { inputFormat })
const greets = {
  ...document({
    name: 'Greets people',
    blocks: [
      start(
        { name: 'name', type: 'string', required: true, description: 'Who is greeted' },
        { name: 'loud', type: 'boolean' },
      ),
      block('greet', 'function', { code: 'return `Hello, ${<start.name>}.`' }),
      block('end', 'response', { data: { text: '<greet.result>', loud: '<start.loud>' } }),
    ],
    edges: ['start > greet', 'greet > end'],
  }),
  mcp: { expose: true, description: 'Greets a person by name.' },
}
const silent = document({ name: 'Not exposed', blocks: [start()], edges: [] })
const fails = {
  ...document({
    name: 'Fails',
    blocks: [start(), block('boom', 'function', { code: 'throw new Error("The shop is closed.")' })],
    edges: ['start > boom'],
  }),
  mcp: { expose: true },
}
const asks = {
  ...document({
    name: 'Asks',
    blocks: [start(), block('ask', 'approval', { title: 'May I?' })],
    edges: ['start > ask'],
  }),
  mcp: { expose: true, name: 'ask_someone' },
}
const waits = {
  ...document({
    name: 'Waits',
    blocks: [start(), block('wait', 'wait', { ms: 25_000 })],
    edges: ['start > wait'],
  }),
  mcp: { expose: true },
}

type Run = { executionId: string; status: string; trigger: string }
async function runs(): Promise<Run[]> {
  const path = `/api/workspaces/${installation.workspaceId}/runs`
  return ((await call(`${service.url}${path}`, installation.apiKey)).body as { data: Run[] }).data
}

describe('the MCP server', () => {
  test('describes itself and its abilities', () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'millrace', title: 'Millrace' })
    expect(client.getServerCapabilities()).toMatchObject({ tools: {} })
  })

  test('lists deployed workflows that opt in, with the schema of their input', async () => {
    const { tools } = await client.listTools()
    const names = tools.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(['greets_people', 'fails', 'ask_someone', 'waits']))
    expect(names).not.toContain('not_exposed')
    expect(tools.find(({ name }) => name === 'greets_people')).toMatchObject({
      description: 'Greets a person by name.',
      inputSchema: {
        type: 'object',
        required: ['name'],
        properties: { name: { type: 'string', description: 'Who is greeted' }, loud: { type: 'boolean' } },
      },
    })
  })

  test('returns the output of a run as text and as structured content, and logs the run with its source', async () => {
    const result = await callTool(client, 'greets_people', { name: 'Ada', loud: true })
    expect(result.structuredContent).toEqual({ text: 'Hello, Ada.', loud: true })
    expect(JSON.parse(result.content[0]!.text)).toEqual({ text: 'Hello, Ada.', loud: true })
    const query = `workspaceId=${installation.workspaceId}&limit=1`
    const { body } = await call(`${service.url}/api/v1/logs?${query}`, installation.apiKey)
    expect((body as { data: unknown[] }).data[0]).toMatchObject({ trigger: 'api', source: 'mcp', level: 'info' })
  })

  test('explains wrong arguments so that a model can correct them', async () => {
    const { isError, content } = await callTool(client, 'greets_people', { loud: 'maybe' })
    expect(isError).toBe(true)
    expect(content[0]!.text).toContain('name: The field "name" is required.')
    expect(content[0]!.text).toContain('loud: The field "loud" must be true or false.')
  })

  test('returns the error of a failed run, with its block and its ID', async () => {
    const { isError, content, structuredContent } = await callTool(client, 'fails')
    expect(isError).toBe(true)
    expect(content[0]!.text).toContain('The run failed in the block "boom"')
    expect(content[0]!.text).toContain('The shop is closed.')
    expect(structuredContent).toMatchObject({
      code: 'EXECUTION_FAILED',
      blockId: 'boom',
      executionId: expect.any(String),
    })
  })

  test('says that a run is paused, and where', async () => {
    const { isError, content, structuredContent } = await callTool(client, 'ask_someone')
    expect(isError).toBeUndefined()
    expect(content[0]!.text).toContain('is paused at "ask" (approval)')
    expect(structuredContent).toMatchObject({ status: 'paused', paused: [{ blockId: 'ask', kind: 'approval' }] })
  })

  test('sends progress while a run is in progress', async () => {
    const progress: { progress: number; message?: string | undefined }[] = []
    const onprogress = (each: { progress: number; message?: string | undefined }) => void progress.push(each)
    const { structuredContent } = await callTool(client, 'greets_people', { name: 'Ada' }, { onprogress })
    expect(structuredContent).toMatchObject({ text: 'Hello, Ada.' })
    expect(progress.map(({ message }) => message)).toEqual(['start: success', 'greet: success', 'end: success'])
    expect(progress.map((each) => each.progress)).toEqual([1, 2, 3])
  })

  test.each([
    ['', {}],
    [' and reports its progress', { onprogress: () => undefined }],
  ])('cancels the run of a call that the client cancels%s', async (_, more) => {
    const controller = new AbortController()
    const calling = callTool(client, 'waits', {}, { signal: controller.signal, ...more })
    calling.catch(() => undefined)
    const find = async (status: string) => (await runs()).find((run) => run.status === status)
    let run = await find('processing')
    while (!run) run = await find('processing')
    controller.abort()
    await expect(calling).rejects.toThrow()
    let ended = (await runs()).find((each) => each.executionId === run.executionId)
    while (ended?.status === 'processing' || !ended)
      ended = (await runs()).find((each) => each.executionId === run.executionId)
    expect(ended.status).toBe('cancelled')
  })

  test('has workflows and runs as resources, and prompts to build and to debug', async () => {
    const { resources } = await client.listResources()
    const greeting = resources.find(({ name }) => name === 'Greets people')!
    const read = async (uri: string) => {
      const { contents } = await client.readResource({ uri })
      return JSON.parse((contents[0] as { text: string }).text)
    }
    expect(await read(greeting.uri)).toMatchObject({ name: 'Greets people', blocks: { greet: { type: 'function' } } })
    const { resourceTemplates } = await client.listResourceTemplates()
    expect(resourceTemplates.map(({ name }) => name)).toEqual(['workflow', 'run', 'documentation'])
    const { structuredContent } = await callTool(client, 'fails')
    const { executionId } = structuredContent as { executionId: string }
    expect(await read(`millrace://runs/${executionId}`)).toMatchObject({ executionId, status: 'failed' })
    await expect(read('millrace://workflows/nothing')).rejects.toThrow('There is no workflow')
    expect((await client.listPrompts()).prompts.map(({ name }) => name)).toEqual(['build', 'debug'])
    const { messages } = await client.getPrompt({ name: 'debug', arguments: { executionId } })
    expect(messages[0]!.content).toMatchObject({ type: 'text', text: expect.stringContaining(executionId) })
    await expect(client.getPrompt({ name: 'build', arguments: {} })).rejects.toThrow('"task" must be a text')
  })

  test('has the pages of the documentation as resources, in Markdown', async () => {
    const pages = (await client.listResources()).resources.filter(({ uri }) => uri.startsWith('millrace://docs/'))
    expect(pages.map(({ name }) => name)).toEqual(expect.arrayContaining(['blocks', 'mcp', 'triggers']))
    for (const { uri, name } of pages) {
      const { contents } = await client.readResource({ uri })
      const [{ text = '', ...more } = {}] = contents as { text?: string }[]
      expect([more, text]).toEqual([{ uri, mimeType: 'text/markdown' }, expect.stringMatching(/^# \S/)])
      // The same text is on the site.
      const response = await fetch(`${service.url}/docs/${name}.md`)
      expect(response.headers.get('content-type')).toBe('text/markdown; charset=utf-8')
      expect(await response.text()).toBe(text)
    }
    for (const page of ['nothing', '../mcp', 'mcp.md', '']) {
      await expect(client.readResource({ uri: `millrace://docs/${page}` })).rejects.toThrow('no such page')
    }
  })

  test('names the document about access when a request has no valid key', async () => {
    for (const authorization of [undefined, 'Bearer nonsense']) {
      const response = await fetch(`${service.url}/mcp`, {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...(authorization && { authorization }) },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
      })
      expect(response.status).toBe(401)
      const named = /resource_metadata="([^"]+)"/.exec(response.headers.get('www-authenticate') ?? '')?.[1] ?? ''
      expect(new URL(named).pathname).toBe('/.well-known/oauth-protected-resource/mcp')
      const metadata = (await (await fetch(`${service.url}${new URL(named).pathname}`)).json()) as { resource: string }
      expect(metadata.resource).toEndWith('/mcp')
    }
  })

  test('accepts the key in X-API-Key, at the address of the workspace, too', async () => {
    const response = await fetch(`${service.url}/mcp/${installation.workspaceId}`, {
      method: 'POST',
      headers: { 'x-api-key': installation.apiKey },
      body: JSON.stringify({ jsonrpc: '2.0', id: 'a', method: 'ping' }),
    })
    expect([response.status, await response.json()]).toEqual([200, { jsonrpc: '2.0', id: 'a', result: {} }])
  })
})
