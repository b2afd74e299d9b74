import { expect, test } from 'bun:test'
import { newExecutionId } from '../../../src/domain/ids.ts'
import { logWrite } from '../../../src/domain/run/write.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { install, logRow } from '../../support/store/installed.ts'

test('large writes and results change their thread whole, and writes leave no copy behind', async () => {
  using folder = temporaryFolder()
  const store = await openSqliteStore({ directory: folder.path, sync: 'normal', mode: 'workers' })
  try {
    const home = await install(store)
    const { workspaceId, workflowId } = home
    const bytes = () => crypto.getRandomValues(new Uint8Array(1_000_000).subarray(0, 65_536)).buffer as ArrayBuffer
    const [input, content, output] = [bytes(), bytes(), bytes()].map((buffer) => new Uint8Array(buffer))
    const kept = [input, content, output].map((each) => each?.slice())
    const executionId = newExecutionId()
    const job = {
      executionId,
      workflowId,
      workspaceId,
      version: 1,
      trigger: 'api' as const,
      createdAt: 1,
      startedAt: 1,
    }
    await store.append([{ kind: 'job', row: { ...job, input: input as Uint8Array } }])
    await store.append([{ kind: 'job-step', executionId, number: 1, content: content as Uint8Array }])
    expect((await store.getJob(executionId))?.input).toEqual(kept[0] as Uint8Array)
    expect(await store.getJobSteps(executionId)).toEqual([kept[1] as Uint8Array])

    const texts = { finalOutput: `{"a":"${'é😀\\ud800'.repeat(100_000)}"}`, traceSpans: `["${'x'.repeat(500_000)}"]` }
    const row = logRow(home, 1, { executionId, createdAt: 1, ...texts })
    await store.append([logWrite(row, output as Uint8Array)])
    expect(await store.getExecution(executionId)).toMatchObject(texts)
    expect(await store.getLog(1)).toMatchObject(texts)
    expect(row).toMatchObject(texts)
    expect(await store.getJobOutput(executionId)).toEqual(kept[2] as Uint8Array)
    expect([input, content, output].map((each) => each?.byteLength)).toEqual([0, 0, 0])

    // Bytes within a larger buffer, and those of a group, may belong to others.
    const shared = new Uint8Array(2_000_000).subarray(0, 1_000_000).fill(5)
    const second = newExecutionId()
    await store.append([{ kind: 'job', row: { ...job, executionId: second, input: shared } }])
    expect((await store.getJob(second))?.input).toEqual(shared)
    expect(shared.byteLength).toBe(1_000_000)
  } finally {
    await store.close()
  }
})
