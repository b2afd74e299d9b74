import { afterEach, beforeEach, expect, test } from 'bun:test'
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import '../../support/built.ts'
import { millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'

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

const command = (...words: string[]) => millrace(words, { environment: { MILLRACE_DATA: folder.path } })

const hook = (path: string, authentication: Record<string, string>) =>
  document({ name: path, blocks: [block('hook', 'webhook_trigger', { path, authentication })] })

const talk = document({
  name: 'Talk',
  blocks: [
    block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password: 'a long password' }),
    block('answer', 'response', { data: '"hello"' }),
  ],
  edges: ['talk > answer'],
})

/** Deploys workflows with a password and tokens, and stops the service. Returns the ID of the chat. */
async function withSecretsInDocuments(): Promise<string> {
  service = await serve(folder.path)
  const endpoint = await deploy(service.url, home.apiKey, talk)
  await deploy(service.url, home.apiKey, hook('bearer', { type: 'bearer', token: 'a-long-token' }))
  await deploy(service.url, home.apiKey, hook('header', { type: 'header', name: 'X-Token', value: 'a-long-token' }))
  await deploy(service.url, home.apiKey, hook('github', { type: 'signature', scheme: 'github', secret: 'a-secret' }))
  const headers = { authorization: 'Bearer a-long-token' }
  const accepted = await fetch(`${service.url}/api/webhooks/trigger/bearer`, { method: 'POST', headers, body: '{}' })
  expect(accepted.status).toBe(202)
  await service.kill('SIGTERM')
  service = undefined
  return endpoint.split('/').at(-2)!
}

const replaceKey = () => writeFileSync(join(folder.path, 'millrace.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`)

const startError = () =>
  serve(folder.path).then(
    async (started) => {
      await started.kill('SIGKILL')
      return 'started'
    },
    (error: Error) => error.message,
  )

test.each([
  ['another', replaceKey, 'encrypted with another key'],
  ['no', () => rmSync(join(folder.path, 'millrace.key')), 'their key is missing'],
])('the service does not start with %s key when only workflows hold secrets', async (_, change, message) => {
  await withSecretsInDocuments()
  const key = readFileSync(join(folder.path, 'millrace.key'))
  change()
  const refused = await startError()
  expect(refused).toContain('serve exited with 1')
  expect(refused).toContain(message)
  expect(refused).toContain('millrace env discard')
  expect(await command('env', 'set', 'A', 'value')).toMatchObject({ code: 1, words: expect.stringContaining(message) })

  writeFileSync(join(folder.path, 'millrace.key'), key)
  service = await serve(folder.path)
})

test('env discard empties lost secrets in workflows, which then refuse everyone until they are set again', async () => {
  const id = await withSecretsInDocuments()
  replaceKey()
  // A draft and a version of each of the four workflows.
  const gone = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, documentSecrets: 8 }
  expect(JSON.parse((await command('env', 'discard', '--json')).out)).toEqual(gone)
  service = await serve(folder.path)
  const { url } = service

  const workflow = await call(`${url}/api/workflows/${id}`, home.apiKey)
  const { blocks } = workflow.body as { blocks: Record<string, { params: unknown }> }
  expect(blocks['talk']?.params).toMatchObject({ identifier: 'help', access: 'password', password: null })
  const sayHello = (password: string) =>
    fetch(`${url}/api/chat/help`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-chat-password': password },
      body: '{"input":"hello"}',
    })
  for (const password of ['a long password', '', 'null', 'undefined']) {
    const { ok } = await sayHello(password)
    expect([password, ok]).toEqual([password, false])
  }
  for (const path of ['bearer', 'header', 'github']) {
    for (const token of ['a-long-token', '', 'null', 'undefined']) {
      const headers = { authorization: `Bearer ${token}`, 'x-token': token }
      const { ok } = await fetch(`${url}/api/webhooks/trigger/${path}`, { method: 'POST', headers, body: '{}' })
      expect([path, token, ok]).toEqual([path, token, false])
    }
  }

  const params = { ...talk.blocks['talk']!.params, password: 'a new password' }
  const again = { ...talk, blocks: { ...talk.blocks, talk: { ...talk.blocks['talk']!, params } } }
  expect((await call(`${url}/api/workflows/${id}`, home.apiKey, 'PUT', again)).status).toBe(200)
  expect((await call(`${url}/api/workflows/${id}/deploy`, home.apiKey, 'POST')).status).toBe(200)
  const answered = await sayHello('a new password')
  expect(answered.status).toBe(200)
})
