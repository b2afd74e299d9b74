import fc from 'fast-check'
import { type SimFile, simBlock, simFile } from './files.ts'

/** Texts with references, variables, and characters that must survive. */
const text = fc.oneof(
  fc.constantFrom('<start.input>', '<variable.count>', '{{KEY}}', 'a <b> c', '<agent 1.content>', '<loop.index>'),
  fc.constantFrom('<webhook1.event.id>', '<nobody.x>', '<start.topic> and <sub.result.a[0]["b c"]>', 'line\nbreak'),
  fc.string({ maxLength: 30 }),
)
const key = fc.string({ minLength: 1, maxLength: 8 })
/** As it is after it was written as JSON, which has no -0. */
const anything = fc.jsonValue({ maxDepth: 3 }).map((value): unknown => JSON.parse(JSON.stringify(value)))
const rows = fc.array(fc.record({ id: key, cells: fc.record({ Key: key, Value: text }) }), { maxLength: 3 })
const fields = fc.array(
  fc.record({
    ...{ id: key, name: key, description: text, value: text },
    type: fc.constantFrom('string', 'number', 'boolean', 'object', 'array', 'file[]', 'odd'),
  }),
  { maxLength: 3 },
)
const model = fc.constantFrom(
  'gpt-4o',
  'claude-sonnet-4-5',
  'gemini-2.5-pro',
  'groq/llama',
  'grok-4',
  'llama3',
  'azure/gpt-4o',
)
const tool = fc.oneof(
  fc.record({
    type: fc.constantFrom('workflow_input', 'workflow'),
    ...{ title: text, params: fc.record({ workflowId: key }), usageControl: fc.constantFrom('auto', 'force', 'none') },
  }),
  fc.record({ type: fc.constant('api'), title: text, params: fc.record({ url: text, headers: rows }) }),
  fc.record({
    type: fc.constantFrom('custom-tool', 'mcp', 'unheard_of'),
    title: text,
    code: text,
    params: fc.dictionary(key, anything),
  }),
)
const messages = fc.array(fc.record({ role: fc.constantFrom('system', 'user', 'assistant', 'odd'), content: text }), {
  maxLength: 4,
})
const branches = fc
  .uniqueArray(key, { maxLength: 3 })
  .chain((ids) =>
    fc
      .tuple(...ids.map(() => text))
      .map((values) => [
        ...ids.map((id, index) => ({ id, title: index === 0 ? 'if' : 'else if', value: values[index] })),
        { id: 'last one', title: 'else', value: '' },
      ]),
  )

