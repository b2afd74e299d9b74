import { expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

type Settings = { interactive?: boolean; input?: string; environment?: Record<string, string> }

async function run(value: unknown, words: readonly string[], { environment = {}, ...rest }: Settings = {}) {
  using folder = temporaryFolder()
  const file = join(folder.path, 'flow.json')
  writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value))
  const terminal = new MemoryTerminal(rest)
  const code = await runCommandLine(['run', file, ...words], { terminal, environment })
  return { code, out: terminal.out, words: terminal.words }
}

const inputFormat = [{ name: 'who', type: 'string', value: 'nobody' }]
const says = (text: string) => block('say', 'variables', { assign: [{ name: 'said', value: text }] })
const variables = { said: { value: '' } }
const greeting = document({
  blocks: [block('start', 'api_trigger', { inputFormat }), says('Hello, <api.who>')],
  edges: ['start > say'],
  variables,
})

test('run prints only the output when it is not interactive', async () => {
  expect(await run(greeting, ['--input', '{"who": "Ada"}'])).toEqual({
    code: 0,
    out: '{\n  "said": "Hello, Ada"\n}\n',
    words: '',
  })
})

test('fields without a value take their sample, so a run needs no input', async () => {
  expect((await run(greeting, [])).out).toContain('Hello, nobody')
})

test('the manual trigger takes precedence over the API trigger', async () => {
  const both = document({
    blocks: [
      block('a', 'api_trigger', { inputFormat }),
      block('m', 'manual_trigger', { inputFormat: [{ name: 'who', type: 'string', value: 'manually' }] }),
      says('<manual.who>'),
    ],
    edges: ['a > say', 'm > say'],
    variables,
  })
  expect((await run(both, [])).out).toContain('manually')
})

const hook = block('hook', 'webhook_trigger', { path: 'orders', methods: ['POST', 'PUT'] })
const heard = (text: string, ...triggers: ReturnType<typeof block>[]) =>
  document({ blocks: [...triggers, says(text)], edges: triggers.map(({ id }) => `${id} > say`), variables })
const said = async (value: unknown, ...words: string[]) => {
  const { code, out, words: told } = await run(value, words)
  return code === 0 ? (JSON.parse(out) as { said: string }).said : told
}
const webhookText = '<webhook.method> <webhook.body> <webhook.headers.x-a>'

test('a webhook trigger starts with any body or with a request', async () => {
  const flow = heard(webhookText, hook)
  expect(await said(flow, '--input', '{"n":1}')).toBe('POST {"n":1} ')
  expect(await said(flow, '--input', '[1,2]')).toBe('POST [1,2] ')
  expect(await said(flow, '--input', '{"method":"PUT","headers":{"x-a":"b"},"body":"text"}')).toBe('PUT text b')
  expect(await said(flow)).toBe('POST  ')
})

test('a chat trigger starts with a message, a schedule with the current or a given time', async () => {
  const chat = heard('<chat.input> <chat.history>', block('chat', 'chat_trigger', { identifier: 'help' }))
  expect(await said(chat, '--input', '"Hello"')).toBe('Hello []')
  const history = [{ role: 'user', content: 'Hi' }]
  expect(await said(chat, '--input', JSON.stringify({ input: 'Hello', history }))).toBe(
    `Hello ${JSON.stringify(history)}`,
  )
  const schedule = heard('<schedule.dueAt>', block('plan', 'schedule', { cron: '0 9 * * *' }))
  expect(await said(schedule)).toMatch(/^20\d\d-.*Z$/)
  expect(await said(schedule, '--input', '{"dueAt":"2026-01-01T09:00:00.000Z"}')).toBe('2026-01-01T09:00:00.000Z')
})

test('--trigger selects one of several triggers', async () => {
  const flow = heard(webhookText, block('start', 'api_trigger'), hook)
  expect(await said(flow, '--input', '{"n":1}')).toBe('  ')
  expect(await said(flow, '--input', '{"n":1}', '--trigger', 'webhook')).toBe('POST {"n":1} ')
  expect(await said(flow, '--trigger', 'chat')).toContain('The workflow has no chat trigger that is enabled.')
  expect((await run(flow, ['--trigger', 'hook'])).code).toBe(2)
  const terminal = new MemoryTerminal({})
  const words = ['run', '3f6c0b1e-8a5e-4f43-9d0f-0a4b6f6c7d21', '--trigger', 'chat']
  expect(await runCommandLine(words, { terminal, environment: {} })).toBe(2)
})

test('the input can come from a file or from standard input', async () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'input.json')
  writeFileSync(file, '{"who": "a file"}')
  expect((await run(greeting, ['--input', `@${file}`])).out).toContain('Hello, a file')
  expect((await run(greeting, ['--input', '@-'], { input: '{"who": "a pipe"}' })).out).toContain('Hello, a pipe')
})

