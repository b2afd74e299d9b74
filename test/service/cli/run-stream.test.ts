import { afterAll, beforeAll, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { App } from '../../../src/app.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { createInstallation } from '../../../src/cli/installation/installation.ts'
import { startTestApp } from '../../support/app.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { ModelServer } from '../../support/models/model-server.ts'

const data = temporaryFolder()
let app: App
let apiKey = ''
let server: ModelServer

beforeAll(async () => {
  server = await ModelServer.start(() => ({ text: ['Why ', 'not?'] }))
  app = await startTestApp(data.path, { 'outbound-allow': 'loopback' })
  apiKey = (await createInstallation(app.store, Date.now()))!.apiKey
})
afterAll(async () => {
  await app.stop(0)
  await server[Symbol.asyncDispose]()
  data[Symbol.dispose]()
})

/** A terminal that also records the pieces of streamed text in order. */
class WatchedTerminal extends MemoryTerminal {
  readonly pieces: string[] = []
  override show(piece: string, stream: 'data' | 'words'): void {
    this.pieces.push(piece)
    super.show(piece, stream)
  }
}

async function run(...words: string[]) {
  const terminal = new WatchedTerminal()
  const environment = {
    MILLRACE_URL: app.address.url,
    MILLRACE_API_KEY: apiKey,
    MILLRACE_OUTBOUND_ALLOW: 'loopback',
  }
  const code = await runCommandLine(['run', ...words], { terminal, environment })
  return { code, out: terminal.out, words: terminal.words, pieces: terminal.pieces }
}

const asking = (name: string, next: readonly ReturnType<typeof block>[] = []) =>
  document({
    name,
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'mute', type: 'boolean' }] }),
      block('ask', 'agent', {
        ...{ provider: 'openai-compatible', model: 'm', baseUrl: server.url, userPrompt: 'Why?' },
      }),
      ...next,
    ],
    edges: ['start > ask', ...next.map(({ id }) => `ask > ${id}`)],
  })

/** Runs a workflow from a file and on the service. Both must print the same. */
async function onBoth(workflow: ReturnType<typeof document>, ...words: string[]) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'flow.json')
  writeFileSync(file, JSON.stringify(workflow))
  const local = await run(file, ...words)
  const terminal = new MemoryTerminal()
  const environment = { MILLRACE_URL: app.address.url, MILLRACE_API_KEY: apiKey }
  await runCommandLine(['workflows', 'push', file, '--deploy', '--json'], { terminal, environment })
  const [pushed] = JSON.parse(terminal.out) as { id: string }[]
  return { local, remote: await run(pushed!.id, ...words) }
}

test('run --stream prints text while it is generated, and does not repeat it as output', async () => {
  const { local, remote } = await onBoth(asking('Streams'), '--stream')
  for (const { code, out, pieces } of [local, remote]) {
    expect({ code, out, pieces }).toEqual({ code: 0, out: 'Why not?\n', pieces: ['Why ', 'not?', '\n'] })
  }
})

test('run --stream --json prints the envelope to standard output and the text to standard error', async () => {
  const { local, remote } = await onBoth(asking('Streams as JSON'), '--stream', '--json')
  for (const { out, words } of [local, remote]) {
    expect(words).toContain('Why not?\n')
    expect(JSON.parse(out)).toMatchObject({ success: true, executionId: expect.any(String) })
    expect(JSON.parse(out)).not.toHaveProperty('event')
  }
})

test('run --stream prints the output of a run that generates no text', async () => {
  const silent = asking('Silent', [block('after', 'function', { code: 'return <ask.content>.length' })])
  const { local, remote } = await onBoth(silent, '--stream')
  for (const { out, pieces } of [local, remote]) {
    expect(pieces).toEqual([])
    expect(JSON.parse(out)).toMatchObject({ result: 8 })
  }
})

test('run --stream reports a failure after the text and exits with 1', async () => {
  const failing = asking('Fails', [block('after', 'function', { code: 'throw new Error("no luck")' })])
  const { local, remote } = await onBoth(failing, '--stream')
  for (const { code, out, words } of [local, remote]) {
    expect(code).toBe(1)
    expect(out).toBe('Why not?\n')
    expect(words).toContain('no luck')
  }
})

test('run --stream reports a rejected request', async () => {
  const { code, words } = await run('3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21', '--stream')
  expect(code).toBe(1)
  expect(words).toContain('404')
})