/** The sub-blocks of each type that has a counterpart, and of some that have none. */
const valuesOf: Record<string, fc.Arbitrary<Record<string, unknown>>> = {
  start_trigger: fc.record({ inputFormat: fields }),
  starter: fc.record({ startWorkflow: fc.constantFrom('manual', 'schedule', 'webhook', 'chat'), inputFormat: fields }),
  api_trigger: fc.record({ inputFormat: fields }),
  chat_trigger: fc.constant({}),
  schedule: fc.record({
    scheduleType: fc.constantFrom('minutes', 'hourly', 'daily', 'weekly', 'monthly', 'custom'),
    ...{ minutesInterval: fc.constantFrom('5', '7', ''), dailyTime: fc.constantFrom('09:30', '') },
    ...{ weeklyDay: fc.constantFrom('MON', 'SUN'), timezone: fc.constantFrom('UTC', 'Europe/Paris') },
  }),
  generic_webhook: fc.record({ requireAuth: fc.boolean(), token: text, secretHeaderName: fc.constantFrom('', 'X-K') }),
  agent: fc.record({
    ...{ model, messages, tools: fc.array(tool, { maxLength: 3 }), apiKey: fc.constantFrom('', '{{KEY}}') },
    ...{ memoryType: fc.constantFrom('none', 'conversation', ''), temperature: fc.constantFrom(0.3, '0.7', '') },
    responseFormat: fc.constantFrom('', '{"type":"object"}', '{"name":"x","schema":{"type":"object"}}', 'not JSON'),
    reasoningEffort: fc.constantFrom('', 'high'),
  }),
  function: fc.record({ code: text, language: fc.constantFrom('javascript', 'python', ''), timeout: fc.nat(1000) }),
  condition: fc.record({ conditions: branches.map((list) => JSON.stringify(list)) }),
  router: fc.record({ prompt: text, model }),
  router_v2: fc.record({
    ...{ context: text, model },
    routes: fc.array(fc.record({ id: key, title: fc.constantFrom('Route 1', 'Sales'), value: text }), { maxLength: 3 }),
  }),
  api: fc.record({
    url: text,
    method: fc.constantFrom('GET', 'POST', 'patch'),
    headers: rows,
    params: rows,
    body: text,
  }),
  response: fc.record({
    ...{ dataMode: fc.constantFrom('structured', 'json'), data: text, status: fc.constantFrom('201', '') },
    builderData: fc.array(fc.record({ id: key, name: key, type: fc.constantFrom('string', 'number'), value: text })),
  }),
  variables: fc.record({
    variables: fc.array(
      fc.record({ variableName: fc.constantFrom('count', 'x', 'new one'), type: fc.constant('string'), value: text }),
    ),
  }),
  wait: fc.record({ timeValue: fc.constantFrom('5', '<start.n>'), timeUnit: fc.constantFrom('seconds', 'minutes') }),
  human_in_the_loop: fc.record({
    builderData: fc.array(fc.record({ id: key, name: key, value: text }), { maxLength: 2 }),
    ...{ inputFormat: fields, notification: fc.array(fc.record({ type: key, title: text }), { maxLength: 2 }) },
  }),
  workflow_input: fc.record({ workflowId: key, inputMapping: fc.constantFrom('{"a":"<start.input>"}', '', 'odd') }),
  note: fc.record({ content: text, color: fc.constantFrom('blue', 'odd', '') }),
  knowledge_of_old: fc.record({ query: text, deep: anything }),
  loop: fc.constant({}),
  parallel: fc.constant({}),
}

const loopData = fc.constantFrom(
  ...[{}, { count: 3 }, { loopType: 'forEach', collection: '["a"]' }],
  ...[{ loopType: 'while', whileCondition: '<variable.count> < 3', count: 5 }],
)
const parallelData = fc.constantFrom({}, { count: 3 }, { parallelType: 'collection', collection: '<start.list>' })

function isContainer(type: string | undefined): boolean {
  return type === 'loop' || type === 'parallel'
}

const names = ['Start', 'Agent 1', 'Webhook 1', 'Sub', 'A.B', 'agent1', '', 'Loop 1']
const handles = ['source', 'error', 'condition-last one', 'router-x', 'loop-start-source', 'loop-end-source']

/** A file with any of Sim's own block types, and any connections. */
export const simFiles: fc.Arbitrary<SimFile> = fc
  .array(
    fc.constantFrom(...Object.keys(valuesOf)).chain((type) =>
      fc.record({
        type: fc.constant(type),
        values: valuesOf[type]!,
        name: fc.constantFrom(...names),
        enabled: fc.boolean(),
        parent: fc.nat(8),
        data: type === 'loop' ? loopData : type === 'parallel' ? parallelData : fc.constant({}),
      }),
    ),
    { minLength: 1, maxLength: 9 },
  )
  .chain((parts) =>
    fc.record({
      parts: fc.constant(parts),
      edges: fc.array(
        fc.record({ from: fc.nat(parts.length), to: fc.nat(parts.length), handle: fc.constantFrom(...handles) }),
        { maxLength: 12 },
      ),
      variables: fc.uniqueArray(fc.constantFrom('count', 'Base URL', 'x'), { maxLength: 3 }),
    }),
  )
  .map(({ parts, edges, variables }) => {
    const blocks = parts.map(({ type, values, name, enabled, parent, data }, index) => {
      const isInside = parent < index && isContainer(parts[parent]?.type)
      return simBlock(`b${index}`, type, values, {
        ...{
          name,
          enabled,
          data: {
            ...(isContainer(type) ? data : {}),
            ...(isInside ? { parentId: `b${parent}`, extent: 'parent' } : {}),
          },
        },
      })
    })
    return simFile(
      blocks,
      edges.map(({ from, to, handle }) => `b${from}:${handle} > b${to}`),
      {
        variables: Object.fromEntries(
          variables.map((name, index) => [`v${index}`, { id: `v${index}`, name, type: 'number', value: '1' }]),
        ),
        metadata: { name: 'Generated' },
      },
    )
  })
