import { describe, expect, test } from 'bun:test'
import { closeSync, openSync, readdirSync, statfsSync, writeFileSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { cleanEnvironment, temporaryFolder } from '../support/executable.ts'
import { block, document } from '../support/make.ts'
import { tracerPath } from '../support/programs.ts'
import { call, deploy, init, type Serving, serve } from '../support/running-service.ts'
import { smallDisk } from '../support/store/small-disk.ts'

// The tests mount a small file system or trace a process, which needs more rights than an ordinary user has. Without
// these rights, they fail and say why.

const workflow = document({
  name: 'Writes',
  blocks: [
    block('start', 'api_trigger'),
    block('f', 'function', { code: 'return "x".repeat(20_000) + Math.random()' }),
  ],
  edges: ['start > f'],
})

/** Runs for a minute. */
const waiting = document({
  name: 'Waits',
  blocks: [block('start', 'api_trigger'), block('wait', 'wait', { ms: 25_000 })],
  edges: ['start > wait'],
})

/** Accepts a file. */
const taking = document({
  name: 'Takes',
  blocks: [
    block('hook', 'webhook_trigger', { path: 'take', authentication: { type: 'none' } }),
    block('f', 'function', { code: 'return 1' }),
  ],
  edges: ['hook > f'],
})

describe('a disk', () => {
  test('that is full causes only 503s and no loss of acknowledged runs, until there is space again', async () => {
    using disk = smallDisk('12m')
    const data = disk.path
    let service: Serving | undefined
    try {
      const { apiKey, workspaceId } = await init(data)
      service = await serve(data)
      const url = await deploy(service.url, apiKey, workflow)
      const acknowledged = new Set<string>()
      const ballast = join(data, 'ballast')
      writeFileSync(ballast, new Uint8Array(6 * 1024 * 1024))
      const outcomes = await executeUntil(url, apiKey, acknowledged, ({ status }) => status === 503)
      expect(outcomes.at(-1)).toMatchObject({ status: 503, code: 'STORAGE_UNAVAILABLE' })
      expect((await fetch(`${service.url}/health/ready`)).status).toBe(503)
      expect((await fetch(`${service.url}/health/live`)).status).toBe(200)
      expect(await (await fetch(`${service.url}/metrics`)).text()).toContain('\nmillrace_storage_healthy 0\n')
      await expectAllRecorded(service.url, apiKey, workspaceId, acknowledged)

      Bun.spawnSync(['rm', ballast])
      const after = await executeUntil(url, apiKey, acknowledged, ({ status }) => status === 200)
      for (const { status, code } of after.slice(0, -1))
        expect({ status, code }).toEqual({ status: 503, code: 'STORAGE_UNAVAILABLE' })
      await expectAllRecorded(service.url, apiKey, workspaceId, acknowledged)
      expect(await service.kill('SIGTERM')).toBe(0)
      service = await serve(data)
      await expectAllRecorded(service.url, apiKey, workspaceId, acknowledged)
    } finally {
      await service?.kill('SIGTERM')
    }
  }, 120_000)

  test('that is full keeps no part of a rejected file, and does not prevent a clean stop', async () => {
    using disk = smallDisk('32m')
    const data = disk.path
    let service: Serving | undefined
    try {
      const { apiKey } = await init(data)
      service = await serve(data, { MILLRACE_STOP_GRACE_MS: '100' })
      const waits = await deploy(service.url, apiKey, waiting)
      await deploy(service.url, apiKey, taking)
      const headers = { 'x-api-key': apiKey, 'x-execution-mode': 'async' }
      const { jobId } = (await (await fetch(waits, { method: 'POST', headers })).json()) as { jobId: string }
      const ballast = join(data, 'ballast')
      const { bavail, bsize } = statfsSync(data)
      writeFileSync(ballast, new Uint8Array(bavail * bsize - 4 * 1024 * 1024))
      for (let n = 0; n < 50; n += 1) {
        const headers = { 'content-type': 'application/octet-stream' }
        const body = new Uint8Array(6 * 1024 * 1024)
        const response = await fetch(`${service.url}/api/webhooks/trigger/take`, { method: 'POST', headers, body })
        expect(response.status).toBe(503)
      }
      expect(readdirSync(join(data, 'files', '.incoming'))).toEqual([])
      expect((await fetch(`${service.url}/health/live`)).status).toBe(200)

      fillUp(ballast)
      expect(await service.kill('SIGTERM')).toBe(0)
      expect(service.errors() + service.output()).toContain('a part of the service failed while it was stopping')
      Bun.spawnSync(['rm', ballast])
      service = await serve(data)
      expect((await call(`${service.url}/api/jobs/${jobId}`, apiKey)).body).toMatchObject({ status: 'processing' })
    } finally {
      await service?.kill('SIGTERM')
    }
  }, 120_000)

  test('that fails to sync causes only 503s and no loss of acknowledged runs, until it works again', async () => {
    using folder = temporaryFolder()
    const { apiKey, workspaceId } = await init(folder.path)
    const service = await serve(folder.path)
    const url = await deploy(service.url, apiKey, workflow)
    const acknowledged = new Set<string>()
    await executeUntil(url, apiKey, acknowledged, () => acknowledged.size > 20)

    const tracer = Bun.spawn(
      [
        tracerPath(),
        '-f',
        '-qq',
        '-e',
        'trace=fsync,fdatasync',
        '-e',
        'inject=fsync,fdatasync:error=EIO',
        '-p',
        `${service.pid}`,
      ],
      {
        env: cleanEnvironment(),
        stdout: 'ignore',
        stderr: 'ignore',
      },
    )
    const failing = await executeUntil(url, apiKey, acknowledged, ({ status }) => status === 503)
    expect(failing.at(-1)?.code).toBe('STORAGE_UNAVAILABLE')
    for (let again = 0; again < 10; again += 1) {
      const [outcome] = await executeUntil(url, apiKey, acknowledged, () => true)
      expect(outcome?.status).toBe(503)
    }
    tracer.kill('SIGINT')
    await tracer.exited

    await executeUntil(url, apiKey, acknowledged, ({ status }) => status === 200)
    await expectAllRecorded(service.url, apiKey, workspaceId, acknowledged)
    await service.kill('SIGKILL')
    const again = await serve(folder.path)
    await expectAllRecorded(again.url, apiKey, workspaceId, acknowledged)
    expect(await again.kill('SIGTERM')).toBe(0)
  }, 120_000)
})

/** Fills the disk to the last byte. */
function fillUp(path: string): void {
  const file = openSync(path, 'a')
  try {
    for (let bytes = 1_048_576; bytes >= 1; ) {
      try {
        writeSync(file, new Uint8Array(bytes))
      } catch {
        bytes = Math.floor(bytes / 2)
      }
    }
  } finally {
    closeSync(file)
  }
}

type Outcome = { status: number; code: string | undefined }

/** Sends one request after another until an outcome matches. Returns all outcomes. */
async function executeUntil(
  url: string,
  apiKey: string,
  acknowledged: Set<string>,
  matches: (outcome: Outcome) => boolean,
): Promise<Outcome[]> {
  const outcomes: Outcome[] = []
  for (let n = 0; n < 20_000; n += 1) {
    const { status, body } = await call(url, apiKey, 'POST', { n })
    const { executionId, code } = body as { executionId?: string; code?: string }
    if (status === 200 && executionId) acknowledged.add(executionId)
    outcomes.push({ status, code })
    if (matches({ status, code })) return outcomes
    expect([200, 503]).toContain(status)
  }
  throw new Error('None of 20,000 requests had the expected outcome.')
}

async function expectAllRecorded(
  url: string,
  apiKey: string,
  workspaceId: string,
  acknowledged: ReadonlySet<string>,
): Promise<void> {
  const recorded = new Set<string>()
  for (let cursor: string | null = null; ; ) {
    const query = new URLSearchParams({ workspaceId, order: 'asc', limit: '1000', ...(cursor ? { cursor } : {}) })
    const { status, body } = await call(`${url}/api/v1/logs?${query}`, apiKey)
    expect(status).toBe(200)
    const page = body as { data: { executionId: string }[]; nextCursor: string | null }
    for (const { executionId } of page.data) recorded.add(executionId)
    if (page.data.length === 0 || page.nextCursor === null) break
    cursor = page.nextCursor
  }
  expect([...acknowledged].filter((executionId) => !recorded.has(executionId))).toEqual([])
}
