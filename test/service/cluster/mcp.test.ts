import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import { TestCluster } from '../../support/cluster.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { callTool, connectMcp, type OnForm } from '../../support/mcp-client.ts'
import { call, deploy, type Serving } from '../../support/running-service.ts'

// A balancer sends each request of a client to any process: here its calls to one, and everything else to the other.

let folder: ReturnType<typeof temporaryFolder>
let cluster: TestCluster
let processes: [Serving, Serving]
const clients: Client[] = []

beforeAll(async () => {
  folder = temporaryFolder()
  cluster = await TestCluster.create(folder.path)
  processes = [await cluster.start(), await cluster.start()]
  for (const workflow of [asks, waits]) await deploy(processes[0].url, cluster.installation.apiKey, workflow)
}, 120_000)
afterAll(async () => {
  for (const client of clients) await client.close()
  await cluster?.[Symbol.asyncDispose]()
  folder?.[Symbol.dispose]()
})

const start = block('start', 'api_trigger')
const asks = {
  ...document({
    name: 'Asks',
    blocks: [start, block('ask', 'approval', { title: 'May I?', fields: [{ name: 'note', type: 'string' }] })],
    edges: ['start > ask'],
  }),
  mcp: { expose: true },
}
const waits = {
  ...document({ name: 'Waits', blocks: [start, block('wait', 'wait', { ms: 25_000 })], edges: ['start > wait'] }),
  mcp: { expose: true },
}

async function connect(onForm: OnForm): Promise<Client> {
  const client = await connectMcp(processes[0].url, cluster.installation.apiKey, {
    onForm,
    send(url, init) {
      const isCall = String(init?.body).includes('"tools/call"')
      return fetch(String(url).replace(processes[0].url, processes[isCall ? 0 : 1].url), init)
    },
  })
  clients.push(client)
  return client
}

describe('an MCP client of several processes', () => {
  test('answers the question of a call in another process', async () => {
    const client = await connect(() => ({ action: 'accept', content: { note: 'Yes!' } }))
    const { structuredContent } = await callTool(client, 'asks')
    expect(structuredContent).toMatchObject({ approved: true, fields: { note: 'Yes!' } })
  })

  test('dismisses the question of a call in another process', async () => {
    const client = await connect(() => ({ action: 'cancel' }))
    const { structuredContent } = await callTool(client, 'asks')
    expect(structuredContent).toMatchObject({ status: 'paused' })
  })

  test('cancels a call in another process', async () => {
    const { apiKey, workspaceId } = cluster.installation
    const client = await connect(() => ({ action: 'cancel' }))
    const controller = new AbortController()
    const calling = callTool(client, 'waits', {}, { signal: controller.signal })
    calling.catch(() => undefined)
    const statuses = async () => {
      const { body } = await call(`${processes[0].url}/api/workspaces/${workspaceId}/runs`, apiKey)
      return (body as { data: { status: string }[] }).data.map(({ status }) => status)
    }
    while (!(await statuses()).includes('processing')) await Bun.sleep(20)
    controller.abort()
    while (!(await statuses()).includes('cancelled')) await Bun.sleep(20)
  })
})
