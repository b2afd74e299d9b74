import { afterAll, afterEach, beforeAll, describe, expect, setSystemTime, test } from 'bun:test'
import { readdirSync, readFileSync, readlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { WorkOS } from '@workos-inc/node'
import Stripe from 'stripe'
import { signatureOf } from '../../../src/webhooks/sign.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { programPath } from '../../support/programs.ts'
import { call, init, type Serving, serve } from '../../support/running-service.ts'
import { type Received, Receiver } from '../../support/webhook-receiver.ts'
import { findBreaches } from '../http/json-schema.ts'
import type { Parsed } from '../http/world.ts'

// Tests the deliveries of the executable with receivers from other projects and from the documentation.

const secret = 'whsec_ü 1'
const everything = {
  includeFinalOutput: true,
  includeTraceSpans: true,
  includeRateLimits: true,
  includeUsageData: true,
}

let folder: ReturnType<typeof temporaryFolder>
let apiKey: string
let service: Serving
beforeAll(async () => {
  folder = temporaryFolder()
  apiKey = (await init(folder.path)).apiKey
  service = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_WEBHOOK_MAX_ATTEMPTS: '1' })
})
afterAll(async () => {
  await service.kill('SIGKILL')
  folder[Symbol.dispose]()
})

let count = 0
/** Runs a workflow with these webhook subscriptions. Returns its id. */
async function runWith(webhooks: Record<string, unknown>[]): Promise<string> {
  count += 1
  const body = {
    ...document({
      name: `Tells ${count}`,
      blocks: [
        block('start', 'api_trigger'),
        block('end', 'function', { code: 'return { "ü": [1.50, 1e21, "\\u2028"] }' }),
      ],
      edges: ['start > end'],
    }),
    webhooks,
  }
  const made = (await call(`${service.url}/api/workflows`, apiKey, 'POST', body)) as {
    status: number
    body: { id: string }
  }
  expect([made.status, made.body]).toEqual([201, made.body])
  const at = `${service.url}/api/workflows/${made.body.id}`
  expect((await call(`${at}/deploy`, apiKey, 'POST')).status).toBe(200)
  expect((await call(`${at}/execute`, apiKey, 'POST', {})).status).toBe(200)
  return made.body.id
}

/** Runs a workflow and returns its delivery as the receiver got it. */
async function captured(more: Record<string, unknown> = {}): Promise<Received> {
  using receiver = new Receiver()
  await runWith([{ url: receiver.url, secret, ...everything, ...more }])
  return (await receiver.arrivals(1))[0]!
}

const sixMinutesMs = 360_000
afterEach(() => void setSystemTime())

describe('third-party libraries', () => {
  const signature = ({ headers }: Received) => headers.get('svc-signature') ?? ''
  const changed = ({ body }: Received) => body.replace('"success"', '"error"')
  /** Whether a library accepts a delivery. */
  const isAccepted = async (verify: () => Promise<unknown>) => verify().then(Boolean, () => false)

  test('stripe accepts a delivery, and rejects a changed body, another secret and an old time', async () => {
    const { webhooks } = new Stripe('sk_test_none')
    const got = await captured()
    const verify = (body: string, key: string) =>
      isAccepted(() =>
        // The library expects seconds; the signature contains milliseconds.
        webhooks.constructEventAsync(body, signature(got), key, 300_000, undefined, Date.now() * 1_000),
      )
    expect(await verify(got.body, secret)).toBe(true)
    expect(changed(got)).not.toBe(got.body)
    expect(await verify(changed(got), secret)).toBe(false)
    expect(await verify(got.body, 'another')).toBe(false)
    setSystemTime(Date.now() + sixMinutesMs)
    expect(await verify(got.body, secret)).toBe(false)
  })

  test('@workos-inc/node accepts a delivery, and rejects a changed body, another secret and an old time', async () => {
    const { webhooks } = new WorkOS('sk_test_none')
    const got = await captured()
    const verify = (body: string, key: string) =>
      isAccepted(() =>
        webhooks.verifyHeader({
          payload: JSON.parse(body),
          sigHeader: signature(got),
          secret: key,
          tolerance: 300_000,
        }),
      )
    expect(await verify(got.body, secret)).toBe(true)
    expect(await verify(changed(got), secret)).toBe(false)
    expect(await verify(got.body, 'another')).toBe(false)
    setSystemTime(Date.now() + sixMinutesMs)
    expect(await verify(got.body, secret)).toBe(false)
  })

  test('a secret may be a variable', async () => {
    const { workspaceId } = (
      (await call(`${service.url}/api/workspaces`, apiKey)) as { body: { data: { id: string }[] } }
    ).body.data.map(({ id }) => ({ workspaceId: id }))[0]!
    await call(`${service.url}/api/workspaces/${workspaceId}/environment/HOOK`, apiKey, 'PUT', {
      value: 'from-the-variable',
    })
    const got = await captured({ secret: '{{HOOK}}' })
    const at = Number(got.headers.get('svc-timestamp'))
    expect(signature(got)).toBe(signatureOf({ at, body: got.body, secrets: ['from-the-variable'] }))
  })
})

