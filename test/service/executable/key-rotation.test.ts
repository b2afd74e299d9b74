import { afterEach, beforeEach, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { deriveKey } from '../../../src/accounts/key-file.ts'
import { SecretBox } from '../../../src/accounts/secret-box.ts'
import '../../support/built.ts'
import { withStore } from '../../support/cli/folder.ts'
import { cleanEnvironment, executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'
import { storeSettings } from '../../support/store/test-store.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

const oldKey = 'old-'.repeat(8)
const newKey = 'new-'.repeat(8)
const both = `${newKey}, ${oldKey}`
const exchanges = 20_000
const conversationId = '3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21'

let folder: ReturnType<typeof temporaryFolder>
let home: Installation
let service: Serving | undefined
beforeEach(async () => {
  folder = temporaryFolder()
  home = await init(folder.path)
})
afterEach(async () => {
  await service?.kill('SIGKILL')
  service = undefined
  folder[Symbol.dispose]()
})

const settings = (key: string) => ({ MILLRACE_SECRET_KEY: key, MILLRACE_OUTBOUND_ALLOW: 'loopback' })
const command = (key: string, ...words: string[]) =>
  millrace(words, { environment: { ...settings(key), MILLRACE_DATA: folder.path } })

/** Ends the current service, and starts one with other keys. */
async function restart(key: string): Promise<Serving> {
  await service?.kill('SIGTERM')
  service = undefined
  service = await serve(folder.path, settings(key))
  return service
}

async function keyState(key: string): Promise<string> {
  const { out } = await command(key, 'doctor', '--json')
  return (JSON.parse(out) as { check: string; state: string }[]).find(({ check }) => check === 'key')!.state
}

const headOf = (key: string) => new SecretBox([deriveKey(key)], { directory: '', secretKey: key }).currentHead!

/** How many exchanges of chats the new key did not encrypt. */
async function olderExchanges(): Promise<number> {
  const places = await withStore(folder.path, (store) => store.listSealed('chatTurn', headOf(newKey), 2 * exchanges))
  return places.length
}

const talk = document({
  name: 'Talk',
  blocks: [
    block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password: 'a long password' }),
    block('answer', 'function', { code: 'return <chat.history>.length + " before"' }),
  ],
  edges: ['talk > answer'],
})

const says = (url: string) => ({
  ...document({
    name: 'Says',
    blocks: [block('start', 'api_trigger'), block('say', 'function', { code: 'return {{TOKEN}}' })],
    edges: ['start > say'],
  }),
  webhooks: [{ url, secret: 'a-webhook-secret', includeFinalOutput: false }],
})

const secretValue = 'a-token-of-the-workspace'

/** Sends a message to the chat. Returns the answer, which says how many messages there were before. */
async function say(url: string): Promise<string> {
  const response = await fetch(`${url}/api/chat/help`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-chat-password': 'a long password' },
    body: JSON.stringify({ input: 'hello', conversationId }),
  })
  expect(response.status).toBe(200)
  return await response.text()
}

type Job = { status: string; output?: { result: string } }

async function jobOutput(url: string, jobId: string): Promise<string | undefined> {
  for (;;) {
    const job = (await call(`${url}/api/jobs/${jobId}`, home.apiKey)).body as Job
    if (job.status !== 'queued' && job.status !== 'processing') return job.output?.result
  }
}

/** Many old exchanges, so that a rotation takes a while. */
async function addExchanges(workflowId: string): Promise<void> {
  const box = new SecretBox([deriveKey(oldKey)], { directory: folder.path, secretKey: oldKey })
  await withStore(folder.path, async (store) => {
    for (let from = 0; from < exchanges; from += 2_000) {
      const turns = Array.from({ length: 2_000 }, (_, index) => {
        const each = `many-${from + index}`
        const content = box.seal('[]', `chat/${workflowId}/${each}`)
        return { kind: 'chat' as const, workflowId, conversationId: each, at: Date.now(), kept: 20, content }
      })
      await store.append(turns)
    }
  })
}

