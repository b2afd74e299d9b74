import { expect, test } from 'bun:test'
import { call } from '../../support/running-service.ts'
import { SealedInstallation, talk } from './sealed-installation.ts'

const first = { MILLRACE_SECRET_KEY: 'first-'.repeat(8) }
const other = { MILLRACE_SECRET_KEY: 'other-'.repeat(8) }

test('the service does not start with another key when only workflows hold secrets', async () => {
  await using installation = await SealedInstallation.make(first)
  const refused = await installation.startError(other)
  expect(refused).toContain('serve exited with 1')
  expect(refused).toContain('encrypted with another key')
  expect(refused).toContain('millrace env discard')
  expect(await installation.command(other, 'env', 'set', 'A', 'value')).toMatchObject({
    code: 1,
    words: expect.stringContaining('encrypted with another key'),
  })
  await installation.serve(first)
}, 120_000)

test('env discard empties lost secrets in workflows, which then refuse everyone until they are set again', async () => {
  await using installation = await SealedInstallation.make(first)
  const { chatId: id, home } = installation
  // A draft and a version of each of the four workflows.
  const gone = { variables: 0, jobs: 0, outputs: 0, webhookSecrets: 0, credentials: 0, documentSecrets: 8 }
  expect(JSON.parse((await installation.command(other, 'env', 'discard', '--json')).out)).toEqual(gone)
  const { url } = await installation.serve(other)

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
}, 120_000)
