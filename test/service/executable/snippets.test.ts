import { afterAll, beforeAll, expect, test } from 'bun:test'
import { join } from 'node:path'
import { callModes, type SnippetFacts, snippet } from '../../../src/ui/editor/deploy/snippets.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { programPath } from '../../support/programs.ts'
import { call, type Serving, serve } from '../../support/running-service.ts'

let serving: Serving
let apiKey: string
const folder = temporaryFolder()
beforeAll(async () => {
  serving = await serve(join(folder.path, 'data'))
  apiKey = /API key\s+(\S+)/.exec(serving.output())![1]!
}, 120_000)
afterAll(async () => {
  await serving.kill('SIGTERM')
  folder[Symbol.dispose]()
})

/** Deploys a workflow that greets, with or without a Response block. */
async function deployed(hasResponse: boolean): Promise<string> {
  const blocks = {
    api: { name: 'Start', type: 'api_trigger', params: { inputFormat: [{ name: 'name', type: 'string' }] } },
    greet: { name: 'Greet', type: 'function', params: { code: 'return "Hello, " + <api.name>' } },
    ...(hasResponse
      ? { answer: { name: 'Answer', type: 'response', params: { data: { said: '<greet.result>' } } } }
      : {}),
  }
  const edges = [{ source: 'api', target: 'greet' }, ...(hasResponse ? [{ source: 'greet', target: 'answer' }] : [])]
  const made = await call(`${serving.url}/api/workflows`, apiKey, 'POST', {
    name: `Greet ${hasResponse}`,
    blocks,
    edges,
  })
  const { id } = made.body as { id: string }
  expect((await call(`${serving.url}/api/workflows/${id}/deploy`, apiKey, 'POST', {})).status).toBeLessThan(300)
  return id
}

/** Runs a command and returns what it prints. */
async function printed(line: string[]): Promise<string> {
  const child = Bun.spawn(line, { env: { ...process.env, MILLRACE_API_KEY: apiKey }, stdout: 'pipe', stderr: 'pipe' })
  const [out, words, code] = await Promise.all([
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
    child.exited,
  ])
  if (code !== 0) throw new Error(words)
  return out
}

for (const hasResponse of [false, true]) {
  test(`the displayed snippets work for a workflow ${hasResponse ? 'with' : 'without'} a Response block`, async () => {
    const id = await deployed(hasResponse)
    const url = `${serving.url}/api/workflows/${id}/execute`
    for (const { value: mode } of callModes) {
      const outputs = mode === 'streaming' ? ['greet.result'] : []
      const facts = { mode, url, origin: serving.url, input: { name: 'Ada\'s "cat"' }, outputs, hasResponse }
      const write = (language: SnippetFacts['language']) => snippet({ ...facts, language })
      const program = join(folder.path, 'call.ts')
      await Bun.write(program, write('TypeScript'))
      expect(await printed([process.execPath, program])).toContain("Hello, Ada's")
      programPath('curl')
      const line = await printed(['sh', '-c', write('curl').replace('YOUR_API_KEY', apiKey)])
      expect(line).toContain(mode === 'asynchronous' ? '"taskId"' : "Hello, Ada's")
    }
  }, 120_000)
}