test('a key is replaced while the service runs, also after a kill -9, and nothing needs the old key afterwards', async () => {
  using receiver = new Receiver()
  const first = await restart(oldKey)
  await call(`${first.url}/api/workspaces/${home.workspaceId}/environment/TOKEN`, home.apiKey, 'PUT', {
    value: secretValue,
  })
  const path = new URL(await deploy(first.url, home.apiKey, says(receiver.url))).pathname
  const chatId = (await deploy(first.url, home.apiKey, talk)).split('/').at(-2)!
  const accepted = await fetch(first.url + path, {
    method: 'POST',
    headers: { 'x-api-key': home.apiKey, 'x-execution-mode': 'async' },
    body: '{}',
  })
  const { jobId } = (await accepted.json()) as { jobId: string }
  expect(await jobOutput(first.url, jobId)).toBe(secretValue)
  expect(await say(first.url)).toContain('0 before')
  await addExchanges(chatId)

  const run = async (url: string) => {
    const { status, body } = await call(url + path, home.apiKey, 'POST', {})
    expect(status).toBe(200)
    expect((body as { output: { result: string } }).output.result).toBe(secretValue)
  }

  // This service could not read what the new key encrypts.
  const tooEarly = await command(both, 'env', 'rotate')
  expect(tooEarly).toMatchObject({ code: 1, out: '' })
  expect(tooEarly.words).toContain('does not encrypt with the first key. Nothing was changed.')
  await run(first.url)

  const second = await restart(both)
  await run(second.url)
  expect(await keyState(both)).toBe('warning')
  const before = await olderExchanges()
  const rotating = Bun.spawn([executable(), 'env', 'rotate'], {
    env: cleanEnvironment({ ...(await storeSettings(folder.path)), ...settings(both), MILLRACE_DATA: folder.path }),
    stdout: 'ignore',
    stderr: 'inherit',
  })
  while ((await olderExchanges()) === before) {
    expect(rotating.exitCode).toBeNull()
    await run(second.url)
  }
  rotating.kill('SIGKILL')
  await rotating.exited
  const left = await olderExchanges()
  expect(left).toBeGreaterThan(0)
  expect(left).toBeLessThan(before)
  expect(await say(second.url)).toContain('2 before')
  await run(second.url)

  // The old key is still needed.
  await second.kill('SIGTERM')
  service = undefined
  const refused = await serve(folder.path, settings(newKey)).then(
    async (started) => {
      await started.kill('SIGKILL')
      return 'started'
    },
    (error: Error) => error.message,
  )
  expect(refused).toContain('serve exited with 1')
  expect(refused).toContain('encrypted with another key')

  const third = await restart(both)
  const rotation = command(both, 'env', 'rotate', '--json')
  await run(third.url)
  const { code, out } = await rotation
  expect(code).toBe(0)
  expect(JSON.parse(out)).toMatchObject({ variables: 1, webhookSecrets: 1, outputs: 1, unreadable: 0 })
  expect((JSON.parse(out) as { conversations: number }).conversations).toBe(left)
  expect(await keyState(both)).toBe('ok')
  await run(third.url)

  const last = await restart(newKey)
  await run(last.url)
  expect(await jobOutput(last.url, jobId)).toBe(secretValue)
  expect(await say(last.url)).toContain('4 before')
  const count = receiver.received.length
  await run(last.url)
  const delivery = (await receiver.arrivals(count + 1)).at(-1)!
  const [, at, digest] = /^t=(\d+),v1=(.*)$/.exec(delivery.headers.get('svc-signature') ?? '')!
  expect(digest).toBe(createHmac('sha256', 'a-webhook-secret').update(`${at}.${delivery.body}`).digest('hex'))
  const chat = await call(`${last.url}/api/workflows/${chatId}/status`, home.apiKey)
  expect(chat.body).toMatchObject({ needsRedeployment: false })
  expect(await keyState(newKey)).toBe('ok')
}, 180_000)

test('the URL of a file stays valid while the key that signed it is known', async () => {
  const files = document({
    name: 'Files',
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'docs', type: 'files' }] }),
      block('end', 'response', { data: { file: '<api.docs[0]>' } }),
    ],
    edges: ['start > end'],
  })
  const first = await restart(oldKey)
  const endpoint = await deploy(first.url, home.apiKey, files)
  const data = `data:text/plain;base64,${Buffer.from('hello').toString('base64')}`
  const { body } = await call(endpoint, home.apiKey, 'POST', { docs: [{ type: 'file', data, name: 'a.txt' }] })
  const { pathname, search } = new URL((body as { file: { url: string } }).file.url)
  const get = async ({ url }: Serving) => {
    const response = await fetch(url + pathname + search)
    return [response.status, await response.text()] as const
  }
  expect(await get(first)).toEqual([200, 'hello'])
  expect(await get(await restart(both))).toEqual([200, 'hello'])
  expect((await get(await restart(newKey)))[0]).toBe(403)
}, 60_000)
