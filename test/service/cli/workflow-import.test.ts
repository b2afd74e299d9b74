import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../src/app.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import { startTestApp } from '../../support/app.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'
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

function write(folder: string, files: Record<string, unknown>): string[] {
  return Object.entries(files).map(([name, value]) => {
    writeFileSync(join(folder, name), JSON.stringify(value))
    return join(folder, name)
  })
}

describe('workflows import', () => {
  test('imports files and folders, and prints a list of reports with their files', async () => {
    using folder = temporaryFolder()
    write(folder.path, {
      'named.json': simFile([simBlock('s', 'start_trigger', {}, { name: 'Start' })], [], {
        metadata: { name: 'Named' },
      }),
      'my-agent-0b232eb8-1234-4321-8888-0123456789ab.json': simFile([simBlock('k', 'knowledge_of_old')], [], {
        metadata: {},
      }),
      '_workspace.json': { workspace: { name: 'W' } },
    })
    const { code, out } = await call('workflows', 'import', folder.path, '--json')
    expect(code).toBe(0)
    const reports = JSON.parse(out)
    expect(reports.map(({ file, name }: { file: string; name: string }) => [file, name])).toEqual([
      [join(folder.path, 'my-agent-0b232eb8-1234-4321-8888-0123456789ab.json'), 'my agent'],
      [join(folder.path, 'named.json'), 'Named'],
    ])
    expect(reports[0].placeholders).toHaveLength(1)
  })

  test('prints what was converted, what is missing, and why a file cannot be imported', async () => {
    using folder = temporaryFolder()
    const [good = '', bad = ''] = write(folder.path, {
      'good.json': simFile([simBlock('k', 'unheard_of', {}, { name: 'Ask' })], [], { metadata: { name: 'Good' } }),
      'bad.json': { nodes: [] },
    })
    const { code, out, words } = await call('workflows', 'import', bad, good)
    expect(code).toBe(1)
    expect(out).toContain('Good  0 blocks converted, 1 placeholder')
    expect(words).toContain('"Ask" is a placeholder. It needs')
    expect(words).toContain('bad.json')
    expect(words).toContain('not a workflow exported from Sim')
  })

  test('uses the name and the description that a file has beside its state', async () => {
    using folder = temporaryFolder()
    const { state } = simFile([simBlock('s', 'start_trigger', {}, { name: 'Start' })], [], { metadata: {} })
    const files = write(folder.path, {
      'export.json': { version: '1.0', workflow: { name: 'Beside', description: 'Why' }, state },
      'response.json': { data: { workflow: { name: 'Around', description: 'How' }, state } },
      'nameless.json': { data: { workflow: { description: 'Who' }, state } },
    })
    const reports = JSON.parse((await call('workflows', 'import', ...files, '--json')).out)
    expect(reports.map(({ name }: { name: string }) => name)).toEqual(['Beside', 'Around', 'nameless'])
    const rows = await Promise.all(reports.map(({ id }: { id: string }) => app.store.getWorkflow(id)))
    expect(rows.map((row) => row?.document.description)).toEqual(['Why', 'How', 'Who'])
  })

  test('does not let a file replace the workflow of another one', async () => {
    using folder = temporaryFolder()
    const fileOf = (type: string) => simFile([simBlock('s', type)], [], { metadata: { name: 'Both' } })
    const files = write(folder.path, { 'one.json': fileOf('wait'), 'two.json': fileOf('function') })
    const { code, out, words } = await call('workflows', 'import', ...files, '--update', '--json')
    expect([code, JSON.parse(out).length]).toEqual([1, 1])
    expect(words).toContain('two.json: The workflow in ')
    expect((await app.store.getWorkflow(JSON.parse(out)[0].id))?.document.blocks['s']?.type).toBe('wait')
  })

  test('replaces an imported workflow with --update only', async () => {
    using folder = temporaryFolder()
    const [file = ''] = write(folder.path, {
      'a.json': simFile([simBlock('s', 'start_trigger', {}, { name: 'Start' })], [], { metadata: { name: 'Again' } }),
    })
    const [first] = JSON.parse((await call('workflows', 'import', file, '--json')).out)
    expect((await call('workflows', 'import', file)).words).toContain('already')
    const [second] = JSON.parse((await call('workflows', 'import', file, '--update', '--json')).out)
    expect(second.id).toBe(first.id)
  })
})
