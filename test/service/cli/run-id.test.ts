import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../src/app.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { startTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { callService } from './call-service.ts'

const data = temporaryFolder()
let app: App
let apiKey = ''

beforeAll(async () => {
  app = await startTestApp(data.path)
  apiKey = (await createInstallation(app.store, Date.now()))!.apiKey
})
afterAll(async () => {
  await app.stop(0)
  data[Symbol.dispose]()
})

const call = (...words: string[]) => callService(app, apiKey, words)

/** Pushes a document to the service and deploys it. Returns its id. */
async function push(one: WorkflowDocument): Promise<string> {
  const file = join(data.path, `${crypto.randomUUID()}.json`)
  writeFileSync(file, JSON.stringify(one))
  const { out } = await call('workflows', 'push', file, '--deploy', '--json')
  rmSync(file)
  return (JSON.parse(out) as [{ id: string }])[0].id
}

describe('run ID', () => {
  test('prints the output of a run with a Response block', async () => {
    const response = block('say', 'response', { data: { tea: 'short' }, status: 418 })
    const blocks = [block('start', 'api_trigger'), response]
    const id = await push(document({ name: 'Teapot', blocks, edges: ['start > say'] }))
    const { code, out } = await call('run', id, '--json')
    expect(code).toBe(0)
    expect(JSON.parse(out)).toMatchObject({
      success: true,
      executionId: expect.any(String),
      output: { data: { tea: 'short' }, status: 418 },
      metadata: { startTime: expect.stringMatching(/Z$/) },
    })
  })

  test('accepts the name of a workflow instead of its ID', async () => {
    await push(document({ name: 'By its name', blocks: [block('start', 'api_trigger')], edges: [] }))
    const { code, out } = await call('run', 'By its name', '--json')
    expect([code, JSON.parse(out).success]).toEqual([0, true])
  })

  test('exits with 1 when the run failed, and names the block', async () => {
    const blocks = [block('start', 'api_trigger'), block('boom', 'function', { code: 'throw new Error("kaboom")' })]
    const id = await push(document({ name: 'Bomb', blocks, edges: ['start > boom'] }))
    const { code, out, words } = await call('run', id, '--json')
    expect(code).toBe(1)
    expect(JSON.parse(out)).toMatchObject({ success: false, code: 'EXECUTION_FAILED', blockName: 'boom' })
    expect(words).toContain('The run failed in "boom"')
    expect(words).toContain('kaboom')
  })

  test('says why no run started', async () => {
    const { code, out, words } = await call('run', 'no-such-id')
    expect({ code, out }).toEqual({ code: 1, out: '' })
    expect(words).toContain('There is no workflow with the id or name "no-such-id"')
    const unknown = await call('run', '3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21')
    expect(unknown.words).toContain('returned 404: There is no workflow')
    expect((await call('run', './missing.json')).words).toContain('The file ./missing.json does not exist.')
  })
})
