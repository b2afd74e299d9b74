import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../../support/running-service.ts'
import { freePort } from '../../../support/store/postgres.ts'

// Tests the executable with the published server that exercises every feature of the protocol, unmodified, in a process
// of its own, over both transports.

const program = join(import.meta.dir, '../../../../node_modules/@modelcontextprotocol/server-everything/dist/index.js')

/** Starts the server and waits until it listens. */
async function startEverything(transport: 'streamableHttp' | 'sse') {
  const port = freePort()
  const child = Bun.spawn([process.execPath, program, transport], {
    env: { ...process.env, PORT: `${port}` },
    stdout: 'ignore',
    stderr: 'pipe',
  })
  let said = ''
  const decoder = new TextDecoder()
  const reader = child.stderr.getReader()
  while (!said.includes(`port ${port}`)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`The server did not start: ${said}`)
    said += decoder.decode(value, { stream: true })
  }
  // The server logs its work, and must not wait for a reader.
  void (async () => {
    while (!(await reader.read()).done);
  })()
  const path = transport === 'sse' ? '/sse' : '/mcp'
  const stop = async () => {
    child.kill('SIGKILL')
    await child.exited
  }
  return { url: `http://127.0.0.1:${port}${path}`, [Symbol.asyncDispose]: stop }
}

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

/** Deploys a workflow of one block after its trigger, and runs it. */
async function outputOf(type: string, params: Record<string, unknown>): Promise<Record<string, unknown>> {
  const { apiKey } = installation
  const workflow = document({
    name: `Uses ${type} ${crypto.randomUUID()}`,
    blocks: [block('start', 'api_trigger'), block('it', type, params)],
    edges: ['start > it'],
  })
  const { status, body } = await call(await deploy(service.url, apiKey, workflow), apiKey, 'POST', {})
  if (status !== 200) throw new Error(`The run failed: ${JSON.stringify(body)}`)
  return (body as { output: Record<string, unknown> }).output
}

for (const transport of ['streamableHttp', 'sse'] as const) {
  test(`an agent and a block use the server: ${transport}`, async () => {
    await using server = await startEverything(transport)
    const toolCalls = [
      { id: 'c1', name: 'echo', arguments: '{"message":"Hello"}' },
      { id: 'c2', name: 'get-sum', arguments: '{"a":20,"b":22}' },
      { id: 'c3', name: 'get-structured-content', arguments: '{"location":"Chicago"}' },
      { id: 'c4', name: 'get-tiny-image', arguments: '{}' },
      { id: 'c5', name: 'trigger-long-running-operation', arguments: '{"duration":0.2,"steps":2}' },
      { id: 'c6', name: 'echo', arguments: '{"message":7}' },
    ]
    const script: ScriptedResponse[] = [{ toolCalls }, { text: ['Done'] }]
    await using models = await ModelServer.start(script)
    const asked = { provider: 'openai-compatible', model: 'm', baseUrl: models.url, apiKey: 'key', userPrompt: 'Go' }
    const output = await outputOf('agent', { ...asked, tools: [{ type: 'mcp', server: server.url }] })
    expect(output['content']).toBe('Done')
    const offered = models.requests[0]!.body['tools'] as { function: { name: string } }[]
    expect(offered.map((tool) => tool.function.name)).toEqual(expect.arrayContaining(['echo', 'get-sum', 'get-env']))
    const results = (output['toolCalls'] as { result: unknown }[]).map(({ result }) => result)
    expect(results[0]).toBe('Echo: Hello')
    expect(results[1]).toContain('42')
    expect(results[2]).toMatchObject({ temperature: expect.any(Number), conditions: expect.any(String) })
    expect(results[3]).toEqual(
      expect.arrayContaining([expect.objectContaining({ type: 'image', file: expect.any(Object) })]),
    )
    expect(results[4]).toContain('Long running operation completed')
    expect(JSON.stringify(results[5])).toContain('error')

    const called = await outputOf('mcp', { server: server.url, tool: 'get-tiny-image' })
    const image = (called['content'] as { file?: { url: string; type: string } }[]).find(({ file }) => file)
    expect(image?.file?.type).toBe('image/png')
    const file = await fetch(image!.file!.url)
    expect(new TextDecoder().decode((await file.bytes()).slice(1, 4))).toBe('PNG')
  }, 60_000)
}
