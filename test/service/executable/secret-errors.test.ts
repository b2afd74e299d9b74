import { afterAll, beforeAll, expect, test } from 'bun:test'
import '../../support/built.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'

/** A provider that repeats the key in its refusal, as some do. */
const provider = Bun.serve({
  port: 0,
  hostname: '127.0.0.1',
  fetch: (request) => {
    const key = request.headers.get('authorization')?.replace('Bearer ', '')
    return Response.json({ error: { message: `Incorrect API key provided: ${key}.` } }, { status: 401 })
  },
})
const secret = 'sk-live-4fQz81'
const folder = temporaryFolder()
let home: Installation
let service: Serving

beforeAll(async () => {
  home = await init(folder.path)
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  const url = `${service.url}/api/workspaces/${home.workspaceId}/environment/KEY`
  expect((await call(url, home.apiKey, 'PUT', { value: secret })).status).toBe(200)
})
afterAll(async () => {
  await service.kill('SIGKILL')
  await provider.stop(true)
  folder[Symbol.dispose]()
})

const failing = {
  exception: block('fails', 'function', { code: 'throw new Error("refused: " + {{KEY}})' }),
  refusal: block('fails', 'agent', {
    provider: 'openai-compatible',
    baseUrl: `http://127.0.0.1:${provider.port}/v1`,
    model: 'any',
    apiKey: '{{KEY}}',
    userPrompt: 'x',
  }),
}

test.each(Object.entries(failing))(
  'no caller sees a secret in the error of a run that ends with a %s',
  async (name, block_) => {
    const execute = await deploy(
      service.url,
      home.apiKey,
      document({
        name: `Fails with a ${name}`,
        blocks: [
          block('api', 'api_trigger'),
          block('chat', 'chat_trigger', { identifier: `chat-${name}`, access: 'key' }),
          block('hook', 'webhook_trigger', {
            path: `hook-${name}`,
            authentication: { type: 'none' },
            respond: 'workflow',
          }),
          block_,
        ],
        edges: ['api > fails', 'chat > fails', 'hook > fails'],
      }),
    )
    const send = async (path: string, body: unknown = {}, headers: Record<string, string> = {}) => {
      const response = await fetch(path.startsWith('http') ? path : service.url + path, {
        method: 'POST',
        headers: { 'x-api-key': home.apiKey, ...headers },
        body: JSON.stringify(body),
      })
      return { response, text: await response.text() }
    }
    const responses = {
      synchronous: await send(execute),
      stream: await send(execute, { stream: true }),
      'selected outputs': await send(execute, { stream: true, selectedOutputs: ['fails.content'] }),
      chat: await send(`/api/chat/chat-${name}`, { input: 'x' }),
      'streamed chat': await send(`/api/chat/chat-${name}`, { input: 'x', stream: true }),
      webhook: await send(`/api/webhooks/trigger/hook-${name}`),
    }
    const texts = Object.entries(responses).map(([kind, { text }]) => [kind, text])
    for (const [kind, { response }] of Object.entries(responses)) {
      const id = response.headers.get('x-execution-id')
      texts.push([`the execution of ${kind}`, await ended(`${execute.replace('/execute', '/executions')}/${id}`)])
    }
    const { text } = await send(execute, {}, { 'x-execution-mode': 'async' })
    texts.push(['job', await ended(`${service.url}/api/jobs/${JSON.parse(text).jobId}`)])
    expect(texts).toHaveLength(13)
    for (const [kind, shown] of texts) {
      expect([kind, shown]).toEqual([kind, expect.stringContaining('{{KEY}}')])
      expect([kind, shown]).toEqual([kind, expect.not.stringContaining(secret)])
    }
  },
)

/** The state of a run when it has ended. */
async function ended(url: string): Promise<string> {
  for (;;) {
    const { body } = await call(url, home.apiKey)
    if ((body as { status: string }).status === 'failed') return JSON.stringify(body)
    await Bun.sleep(20)
  }
}
