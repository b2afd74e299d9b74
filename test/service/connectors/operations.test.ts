import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { api } from '../../../src/blocks/api.ts'
import { operation } from '../../../src/blocks/operation.ts'
import { BuiltIn } from '../../../src/connectors/built-in.ts'
import { authorizationOf } from '../../../src/credentials/authorization.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import type { Connector } from '../../../src/domain/connector/connector.ts'
import { connectorFaults } from '../../../src/domain/connector/validate.ts'
import { valueFaults } from '../../../src/domain/connector/value-faults.ts'
import type { OpenCredential } from '../../../src/domain/credential/open-credential.ts'
import { isObject } from '../../../src/domain/run/input.ts'
import { httpPeer } from '../../support/outbound/peers.ts'
import { makeContext, runBlock } from '../../unit/blocks/context.ts'

/** A response as a provider documents it: its body alone, or with a status and headers. */
type Documented = {
  params: Record<string, unknown>
  request?: {
    path?: string
    query?: Record<string, string>
    body?: unknown
    form?: Record<string, string>
    text?: string
  }
  responses: unknown[]
  data?: unknown
  failure?: { status: number; body: unknown; message: string }
}

type Seen = { method: string; url: URL; body: string; headers: Headers }

const builtIn = new BuiltIn()
let seen: Seen[] = []
let responses: Response[] = []
let peer: ReturnType<typeof httpPeer>
beforeAll(() => {
  peer = httpPeer(async (request) => {
    seen.push({
      method: request.method,
      url: new URL(request.url),
      body: await request.text(),
      headers: request.headers,
    })
    return responses.shift() ?? new Response('There is no further response', { status: 500 })
  })
})
afterAll(() => void peer.stop(true))

function responseOf(documented: unknown): Response {
  if (documented === null) return new Response(null, { status: 204 })
  if (typeof documented === 'string') return new Response(documented, { headers: { 'content-type': 'text/plain' } })
  if (isObject(documented) && isObject(documented['headers'])) {
    return Response.json(documented['body'], { headers: documented['headers'] as Record<string, string> })
  }
  return Response.json(documented)
}

/** The same connector at the test's own address. Everything but the origin stays. */
function localOf(connector: Connector): Connector {
  const baseUrl = connector.baseUrl.replace(/^(https:\/\/[^/]+|\{baseUrl\})/, `http://127.0.0.1:${peer.port}`)
  return { ...connector, baseUrl }
}

function credentialOf({ credentials = [] }: Connector): OpenCredential {
  const offer = credentials.find(({ kind }) => !kind.startsWith('oauth2_') && kind !== 'google_service_account')
  const { kind, fields = {} } = offer ?? { kind: 'bearer' }
  return {
    ...{ id: 'c', workspaceId: 's1', name: 'account', kind, hosts: [`127.0.0.1:${peer.port}`] },
    fields: { ...fields, username: 'AC1', baseUrl: `http://127.0.0.1:${peer.port}` },
    secrets: { token: 'secret-token', value: 'secret-token', password: 'secret-token' },
    ...{ state: 'ok', problem: null, updatedAt: 0, tokenVersion: 0 },
  }
}

async function call(connector: Connector, name: string, params: Record<string, unknown>) {
  seen = []
  const tokens = { tokenOf: async () => 'secret-token', refused: async () => false }
  const authorization = () => authorizationOf(credentialOf(connector), { tokens, clock: systemClock, used: () => {} })
  using context = makeContext({
    connector: async () => localOf(connector),
    credential: async () => authorization(),
  })
  const file = await context.files.store(new TextEncoder().encode('file content'), { name: 'a.png', type: 'image/png' })
  const given = Object.fromEntries(
    Object.entries(params).map(([key, value]) => [key, isObject(value) && value['url'] === '@file' ? file : value]),
  )
  const call = { connector: connector.id, operation: name, credential: 'account', params: given, retries: 0 }
  return await runBlock(operation, call, context)
}

