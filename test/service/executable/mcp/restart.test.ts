import { afterAll, beforeAll, expect, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { callTool, connectMcp } from '../../../support/mcp-client.ts'
import { deploy, type Installation, init, type Serving, serve } from '../../../support/running-service.ts'

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
let client: Client

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path)
  await deploy(service.url, installation.apiKey, {
    ...document({
      name: 'Works',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'ms', type: 'number', required: true }] }),
        block('wait', 'wait', { ms: '<start.ms>' }),
      ],
      edges: ['start > wait'],
    }),
    mcp: { expose: true },
  })
  client = await connectMcp(service.url, installation.apiKey)
}, 120_000)
afterAll(async () => {
  await client?.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

test('a connected client goes on after the service was killed and started again', async () => {
  expect((await callTool(client, 'works', { ms: 1 })).isError).toBeUndefined()
  const started = Promise.withResolvers<void>()
  const lost = callTool(client, 'works', { ms: 20_000 }, { onprogress: () => started.resolve(), timeout: 5_000 })
  lost.catch(() => undefined)
  await started.promise
  await service.kill('SIGKILL')
  await expect(lost).rejects.toThrow()
  service = await serve(folder.path, { MILLRACE_PORT: new URL(service.url).port })
  // The service keeps no sessions, so the client need not begin again.
  expect((await callTool(client, 'works', { ms: 1 })).isError).toBeUndefined()
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain('works')
}, 60_000)