test('a request matches the OpenAPI document, without additional members', async () => {
  const openApi = (await (await fetch(`${service.url}/swagger/json`)).json()) as Parsed
  const { parameters, requestBody } = openApi.webhooks['workflow.execution.completed'].post
  const { schema, example } = requestBody.content['application/json']
  expect(findBreaches(example, schema, openApi, '$', true)).toEqual([])
  const got = await captured()
  const body = JSON.parse(got.body)
  expect(findBreaches(body, schema, openApi, '$', true)).toEqual([])
  const { pausedMs: _, ...properties } = openApi.components.schemas.WebhookPayload.properties.data.properties
  const members = Object.keys(properties)
  expect(Object.keys(body.data).toSorted()).toEqual(members.toSorted())
  const declared = parameters.map(({ name }: Parsed) => name.toLowerCase())
  const own = [...got.headers.keys()].filter((name) => name.startsWith('svc-') || name === 'idempotency-key')
  expect(own.toSorted()).toEqual(declared.toSorted())
})

describe('the receiver in the documentation', () => {
  const page = readFileSync(join(resolve(import.meta.dir, '../../..'), 'docs/webhooks.md'), 'utf8')
  const codeIn = (language: string) => new RegExp(`\`\`\`${language}\\n(.*?)\`\`\``, 's').exec(page)![1]!

  for (const [language, file, command] of [
    ['ts', 'receiver.ts', () => process.execPath],
    ['python', 'receiver.py', () => programPath('python3')],
  ] as const) {
    test(`in ${language} accepts a delivery, and rejects a changed body, another secret and an old time`, async () => {
      const path = join(folder.path, file)
      writeFileSync(path, codeIn(language))
      // Port 0: the kernel chooses a free one.
      const environment = { PATH: process.env['PATH'] ?? '', PORT: '0', HOOK_SECRET: secret }
      const receiver = Bun.spawn([command(), path], { env: environment, stdout: 'pipe', stderr: 'ignore' })
      try {
        const url = `http://127.0.0.1:${await listeningPort(receiver.pid)}/`
        const post = async (body: string, at: number, key = secret) => {
          const headers = { 'svc-signature': signatureOf({ at, body, secrets: [key] }), 'idempotency-key': 'k' }
          return (await fetch(url, { method: 'POST', body, headers })).status
        }
        const workflowId = await runWith([{ url, secret, ...everything }])
        const line = await firstLine(receiver.stdout)
        expect(line).toMatch(/^dlv_\w+ [0-9a-f-]{36}$/)
        const other = await runWith([{ url, secret: 'another' }])
        for (const [id, state, status] of [
          [workflowId, 'delivered', 204],
          [other, 'failed', 401],
        ] as const) {
          expect(await ended(id)).toMatchObject({ state, lastAttempt: { status } })
        }

        const body = '{"data":{"executionId":"x"}}'
        const now = Date.now()
        expect(await post(body, now)).toBe(204)
        expect(await post(body, now - sixMinutesMs)).toBe(401)
        const both = signatureOf({ at: now, body, secrets: ['the next one', secret] })
        const sent = (header: string, text = body) =>
          fetch(url, { method: 'POST', body: text, headers: { 'svc-signature': header } }).then(({ status }) => status)
        expect(await sent(both)).toBe(204)
        expect(await sent(both, `${body} `)).toBe(401)
        for (const header of ['', 't=', 'x', `t=${now}`, `t=${now},v1=`, `t=${now},v1=äöü`]) {
          expect([header, await sent(encodeURI(header))]).toEqual([header, 401])
        }
      } finally {
        receiver.kill('SIGKILL')
      }
    }, 120_000)
  }

  type Ended = { state: string }
  /** Waits until the only delivery of a workflow has ended. */
  async function ended(workflowId: string): Promise<Ended> {
    for (;;) {
      const { body } = await call(`${service.url}/api/workflows/${workflowId}/deliveries`, apiKey)
      const found = (body as { data: Ended[] }).data.find(({ state }) => state !== 'pending')
      if (found) return found
    }
  }
})

/** Waits until a process listens on a TCP port, and returns it. */
async function listeningPort(pid: number): Promise<number> {
  for (;;) {
    const inodes = socketsOf(pid)
    for (const table of ['tcp', 'tcp6']) {
      for (const row of readFileSync(`/proc/${pid}/net/${table}`, 'utf8').split('\n').slice(1)) {
        const [, local = '', , state, , , , , , inode = ''] = row.trim().split(/\s+/)
        if (state === listening && inodes.has(inode)) return Number.parseInt(local.split(':')[1]!, 16)
      }
    }
    await Bun.sleep(10)
  }
}

/** The state of a listening socket in `/proc/net/tcp`. */
const listening = '0A'

/** The inodes of a process's open sockets. */
function socketsOf(pid: number): Set<string> {
  const folder = `/proc/${pid}/fd`
  const targets = readdirSync(folder).map((name) => {
    try {
      return readlinkSync(join(folder, name))
    } catch {
      // The process has closed it in the meantime.
      return ''
    }
  })
  return new Set(targets.flatMap((target) => /^socket:\[(\d+)\]$/.exec(target)?.[1] ?? []))
}

/** The first line of a program's output. The rest is read too, so that the program does not block. */
function firstLine(stream: ReadableStream<Uint8Array>): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  const read = async () => {
    let text = ''
    for await (const chunk of stream.pipeThrough(new TextDecoderStream() as never) as AsyncIterable<string>) {
      text += chunk
      if (text.includes('\n')) resolve(text.split('\n', 1)[0]!)
    }
    reject(new Error(`The program ended and printed "${text}"`))
  }
  read().catch(reject)
  return promise
}
