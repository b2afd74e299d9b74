import { expect, test } from 'bun:test'
import { sequenceAt } from '../../../src/domain/ids.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { init, serve } from '../../support/running-service.ts'
import { appendLogs } from '../../support/store/append-logs.ts'
import { type Installed, logRow } from '../../support/store/installed.ts'
import { openStoreOf } from '../../support/store/test-store.ts'

const entries = 1_000
const spanChars = 800_000
const mb = 1_048_576

/** The largest memory that a process has had, in MB. Only Linux reports it. */
const peakMb = async (pid: number) =>
  Number(/VmHWM:\s+(\d+) kB/.exec(await Bun.file(`/proc/${pid}/status`).text())![1]) / 1024

test('a log page with 800 MB of spans is sent with less than half of that in memory', async () => {
  using folder = temporaryFolder()
  const { workspaceId, apiKey } = await init(folder.path)
  const store = await openStoreOf(folder.path)
  const document = { name: 'A', blocks: {}, edges: [] }
  const { id: workflowId } = await store.createWorkflow({ id: null, workspaceId, document, at: 1 })
  const traceSpans = JSON.stringify([{ output: 'x'.repeat(spanChars) }])
  // Entries of today, because retention deletes entries older than a month.
  const sequence = sequenceAt(Date.now())
  for (let index = 1; index <= entries; index += 1) {
    await appendLogs(store, [logRow({ workspaceId, workflowId } as Installed, sequence + index, { traceSpans })])
  }
  await store.close()
  const service = await serve(folder.path)
  try {
    const read = async (query: string) => {
      const url = `${service.url}/api/v1/logs?workspaceId=${workspaceId}&${query}`
      const response = await fetch(url, { headers: { 'x-api-key': apiKey } })
      expect(response.status).toBe(200)
      let bytes = 0
      for await (const piece of response.body!) bytes += piece.byteLength
      return bytes
    }
    await read('limit=1000')
    const before = await peakMb(service.pid)
    expect(await read('limit=1000&includeTraceSpans=true')).toBeGreaterThan(entries * spanChars)
    expect((await peakMb(service.pid)) - before).toBeLessThan((entries * spanChars) / mb / 2)
  } finally {
    await service.kill('SIGTERM')
  }
}, 120_000)
