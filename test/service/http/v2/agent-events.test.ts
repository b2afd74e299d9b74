import { afterAll, afterEach, beforeAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { ExecutionWorld, echo, start } from '../execution-world.ts'

let world: ExecutionWorld
let server: ModelServer
let script: ScriptedResponse[] = []
let id: string

beforeAll(async () => {
  world = await ExecutionWorld.open({ 'outbound-allow': 'loopback' })
  server = await ModelServer.start(() => script.shift() ?? {})
  const workflowId = await world.deploy(echo)
  const broken = await world.deploy(
    document({
      blocks: [start(), block('f', 'function', { code: 'throw new Error("no luck")' })],
      edges: ['start > f'],
    }),
  )
  id = await world.deploy(
    document({
      name: 'Asking',
      blocks: [
        start(),
        block('ask', 'agent', {
          ...{ provider: 'openai-compatible', model: 'thinker', baseUrl: server.url, userPrompt: 'Go', retries: 0 },
          tools: [
            { type: 'workflow', workflowId, name: 'look_up' },
            { type: 'workflow', workflowId: broken, name: 'break' },
          ],
        }),
      ],
      edges: ['start > ask'],
    }),
  )
})
afterEach(() => {
  script = []
})
afterAll(async () => {
  await world.close()
  await server[Symbol.asyncDispose]()
})

const calls = (...names: string[]) => names.map((name, index) => ({ id: `call_${index}`, name, arguments: '{"a":1}' }))
const twoTurns = (): ScriptedResponse[] => [
  { thinking: ['I should ', 'look.'], text: ['Let me look. '], toolCalls: calls('look_up') },
  { thinking: ['Now I know.'], text: ['It is ', 'one.'] },
]

const protocol = { 'x-sim-stream-protocol': 'other-v1, agent-events-v1' }
async function messages(path: string, body: object, headers: Record<string, string> = protocol) {
  const response = await world.call(path, { body: { stream: true, ...body }, headers })
  const found = [...response.text.matchAll(/^data: (.*)$/gm)].map(([, data]) => data ?? '')
  return { response, found: found.filter((data) => !/^"?\[DONE/.test(data)).map((data) => JSON.parse(data)) }
}
const inV2 = (body: object, headers?: Record<string, string>) =>
  messages(`/api/v2/workflows/${id}/execute`, body, headers)

describe('a stream in the protocol agent-events-v1', () => {
  test('has the thinking, the tool calls and the retracted text of an agent, in their order', async () => {
    script = twoTurns()
    const { response, found } = await inV2({ includeThinking: true, includeToolCalls: true })
    expect(response.headers.get('x-sim-stream-protocol')).toBe('agent-events-v1')
    const blockId = 'ask'
    expect(found.slice(0, -1)).toEqual([
      { blockId, event: 'thinking', data: 'I should ' },
      { blockId, event: 'thinking', data: 'look.' },
      { blockId, chunk: 'Let me look. ' },
      { blockId, event: 'chunk_reset' },
      { blockId, event: 'tool', phase: 'start', id: 'call_0', name: 'look_up' },
      { blockId, event: 'tool', phase: 'end', id: 'call_0', name: 'look_up', status: 'success' },
      { blockId, event: 'thinking', data: 'Now I know.' },
      { blockId, chunk: 'It is ' },
      { blockId, chunk: 'one.' },
    ])
    expect(found.at(-1)).toMatchObject({ event: 'final', data: { success: true, output: { content: 'It is one.' } } })
  })

  test('has only the kinds of messages that the caller asks for, and retractions', async () => {
    const kindsFor = async (body: object) => {
      script = twoTurns()
      const { found } = await inV2(body)
      return new Set(found.slice(0, -1).map(({ event = 'chunk' }) => event))
    }
    expect(await kindsFor({})).toEqual(new Set(['chunk', 'chunk_reset']))
    expect(await kindsFor({ includeThinking: true })).toEqual(new Set(['thinking', 'chunk', 'chunk_reset']))
    expect(await kindsFor({ includeToolCalls: true })).toEqual(new Set(['chunk', 'chunk_reset', 'tool']))
  })

  test('says which tool calls failed', async () => {
    script = [{ toolCalls: calls('break', 'nothing') }, { text: ['No.'] }]
    const { found } = await inV2({ includeToolCalls: true })
    const ends = found.filter(({ phase }) => phase === 'end').map(({ name, status }) => [name, status])
    expect(ends.toSorted()).toEqual([
      ['break', 'error'],
      ['nothing', 'error'],
    ])
    // Without text before the tool calls, there is nothing to retract.
    expect(found.some(({ event }) => event === 'chunk_reset')).toBe(false)
  })

  test('has no messages about agents whose text is not selected', async () => {
    script = twoTurns()
    const { found } = await inV2({ includeThinking: true, includeToolCalls: true, selectedOutputs: ['ask.model'] })
    expect(found.slice(0, -1)).toEqual([{ blockId: 'ask', chunk: 'thinker' }])
  })

  test('works in version 1, with its own last message', async () => {
    script = twoTurns()
    const path = `/api/workflows/${id}/execute`
    const { response, found } = await messages(path, { includeThinking: true, includeToolCalls: true })
    expect(response.headers.get('x-sim-stream-protocol')).toBe('agent-events-v1')
    const kinds = found.map(({ event = 'chunk' }) => event)
    expect(kinds.filter((kind) => kind === 'tool')).toHaveLength(2)
    expect(kinds.filter((kind) => kind === 'thinking')).toHaveLength(3)
    expect(kinds.at(-1)).toBe('done')
  })
})

describe('a stream without the protocol', () => {
  test('has only text, in both versions', async () => {
    for (const path of [`/api/workflows/${id}/execute`, `/api/v2/workflows/${id}/execute`]) {
      script = twoTurns()
      const { response, found } = await messages(path, {}, {})
      expect(response.headers.get('x-sim-stream-protocol')).toBeNull()
      expect(new Set(found.slice(0, -1).map(({ event = 'chunk' }) => event))).toEqual(new Set(['chunk']))
    }
  })

  test('reads the members for messages about agents as input in version 1', async () => {
    const own = await world.deploy(echo)
    const body = { includeThinking: true, a: 1 }
    const plain = await world.execute(own, body)
    expect(plain.json.output.result).toEqual(body)
    const known = await world.execute(own, body, { headers: protocol })
    expect(known.json.output.result).toEqual({ a: 1 })
  })
})
