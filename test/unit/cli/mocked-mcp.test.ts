import { describe, expect, test } from 'bun:test'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'

/** Runs `millrace test` in a folder with the files, and returns what it printed. */
async function runTests(files: Readonly<Record<string, unknown>>): Promise<{ out: string }> {
  using folder = temporaryFolder()
  for (const [name, content] of Object.entries(files)) writeFileSync(join(folder.path, name), JSON.stringify(content))
  const terminal = new MemoryTerminal({})
  await runCommandLine(['test', folder.path], { terminal, environment: {} })
  return { out: terminal.out }
}

const inputFormat = [{ name: 'id', type: 'string', value: '1' }]

describe('mocks of an MCP server', () => {
  const server = 'https://mcp.example/mcp'
  const searched = document({
    name: 'Searched',
    blocks: [
      block('start', 'api_trigger', { inputFormat }),
      block('search', 'mcp', { server, tool: 'search', arguments: { id: '<start.id>' } }),
    ],
    edges: ['start > search'],
  })
  const search = async (mocks: readonly unknown[], expected: Record<string, unknown>) => {
    const tests = [{ name: 'Searches', mocks, expect: expected }]
    return (await runTests({ 'a.json': searched, 'a.test.json': { tests } })).out
  }
  const request = { method: 'MCP', url: `${server}#search` }
  const text = [{ type: 'text', text: 'Two' }]

  test('a text is the content of the result, and the call has the arguments', async () => {
    const calls = [{ ...request, body: { id: '1' } }]
    const byBlock = { block: 'search', response: { status: 200, data: 'Two' } }
    expect(await search([byBlock], { output: { content: text, isError: false }, calls })).toContain('✓ Searches')
    const byTool = { request, response: { status: 200, data: 'Two' } }
    expect(await search([byTool], { output: { content: text } })).toContain('✓ Searches')
  })

  test('data is a structured result, and the outputs of an mcp block are a whole one', async () => {
    const data = { count: 2 }
    const structured = { request, response: { status: 200, data } }
    expect(await search([structured], { output: { structured: data } })).toContain('✓ Searches')
    const whole = { request, response: { status: 200, data: { content: text, isError: true } } }
    expect(await search([whole], { success: false })).toContain('✓ Searches')
  })

  test('a status of an error fails the block', async () => {
    const refused = { request, response: { status: 503 } }
    expect(await search([refused], {})).toContain('The run failed in "search": The MCP server responded with 503.')
  })

  test('the mock of another tool does not answer, and the report has the mock to add', async () => {
    const other = { request: { ...request, url: `${server}#list` }, response: { status: 200, data: '' } }
    const out = await search([other], {})
    expect(out).toContain(`No mock answers the request of "search": MCP ${server}#search`)
    expect(out).toContain(`{"request":{"method":"MCP","url":"${server}#search"},`)
  })

  test('a list of tools is data, too, so an agent can call them', async () => {
    const messages = [{ role: 'user', content: 'Hi' }]
    const tools = [{ type: 'mcp', server }]
    const agent = { provider: 'openai', model: 'gpt-4o', apiKey: '{{OPENAI_API_KEY}}', messages, tools }
    const asked = document({
      blocks: [block('start', 'api_trigger', { inputFormat }), block('ask', 'agent', agent)],
      edges: ['start > ask'],
    })
    const model = { method: 'MODEL', url: 'openai/gpt-4o' }
    const answers = (to: unknown, data: unknown) => ({ request: to, response: { status: 200, data } })
    const mocks = [
      answers({ method: 'MCP', url: server }, { tools: [{ name: 'search' }] }),
      answers(model, { toolCalls: [{ name: 'search', arguments: { id: '5' } }] }),
      answers(request, 'Two'),
      answers(model, 'There are two.'),
    ]
    const calls = [{ method: 'MCP', url: server }, model, { ...request, body: { id: '5' } }, model]
    const one = { name: 'Asks', mocks, expect: { output: { content: 'There are two.' }, calls } }
    expect((await runTests({ 'a.json': asked, 'a.test.json': { tests: [one] } })).out).toContain('✓ Asks')
  })
})
