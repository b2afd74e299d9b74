import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import type { Client } from '@modelcontextprotocol/sdk/client/index.js'
import type { ElicitRequestFormParams } from '@modelcontextprotocol/sdk/types.js'
import '../../../support/built.ts'
import { temporaryFolder } from '../../../support/executable.ts'
import { block, document } from '../../../support/make.ts'
import { callTool, connectMcp, type OnForm } from '../../../support/mcp-client.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../../support/running-service.ts'

// The questions of paused runs, with the official client.

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
const clients: Client[] = []

beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  for (const workflow of [ships, twice, foreign]) await deploy(service.url, installation.apiKey, workflow)
}, 120_000)
afterAll(async () => {
  for (const client of clients) await client.close()
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

const start = block('start', 'api_trigger', { inputFormat: [{ name: 'order', type: 'string' }] })
const fields = [
  { name: 'note', type: 'string', label: 'A note', required: true },
  { name: 'boxes', type: 'number' },
]
const ships = {
  ...document({
    name: 'Ships',
    blocks: [
      start,
      block('ask', 'approval', { title: 'Ship order <start.order>?', access: 'members', fields }),
      block('end', 'response', {
        data: { approved: '<ask.approved>', by: '<ask.by>', fields: '<ask.fields>' },
      }),
    ],
    edges: ['start > ask', 'ask > end'],
  }),
  mcp: { expose: true },
}
const twice = {
  ...document({
    name: 'Twice',
    blocks: [
      start,
      block('first', 'approval', { title: 'First?' }),
      block('second', 'approval', { title: 'Second?' }),
      block('boom', 'function', { code: 'throw new Error("The shop is closed.")' }),
    ],
    edges: ['start > first', 'first > second', 'second > boom'],
  }),
  mcp: { expose: true },
}
const foreign = {
  ...document({
    name: 'Foreign',
    blocks: [start, block('ask', 'approval', { title: 'You?', access: 'accounts', accounts: ['boss@example.com'] })],
    edges: ['start > ask'],
  }),
  mcp: { expose: true },
}

async function connect(onForm: OnForm): Promise<Client> {
  const client = await connectMcp(service.url, installation.apiKey, { onForm })
  clients.push(client)
  return client
}

type Pause = { contextId: string; executionId: string; workflowId: string }
async function openPauses(): Promise<Pause[]> {
  const path = `/api/workspaces/${installation.workspaceId}/pauses`
  return ((await call(`${service.url}${path}`, installation.apiKey)).body as { data: Pause[] }).data
}

describe('a client that can ask its user', () => {
  test('shows the form of an approval, and gets the result of the run', async () => {
    const forms: ElicitRequestFormParams[] = []
    const client = await connect((form) => {
      forms.push(form)
      return { action: 'accept', content: { note: 'Quick!', boxes: 2 } }
    })
    const { structuredContent, isError } = await callTool(client, 'ships', { order: 'A7' })
    expect(forms).toMatchObject([
      {
        message: 'Ship order A7?\n\nAccept to approve, or decline to reject.',
        requestedSchema: {
          type: 'object',
          properties: { note: { type: 'string', title: 'A note' }, boxes: { type: 'number' } },
          required: ['note'],
        },
      },
    ])
    expect([isError, structuredContent]).toEqual([
      undefined,
      { approved: true, by: expect.stringContaining('@'), fields: { note: 'Quick!', boxes: 2 } },
    ])
  })

  test('gets progress while its user thinks', async () => {
    const noted = Promise.withResolvers<void>()
    const messages: (string | undefined)[] = []
    const client = await connect(async () => {
      await noted.promise
      return { action: 'decline' }
    })
    const onprogress = ({ message }: { message?: string | undefined }) => {
      messages.push(message)
      if (message === 'Waits for an answer') noted.resolve()
    }
    const { structuredContent } = await callTool(client, 'ships', {}, { onprogress })
    expect(structuredContent).toMatchObject({ approved: false })
    expect(messages).toEqual(['start: success', 'Waits for an answer'])
  })

  test('rejects when its user declines', async () => {
    const client = await connect(() => ({ action: 'decline' }))
    const { structuredContent } = await callTool(client, 'ships', { order: 'A8' })
    expect(structuredContent).toMatchObject({ approved: false, fields: {} })
  })

  test('leaves the run paused when its user dismisses the form, or the client cannot show it', async () => {
    const client = await connect(({ message }) => {
      if (message.includes('B2')) throw new Error('There is no screen.')
      return { action: 'cancel' }
    })
    for (const order of ['B1', 'B2']) {
      const { structuredContent, content } = await callTool(client, 'ships', { order })
      expect(structuredContent).toMatchObject({ status: 'paused', paused: [{ blockId: 'ask', kind: 'approval' }] })
      const { executionId } = structuredContent as { executionId: string }
      expect(content[0]!.text).toContain(`The run ${executionId} is paused at "ask"`)
      expect((await openPauses()).some((pause) => pause.executionId === executionId)).toBe(true)
    }
  })

  test('asks again with the reason when an answer does not fit', async () => {
    const messages: string[] = []
    const client = await connect(({ message }) => {
      messages.push(message)
      return { action: 'accept', content: messages.length === 1 ? { boxes: 1 } : { note: 'Now with a note' } }
    })
    const { structuredContent } = await callTool(client, 'ships', { order: 'C' })
    expect(messages).toEqual([
      expect.stringMatching(/^Ship order C/),
      expect.stringMatching(/^Fill in A note\.\n\nShip order C/),
    ])
    expect(structuredContent).toMatchObject({ approved: true, fields: { note: 'Now with a note' } })
  })

  test('is asked at each approval, and gets the error of the run', async () => {
    const messages: string[] = []
    const client = await connect(({ message }) => {
      messages.push(message.slice(0, message.indexOf('\n')))
      return { action: 'accept', content: {} }
    })
    const { isError, content, structuredContent } = await callTool(client, 'twice')
    expect(messages).toEqual(['First?', 'Second?'])
    expect([isError, structuredContent]).toEqual([true, expect.objectContaining({ blockId: 'boom' })])
    expect(content[0]!.text).toContain('The run failed in the block "boom": ')
  })

  test('is not asked about an approval for somebody else', async () => {
    const client = await connect(() => {
      throw new Error('It was asked.')
    })
    const { structuredContent } = await callTool(client, 'foreign')
    expect(structuredContent).toMatchObject({ status: 'paused' })
  })

  test('withdraws the question when somebody else has answered, and returns the result', async () => {
    const shown = Promise.withResolvers<void>()
    const taken = Promise.withResolvers<void>()
    const client = await connect(async ({ message }, signal) => {
      if (message.startsWith('Second?')) return { action: 'accept', content: {} }
      shown.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      taken.resolve()
      return { action: 'cancel' }
    })
    const before = await openPauses()
    const calling = callTool(client, 'twice')
    await shown.promise
    const pause = (await openPauses()).find(({ contextId }) => !before.some((each) => each.contextId === contextId))
    const path = `/api/resume/${pause?.workflowId}/${pause?.executionId}/${pause?.contextId}`
    expect((await call(`${service.url}${path}`, installation.apiKey, 'POST', {})).status).toBe(200)
    await taken.promise
    expect((await calling).isError).toBe(true)
  })

  test('stops waiting when the call is cancelled, and the run stays paused', async () => {
    const shown = Promise.withResolvers<void>()
    const client = await connect(async (_form, signal) => {
      shown.resolve()
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      return { action: 'cancel' }
    })
    const before = await openPauses()
    const controller = new AbortController()
    const calling = callTool(client, 'ships', { order: 'D' }, { signal: controller.signal })
    calling.catch(() => undefined)
    await shown.promise
    controller.abort()
    await expect(calling).rejects.toThrow()
    expect((await openPauses()).length).toBe(before.length + 1)
  })

  test('answers a run whose call is gone, also after the service was killed', async () => {
    const asked = await streamedQuestion()
    await service.kill('SIGKILL')
    service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
    const answer = (id: unknown, content: object) =>
      post({ jsonrpc: '2.0', id, result: { action: 'accept', content } }).then(({ status }) => status)
    // An answer that does not fit changes nothing.
    expect(await answer(asked.id, {})).toBe(400)
    expect(await answer(asked.id, { note: 'Later' })).toBe(202)
    expect(await answer('ask.nothing', {})).toBe(202)
    const path = `/api/jobs/${asked.executionId}`
    let job = (await call(`${service.url}${path}`, installation.apiKey)).body as Record<string, unknown>
    while (job['status'] !== 'completed') {
      job = (await call(`${service.url}${path}`, installation.apiKey)).body as Record<string, unknown>
    }
    expect(job['output']).toMatchObject({ data: { approved: true, fields: { note: 'Later' } } })
  }, 60_000)

  function post(message: object, session?: string): Promise<Response> {
    return fetch(`${service.url}/mcp`, {
      method: 'POST',
      headers: {
        ...{ authorization: `Bearer ${installation.apiKey}`, accept: 'application/json, text/event-stream' },
        ...(session !== undefined && { 'mcp-session-id': session, 'mcp-protocol-version': '2025-11-25' }),
      },
      body: JSON.stringify(message),
    })
  }

  /** The question of a run, as the stream of the call has it. */
  async function streamedQuestion(): Promise<{ id: unknown; executionId: string }> {
    const before = await openPauses()
    const hello = { protocolVersion: '2025-11-25', capabilities: { elicitation: {} }, clientInfo: {} }
    const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params: hello })
    const session = opened.headers.get('mcp-session-id') ?? ''
    await opened.text()
    const params = { name: 'ships', arguments: { order: 'E' } }
    const { body } = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params }, session)
    let text = ''
    const decoder = new TextDecoder()
    for await (const chunk of body!) {
      text += decoder.decode(chunk, { stream: true })
      const line = /^data: (.*elicitation\/create.*)$/m.exec(text)?.[1]
      if (line === undefined) continue
      const { executionId } = (await openPauses()).find(
        ({ contextId }) => !before.some((each) => each.contextId === contextId),
      )!
      return { id: (JSON.parse(line) as { id: unknown }).id, executionId }
    }
    throw new Error(`The stream has no question: ${text}`)
  }
})