test('{{NAME}} refers to an environment variable of the process', async () => {
  const flow = document({
    blocks: [block('start', 'manual_trigger'), says('{{WHO}}')],
    edges: ['start > say'],
    variables,
  })
  expect((await run(flow, [], { environment: { WHO: 'the shell' } })).out).toContain('the shell')
  const missing = await run(flow, [])
  expect(missing).toMatchObject({ code: 1, out: '' })
  expect(missing.words).toContain('{{WHO}}')
})

test('the value of {{NAME}} appears in the output, but in no error and no progress message', async () => {
  const code = 'const token = {{TOKEN}}; throw new Error(`refused: ${token} ${encodeURIComponent(token)}`)'
  const failing = document({
    blocks: [block('start', 'manual_trigger'), block('boom', 'function', { code })],
    edges: ['start > boom'],
  })
  const environment = { TOKEN: 'se"cret 22' }
  const failed = await run(failing, ['--verbose', '--json'], { environment })
  expect(failed.words).toContain('refused: {{TOKEN}} {{TOKEN}}')
  expect(failed.words).not.toMatch(/se"cret|se%22cret/)
  expect(JSON.parse(failed.out).error).toContain('refused: {{TOKEN}} {{TOKEN}}')

  const flow = document({
    blocks: [block('start', 'manual_trigger'), says('{{TOKEN}}')],
    edges: ['start > say'],
    variables,
  })
  const { out, words } = await run(flow, ['--verbose'], { environment })
  expect(JSON.parse(out)).toEqual({ said: 'se"cret 22' })
  expect(words).not.toContain('se"cret')
})

test('on a terminal or with --verbose, run reports the start and end of each block', async () => {
  for (const watched of [await run(greeting, [], { interactive: true }), await run(greeting, ['--verbose'])]) {
    const lines = watched.words
      .trim()
      .split('\n')
      .map((line) => line.trim())
    expect(lines).toEqual([
      '… start (api_trigger)',
      expect.stringMatching(/^✓ start \(api_trigger\) {2}\d+ ms$/),
      '… say (variables)',
      expect.stringMatching(/^✓ say \(variables\) {2}\d+ ms$/),
    ])
    expect(JSON.parse(watched.out)).toEqual({ said: 'Hello, nobody' })
  }
})

test('a failed run exits with 1 and names the block; --json prints the envelope', async () => {
  const flow = document({
    blocks: [block('start', 'manual_trigger'), block('boom', 'function', { code: 'throw new Error("kaboom")' })],
    edges: ['start > boom'],
  })
  const { code, out, words } = await run(flow, ['--json'])
  expect(code).toBe(1)
  expect(JSON.parse(out)).toEqual({
    success: false,
    error: expect.stringContaining('kaboom'),
    code: 'EXECUTION_FAILED',
    executionId: expect.any(String),
    blockId: 'boom',
    blockName: 'boom',
    output: null,
    metadata: { duration: expect.any(Number), startTime: expect.any(String), endTime: expect.any(String) },
  })
  expect(words).toContain('The run failed in "boom"')
})

test.each<[string, unknown, string[], number, string]>([
  ['invalid JSON', '{', [], 1, 'is not valid JSON'],
  ['an invalid document', { name: 7 }, [], 1, 'name must be text'],
  ['a document that cannot run', document({ blocks: [block('a', 'nonsense')] }), [], 1, 'nonsense'],
  ['a document without a trigger', document({ blocks: [] }), [], 1, 'trigger'],
  ['input that is not JSON', greeting, ['--input', '{who}'], 2, 'The text of --input is not valid JSON'],
  ['input of the wrong type', greeting, ['--input', '{"who": {}}'], 1, 'The field "who" must be a string'],
  ['a missing input file', greeting, ['--input', '@/nowhere'], 1, '/nowhere cannot be read'],
  ['an invalid address rule', greeting, ['--outbound-allow', '10.0.0.0/99'], 2, '10.0.0.0/99'],
])('%s is reported before anything runs', async (_what, value, words, code, message) => {
  const stopped = await run(value, words)
  expect(stopped).toMatchObject({ code, out: '' })
  expect(stopped.words).toContain(message)
})

test('a folder is rejected, even if it contains a workflow', async () => {
  using folder = temporaryFolder()
  writeFileSync(join(folder.path, 'flow.json'), JSON.stringify(greeting))
  const terminal = new MemoryTerminal()
  expect(await runCommandLine(['run', folder.path], { terminal, environment: {} })).toBe(1)
  expect(terminal.out).toBe('')
  expect(terminal.words).toContain(`${folder.path} is a folder. Name the file of one workflow in it.`)
})

test('an error in a file does not say that nothing was changed', async () => {
  expect((await run('{', [])).words).not.toContain('Nothing was changed')
})
