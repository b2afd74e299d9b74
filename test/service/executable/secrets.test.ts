import { afterEach, beforeEach, describe, expect, test } from 'bun:test'
import { echoing, startEcho } from '../echo.ts'
import '../../support/built.ts'
import { cleanEnvironment, executable, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { call, deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'
import { storedBytes } from '../../support/store/stored-bytes.ts'
import { storeSettings } from '../../support/store/test-store.ts'

const environment = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_ACCESS_LOG: 'all', MILLRACE_LOG_LEVEL: 'debug' }

/** A secret that is allowed in a header. */
const token = 'sk_live "4fQz\\n81+/=%41~x'
/** A secret that is not allowed in a header. */
const phrase = 'Grüße an "Ödön"\n\tund 🚀\\ + 100% & <mehr>'

let folder: ReturnType<typeof temporaryFolder>
let home: Installation
let service: Serving
let echo: ReturnType<typeof startEcho>

beforeEach(async () => {
  folder = temporaryFolder()
  home = await init(folder.path)
  echo = startEcho()
  expect(await setByCommand('TOKEN', token)).toMatchObject({ code: 0, out: '', words: 'TOKEN is set.\n' })
  service = await serve(folder.path, environment)
  const put = await call(`${environmentUrl()}/PHRASE`, home.apiKey, 'PUT', { value: phrase })
  expect(put.status).toBe(200)
})
afterEach(async () => {
  await service.kill('SIGKILL')
  await echo.stop()
  folder[Symbol.dispose]()
})

const environmentUrl = () => `${service.url}/api/workspaces/${home.workspaceId}/environment`

/** Sets a variable through standard input, as is recommended for secrets. */
async function setByCommand(name: string, value: string) {
  const child = Bun.spawn([executable(), 'env', 'set', name, '--data', folder.path], {
    env: cleanEnvironment(await storeSettings(folder.path)),
    stdin: Buffer.from(`${value}\n`),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, words }
}

/** The encoded forms of a secret. None of them may appear in a log, an error or a file. Independent of the redactor. */
function formsOf(secret: string): string[] {
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  const cores = [0, 1, 2].flatMap((place) => {
    const bytes = Buffer.concat([Buffer.alloc(place), Buffer.from(secret)])
    const from = Math.ceil((place * 8) / 6)
    const to = Math.floor((bytes.length * 8) / 6)
    return [bytes.toString('base64').slice(from, to), bytes.toString('base64url').slice(from, to)]
  })
  const percent = encodeURIComponent(secret)
  const form = new URLSearchParams({ secret }).toString().slice('secret='.length)
  return [
    secret,
    json(secret),
    json(json(secret)),
    json(json(json(secret))),
    percent,
    form,
    percent.toLowerCase(),
    ...cores,
  ]
}

const forbidden = [...formsOf(token), ...formsOf(phrase)]

function expectNoSecrets(what: string, text: string): void {
  const found = forbidden.filter((form) => text.includes(form))
  expect([what, found]).toEqual([what, []])
}

async function expectStoreKeepsSecrets(): Promise<void> {
  const stored = await storedBytes(folder.path)
  expect(stored.length).toBeGreaterThan(2)
  for (const { name, bytes } of stored) {
    const found = forbidden.filter((form) => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).includes(form))
    expect([name, found]).toEqual([name, []])
  }
}

async function get(path: string): Promise<string> {
  const response = await fetch(service.url + path, { headers: { 'x-api-key': home.apiKey } })
  expect([path, response.status]).toEqual([path, 200])
  return await response.text()
}

/** Checks everything that the API returns about these runs. Returns the list of log entries. */
async function expectLogsKeepSecrets(executionIds: readonly string[]): Promise<string> {
  const list = await get(
    `/api/v1/logs?workspaceId=${home.workspaceId}&details=full&includeTraceSpans=true&includeFinalOutput=true`,
  )
  expectNoSecrets('the list of entries', list)
  const entries = (JSON.parse(list) as { data: { id: string; executionId: string }[] }).data
  expect(entries.map(({ executionId }) => executionId).toSorted()).toEqual([...executionIds].toSorted())
  for (const { id, executionId } of entries) {
    expectNoSecrets('an entry', await get(`/api/v1/logs/${id}`))
    expectNoSecrets('execution details', await get(`/api/v1/logs/executions/${executionId}`))
  }
  return list
}

describe('a secret', () => {
  test('reaches the called service and the caller, but no log, file or output of the process', async () => {
    const endpoint = await deploy(service.url, home.apiKey, echoing(echo.port, '/json'))
    const response = await call(endpoint, home.apiKey, 'POST', { note: `hidden: ${token}` })
    expect(response.status).toBe(200)
    const { executionId, output } = response.body as { executionId: string; output: { result: Record<string, string> } }

    // The called service received the real values.
    const [request] = echo.heard
    expect(request!.authorization).toBe(`Bearer ${token}`)
    expect(JSON.parse(request!.body)).toEqual({ phrase, token, note: `hidden: ${token}` })
    expect(new URL(request!.url).searchParams.get('key')).toBe(phrase)
    expect(decodeURIComponent(new URL(request!.url).pathname)).toBe(`/json/${phrase}`)

    // The caller received them too.
    expect(output.result['authorization']).toBe(`Bearer ${token}`)
    expect(JSON.stringify(output)).not.toContain('{{')

    const list = await expectLogsKeepSecrets([executionId])
    expect(list).toContain('Bearer {{TOKEN}}')
    expect(list).toContain('{{PHRASE}}')
    await expectStoreKeepsSecrets()
    await service.kill('SIGTERM')
    await expectStoreKeepsSecrets()
    expectNoSecrets('standard output', service.output())
    expectNoSecrets('standard error', service.errors())
  })

  test('appears in no error, neither recorded nor returned', async () => {
    const executionIds: string[] = []
    const fail = async (workflow: ReturnType<typeof document>) => {
      const endpoint = await deploy(service.url, home.apiKey, workflow)
      const { status, body, headers } = await call(endpoint, home.apiKey, 'POST', { note: 'x' })
      executionIds.push(headers.get('x-execution-id') ?? '')
      expect(status).toBe(500)
      return body as { error: string; output: unknown }
    }
    await fail(echoing(echo.port, '/broken'))
    const code =
      'throw new Error(`refused ${{{TOKEN}}} ${JSON.stringify({ a: {{PHRASE}} })} ${encodeURIComponent({{PHRASE}})}`)'
    const thrown = await fail(echoing(echo.port, '/json', { code }))
    expect(thrown.error).toContain('refused {{TOKEN}} {"a":"{{PHRASE}}"} {{PHRASE}}')
    expectNoSecrets('the response', thrown.error)
    await fail(
      document({
        name: 'An invalid address',
        blocks: [block('start', 'api_trigger'), block('call', 'api', { url: 'http://{{TOKEN}}/{{PHRASE}}' })],
        edges: ['start > call'],
      }),
    )
    const list = await expectLogsKeepSecrets(executionIds)
    expect(list).toContain('refused {{TOKEN}} {\\"a\\":\\"{{PHRASE}}\\"} {{PHRASE}}')

    // Requests with a secret in the wrong place.
    for (const path of [`/api/workflows/${encodeURIComponent(token)}`, `/api/jobs/${encodeURIComponent(phrase)}`]) {
      const { status } = await fetch(service.url + path, { headers: { 'x-api-key': home.apiKey } })
      expect(status).toBe(404)
    }
    const wrong = await call(`${environmentUrl()}/${encodeURIComponent(token)}`, home.apiKey, 'PUT', { value: phrase })
    expect(wrong.status).toBe(400)
    expectNoSecrets('standard error', service.errors())
    expect(service.errors()).toContain('{{TOKEN}}')
    await expectStoreKeepsSecrets()
  })

  test('in the output of an asynchronous run is returned to the caller, and encrypted on disk', async () => {
    const endpoint = await deploy(service.url, home.apiKey, echoing(echo.port, '/json'))
    const response = await fetch(endpoint, {
      method: 'POST',
      headers: { 'x-api-key': home.apiKey, 'x-execution-mode': 'async' },
      body: JSON.stringify({ note: phrase }),
    })
    expect(response.status).toBe(202)
    const { jobId } = (await response.json()) as { jobId: string }
    type Job = { status: string; output?: { result: { authorization: string } } }
    let job: Job = { status: 'queued' }
    while (job.status === 'queued' || job.status === 'processing') {
      job = (await call(`${service.url}/api/jobs/${jobId}`, home.apiKey)).body as Job
      await expectStoreKeepsSecrets()
    }
    expect(job).toMatchObject({ status: 'completed', output: { result: { authorization: `Bearer ${token}` } } })
    await expectLogsKeepSecrets([jobId])
    await expectStoreKeepsSecrets()
    expectNoSecrets('standard error', service.errors())
  })

  test('is redacted in workflows that do not read it, and in sub-workflows', async () => {
    const inner = document({
      name: 'Inner',
      blocks: [
        block('start', 'api_trigger'),
        block('say', 'function', { code: 'return { said: <api.input.text>, own: {{TOKEN}} }' }),
      ],
      edges: ['start > say'],
    })
    const created = await deploy(service.url, home.apiKey, inner)
    const innerId = /workflows\/([^/]+)\//.exec(created)![1]!
    const outer = document({
      name: 'Outer',
      blocks: [
        block('start', 'api_trigger', { inputFormat: [{ name: 'text', type: 'string' }] }),
        block('inner', 'workflow', { workflowId: innerId, input: { text: '<api.text>' } }),
      ],
      edges: ['start > inner'],
    })
    const { status, body } = await call(await deploy(service.url, home.apiKey, outer), home.apiKey, 'POST', {
      text: phrase,
    })
    expect(status).toBe(200)
    const { executionId, output } = body as { executionId: string; output: unknown }
    expect(JSON.stringify(output)).toContain(JSON.stringify({ said: phrase, own: token }))
    await expectLogsKeepSecrets([executionId])
    await expectStoreKeepsSecrets()
  })

  test('that changes applies to the next run, or within seconds when a command changed it', async () => {
    const says = document({
      name: 'Says',
      blocks: [block('start', 'api_trigger'), block('say', 'function', { code: 'return {{TOKEN}}' })],
      edges: ['start > say'],
    })
    const endpoint = await deploy(service.url, home.apiKey, says)
    const said = async () => {
      const { body } = await call(endpoint, home.apiKey, 'POST', {})
      const { output, error } = body as { output: { result: string } | null; error?: string }
      return output?.result ?? error
    }
    expect(await said()).toBe(token)
    await call(`${environmentUrl()}/TOKEN`, home.apiKey, 'PUT', { value: 'second value' })
    expect(await said()).toBe('second value')
    await call(`${environmentUrl()}/TOKEN`, home.apiKey, 'DELETE')
    expect(await said()).toBe('The environment variable {{TOKEN}} is not set in this workspace.')
    await call(`${environmentUrl()}/TOKEN`, home.apiKey, 'PUT', { value: 'third value' })
    expect(await said()).toBe('third value')

    await setByCommand('TOKEN', 'fourth value')
    while ((await said()) !== 'fourth value') await Bun.sleep(50)
  }, 120_000)
})