for (const connector of await builtIn.list()) {
  const path = join(import.meta.dir, 'documented', `${connector.id}.json`)
  const documented = JSON.parse(readFileSync(path, 'utf8')) as Record<string, Documented>

  describe(connector.name, () => {
    test('is valid, small, and says how it was checked', () => {
      expect(connectorFaults(connector)).toEqual([])
      expect(Buffer.byteLength(JSON.stringify(connector))).toBeLessThan(12_000)
      expect(connector.checked).toContain('documented responses only')
      expect(connector.documentation).toStartWith('https://')
      expect(connector.credentials).not.toEqual([])
      expect(Object.keys(documented).toSorted()).toEqual(Object.keys(connector.operations).toSorted())
    })

    for (const [name, { params, request = {}, responses: given, data, failure }] of Object.entries(documented)) {
      test(`${name} sends the documented request, and reads the documented responses`, async () => {
        responses = given.map(responseOf)
        const { outputs, error } = await call(connector, name, params)
        expect(error).toBeUndefined()
        expect(seen).toHaveLength(given.length)
        const [first] = seen as [Seen]
        expect(first.method).toBe(connector.operations[name]!.method)
        expect(JSON.stringify([...first.headers]) + first.url.href).toMatch(/secret-token|QUMxOnNlY3JldC10b2tlbg/)
        expect(first.url.href).not.toMatch(/[{}]|%7B/)
        if (request.path !== undefined) expect(first.url.pathname).toBe(request.path)
        if (request.query) expect(Object.fromEntries(first.url.searchParams)).toMatchObject(request.query)
        if (request.body !== undefined) expect(JSON.parse(first.body)).toEqual(request.body)
        if (request.form) expect(Object.fromEntries(new URLSearchParams(first.body))).toEqual(request.form)
        if (request.text !== undefined) expect(first.body).toBe(request.text)
        if (data !== undefined) expect(outputs['data']).toEqual(data)
        else if (given[0] !== null) expect(outputs['data']).not.toBeNull()
        const { output } = connector.operations[name]!
        if (output && given[0] !== null) expect(valueFaults(output, outputs['data'])).toEqual([])
      })

      if (failure) {
        test(`${name} reports what the service says is wrong`, async () => {
          responses = [Response.json(failure.body, { status: failure.status })]
          const { error } = await call(connector, name, params)
          expect(error?.message).toContain(failure.message)
          expect(error?.code).toBe(failure.status < 400 ? 'OPERATION_FAILED' : 'HTTP_ERROR')
        })
      }
    }

    test('has the error of at least one operation documented', () => {
      expect(Object.values(documented).some(({ failure }) => failure !== undefined)).toBe(true)
    })
  })
}

test('a mail is MIME with its attachment, in base64url', async () => {
  responses = [Response.json({ id: '1' })]
  const gmail = (await builtIn.list()).find(({ id }) => id === 'gmail')!
  using context = makeContext()
  const stored = await context.files.store(new TextEncoder().encode('a,b\n'), { name: 'a.csv', type: 'text/csv' })
  const message = {
    to: ['Ada <ada@example.com>'],
    bcc: 'bob@example.com',
    subject: 'Grüße\r\nX-Evil: 1',
    text: 'Hello',
  }
  seen = []
  const tokens = { tokenOf: async () => 't', refused: async () => false }
  const given = {
    ...{ connector: 'gmail', operation: 'sendMessage', credential: 'account', retries: 0 },
    params: { message: { ...message, attachments: [stored] } },
  }
  const own = makeContext({
    files: context.files,
    connector: async () => localOf(gmail),
    credential: async () => authorizationOf(credentialOf(gmail), { tokens, clock: systemClock, used: () => {} }),
  })
  expect((await runBlock(operation, given, own)).error).toBeUndefined()
  const mail = Buffer.from((JSON.parse(seen[0]!.body) as { raw: string }).raw, 'base64url').toString()
  expect(mail).toContain('To: Ada <ada@example.com>')
  expect(mail).toContain('Bcc: bob@example.com')
  expect(mail).toMatch(/^Subject: =\?UTF-8\?/im)
  expect(mail).not.toMatch(/^X-Evil/im)
  expect(mail).toContain('filename=a.csv')
  expect(mail).toContain(Buffer.from('a,b\n').toString('base64'))
})

test('an operation and an API block send the same request', async () => {
  responses = [Response.json({ ok: true }), Response.json({ ok: true })]
  const slack = (await builtIn.list()).find(({ id }) => id === 'slack')!
  await call(slack, 'sendMessage', { channel: 'C1', text: 'Hello' })
  const [sent] = seen as [Seen]
  using context = makeContext()
  const url = `http://127.0.0.1:${peer.port}/api/chat.postMessage`
  await runBlock(api, { url, method: 'POST', body: { channel: 'C1', text: 'Hello' } }, context)
  const other = seen[1]!
  expect([other.method, other.url.href, other.body]).toEqual([sent.method, sent.url.href, sent.body])
})
