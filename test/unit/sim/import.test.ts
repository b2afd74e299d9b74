// Long because it is one list: what becomes of each block type.
import { describe, expect, test } from 'bun:test'
import { importSim, type SimImport } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'
import { lossesOf } from '../../support/sim/losses.ts'

/** `secrets`: texts that the document must not contain. */
function imported(file: unknown, secrets: readonly string[] = []): SimImport {
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  const expected = secrets.map((secret) => `the text "${secret}"`)
  expect(lossesOf(file, result.document, result.notes)).toEqual(expected)
  return result
}

/** The parameters of the block `it` of this type. */
function paramsOf(type: string, values: Record<string, unknown>): Record<string, unknown> {
  return imported(simFile([simBlock('it', type, values)])).document.blocks['it']?.params ?? {}
}

describe('the import of a workflow of Sim', () => {
  test('takes over names, positions, states, connections and the description', () => {
    const file = simFile(
      [
        simBlock('s', 'start_trigger', {}, { name: 'Start' }),
        simBlock('f', 'function', { code: 'return 1' }, { enabled: false }),
      ],
      ['s > f'],
      { metadata: { name: 'Report', description: 'Every day' } },
    )
    const { name, document, mapped, placeholders } = imported(file)
    expect({ name, description: document.description }).toEqual({ name: 'Report', description: 'Every day' })
    expect(document.blocks['f']).toMatchObject({ name: 'f', enabled: false, position: { x: 10, y: 20 } })
    expect(document.edges).toEqual([
      { id: 'edge-0', source: 's', target: 'f', sourceHandle: 'source', targetHandle: 'target' },
    ])
    expect(mapped).toEqual([
      { blockId: 's', from: 'start_trigger', to: 'api_trigger' },
      { blockId: 'f', from: 'function', to: 'function' },
    ])
    expect(placeholders).toEqual([])
  })

  test('makes a placeholder of a block that it does not know, and keeps its content', () => {
    const { document, placeholders } = imported(
      simFile([simBlock('kb', 'knowledge_of_old', { query: '<start.input> {{KEY}}' }, { name: 'Look up' })]),
    )
    expect(document.blocks['kb']).toMatchObject({
      ...{ type: 'placeholder', name: 'Look up', origin: { type: 'knowledge_of_old' } },
      params: { original: { type: 'knowledge_of_old', subBlocks: { query: { value: '<start.input> {{KEY}}' } } } },
    })
    expect(placeholders).toEqual([
      { blockId: 'kb', name: 'Look up', from: 'knowledge_of_old', needs: expect.any(String) },
    ])
  })

  test('translates references to outputs that are elsewhere here', () => {
    const { document } = imported(
      simFile(
        [
          simBlock('s', 'start_trigger', { inputFormat: [{ name: 'topic', type: 'string' }] }, { name: 'Start' }),
          simBlock('a', 'agent', { model: 'gpt-4o', responseFormat: '{"type":"object"}' }, { name: 'Agent 1' }),
          simBlock('w', 'workflow_input', { workflowId: 'w1', inputMapping: '{"a":"<start.input>"}' }, { name: 'Sub' }),
          simBlock('h', 'generic_webhook', {}, { name: 'Hook' }),
          simBlock('old', 'agent', { model: 'gpt-4o' }, { name: 'Old' }),
          simBlock('f', 'function', {
            code: [
              'return [<start.topic>, <start.input>, <start.conversationId>, <agent1.title>, <agent1.tokens.input>,',
              '<sub.result.ok>, <hook.event.id>, <hook.headers.host>, <old.response.content>, <loop.index>]',
            ].join('\n'),
          }),
        ],
        [],
      ),
    )
    expect(document.blocks['f']?.params?.['code']).toBe(
      [
        'return [<start.topic>, <start.input.input>, <start.input.conversationId>, <agent1.content.title>, <agent1.tokens.prompt>,',
        '<sub.output.ok>, <hook.body.event.id>, <hook.headers.host>, <old.content>, <loop.index>]',
      ].join('\n'),
    )
    expect(document.blocks['w']?.params).toEqual({ workflowId: 'w1', input: { a: '<start.input.input>' } })
  })

  test('renames blocks whose names are not allowed here, and the references to them', () => {
    const { document, notes } = imported(
      simFile([
        simBlock('a', 'api', { url: 'https://a.example' }, { name: 'My API v1.0' }),
        simBlock('b', 'api', { url: 'https://b.example/<myapi.data>' }, { name: 'my api' }),
        simBlock('c', 'api', { url: 'https://c.example' }, { name: 'My API' }),
        simBlock('d', 'api', { url: '<nobody.data>' }),
      ]),
    )
    const names = Object.values(document.blocks).map(({ name }) => name)
    expect(names).toEqual(['My API v1 0', 'my api', 'My API 2', 'd'])
    expect(document.blocks['b']?.params?.['url']).toBe('https://b.example/<myapi.data>')
    expect(notes).toContain(
      '"d": The reference <nobody.data> is not translated, because the workflow has no block of this name.',
    )
  })

  test('connects the branches of conditions and routers', () => {
    const conditions = JSON.stringify([
      { id: 'c-if', title: 'if', value: '<start.input> > 1' },
      { id: 'c-2', title: 'else if', value: 'false' },
      { id: 'c-else', title: 'else', value: '' },
    ])
    const routes = [
      { id: 'r1', title: 'Support', value: 'Asks for help' },
      { id: 'r2', title: 'Route 2', value: 'Buys' },
    ]
    const { document } = imported(
      simFile(
        [
          simBlock('c', 'condition', { conditions }),
          simBlock('v2', 'router_v2', { context: 'Where?', routes, model: 'gpt-4o' }),
          simBlock('v1', 'router', { prompt: 'Who?', model: 'claude-sonnet-4-5' }),
          simBlock('f', 'function', { code: 'return' }, { name: 'Answer' }),
        ],
        ['c:condition-c-if > f', 'c:condition-c-2 > f', 'c:condition-c-else > f', 'v2:router-r1 > f', 'v1 > f'],
      ),
    )
    expect(document.blocks['c']?.params).toEqual({
      conditions: [
        { id: 'c-if', expression: '<start.input> > 1' },
        { id: 'c-2', expression: 'false' },
      ],
    })
    expect(document.blocks['v2']?.params).toMatchObject({
      ...{ prompt: 'Where?', provider: 'openai', model: 'gpt-4o', apiKey: '{{OPENAI_API_KEY}}' },
      routes: [
        { id: 'r1', description: 'Support: Asks for help' },
        { id: 'r2', description: 'Buys' },
      ],
    })
    expect(document.blocks['v1']?.params).toMatchObject({
      prompt: 'Who?',
      routes: [{ id: 'f', description: 'Continue with Answer.' }],
    })
    expect(document.edges.map(({ sourceHandle }) => sourceHandle)).toEqual([
      ...['condition-c-if', 'condition-c-2', 'condition-else', 'router-r1', 'router-f'],
    ])
  })

  test('takes over loops and parallels with their blocks', () => {
    const { document } = imported(
      simFile(
        [
          simBlock('l', 'loop', {}, { data: { loopType: 'while', whileCondition: '<variable.n> < 3', width: 400 } }),
          simBlock('p', 'parallel', {}, { data: { parentId: 'l' } }),
          simBlock('f', 'function', { code: '<parallel.currentItem>' }, { data: { parentId: 'p' } }),
          simBlock('alone', 'loop', {}, { data: { count: 7 } }),
          simBlock('after', 'function', { code: '<p.results[1][0].result> <p.results>' }),
        ],
        ['l:loop-start-source > p', 'p:parallel-start-source > f'],
        {
          loops: { l: { id: 'l', nodes: ['p'], iterations: 5, loopType: 'while', whileCondition: '<variable.n> < 3' } },
          parallels: { p: { id: 'p', nodes: ['f'], distribution: '["a"]', parallelType: 'collection', batchSize: 2 } },
          variables: { v: { id: 'v', name: 'n', type: 'number', value: '1' } },
        },
      ),
    )
    expect(document.loops).toEqual({
      l: { id: 'l', nodes: ['p'], loopType: 'while', condition: '<variable.n> < 3' },
      alone: { id: 'alone', nodes: [], loopType: 'for', iterations: 7 },
    })
    expect(document.parallels).toEqual({
      p: { id: 'p', nodes: ['f'], parallelType: 'collection', distribution: '["a"]', concurrency: 2 },
    })
    expect(document.blocks['f']?.parentId).toBe('p')
    expect(document.blocks['after']?.params?.['code']).toBe('<p.results[1].result> <p.results>')
    expect(document.variables).toEqual({ n: { type: 'number', value: 1 } })
  })

  test('leaves out containers that contain themselves', () => {
    const { document, notes } = imported(
      simFile([
        simBlock('a', 'loop', {}, { data: { parentId: 'b' } }),
        simBlock('b', 'loop', {}, { data: { parentId: 'c' } }),
        simBlock('f', 'function', { code: '1' }, { data: { parentId: 'a' } }),
        simBlock('c', 'loop', {}),
      ]),
    )
    expect(Object.values(document.blocks).map(({ parentId }) => parentId)).toEqual(['b', 'c', 'a', undefined])
    expect(notes.filter((note) => note.includes('cycle'))).toEqual([])
    const cyclic = importSim(
      simFile([
        simBlock('a', 'loop', {}, { data: { parentId: 'b' } }),
        simBlock('b', 'loop', {}, { data: { parentId: 'a' } }),
      ]),
    )
    if ('details' in cyclic) throw new Error('not imported')
    expect(Object.values(cyclic.document.blocks).filter(({ parentId }) => parentId !== undefined)).toHaveLength(1)
    expect(cyclic.notes).toContainEqual(expect.stringContaining('was inside itself in the file'))
  })

  test('makes notes of note blocks, and keeps connections that lead nowhere', () => {
    const { document, notes } = imported(
      simFile(
        [
          simBlock('n', 'note', { content: '# Read me', color: 'blue', format: 'markdown' }, { name: 'Note 1' }),
          simBlock('m', 'note', { content: 'Later' }, { name: 'To do' }),
          simBlock('s', 'start_trigger', {}, { name: 'Start' }),
        ],
        ['s > n', 's > gone'],
      ),
    )
    expect(document.notes).toMatchObject({
      n: { text: '# Read me', color: 'blue', position: { x: 10, y: 20 } },
      m: { text: 'To do\n\nLater' },
    })
    expect(document.edges).toEqual([])
    expect(document.origin?.values?.['edges']).toMatchObject([{ target: 'n' }, { target: 'gone' }])
    expect(notes).toContainEqual(expect.stringContaining('Skipped 2 connections'))
  })

  test('reads the messages, the format and the tools of an agent', () => {
    const { document, placeholders, notes } = imported(
      simFile([
        simBlock('a', 'agent', {
          messages: [
            { role: 'system', content: 'Be brief.' },
            { role: 'user', content: 'Hello' },
            { role: 'assistant', content: 'Hi' },
            { role: 'user', content: 'About <start.input>' },
          ],
          ...{ model: 'groq/llama-3.3-70b', temperature: 0.2, maxTokens: '500', reasoningEffort: 'high' },
          responseFormat: { name: 'person', schema: { type: 'object', properties: {} }, strict: true },
          tools: [
            { type: 'workflow_input', title: 'Find order', params: { workflowId: 'w1' }, usageControl: 'force' },
            { type: 'custom-tool', title: 'Pricing', schema: { function: { name: 'pricing' } }, code: 'return 3' },
            { type: 'api', title: 'Weather', params: { url: 'https://weather.example' } },
            { type: 'unheard_of', title: 'Unheard', params: { secret: 'kept' } },
          ],
        }),
      ]),
    )
    expect(document.blocks['a']?.params).toEqual({
      ...{ provider: 'openai-compatible', model: 'llama-3.3-70b', baseUrl: 'https://api.groq.com/openai/v1' },
      ...{ apiKey: '{{GROQ_API_KEY}}', temperature: 0.2, maxTokens: 500 },
      ...{ systemPrompt: 'Be brief.', userPrompt: 'About <start.input>' },
      messages: [
        { role: 'user', content: 'Hello' },
        { role: 'assistant', content: 'Hi' },
      ],
      responseFormat: { type: 'object', properties: {} },
      tools: [
        { type: 'workflow', workflowId: 'w1', name: 'Find_order' },
        expect.objectContaining({
          type: 'api',
          name: 'Weather',
          params: { retries: 0, url: 'https://weather.example' },
        }),
      ],
    })
    expect(document.blocks['a']?.origin?.values).toMatchObject({
      reasoningEffort: 'high',
      responseFormatOptions: { name: 'person', strict: true },
    })
    expect(placeholders.map(({ blockId, from }) => ({ blockId, from }))).toEqual([
      { blockId: 'a-tool-2', from: 'custom-tool' },
      { blockId: 'a-tool-4', from: 'unheard_of' },
    ])
    expect(notes).toContainEqual(expect.stringContaining('reasoningEffort'))
    expect(notes).toContainEqual(expect.stringContaining('had to call the tool "Find order"'))
  })

  test.each([
    [{ scheduleType: 'minutes', minutesInterval: '10' }, { cron: '*/10 * * * *' }],
    [{ scheduleType: 'minutes', minutesInterval: '25' }, { intervalMs: 1_500_000 }],
    [{ scheduleType: 'hourly', hourlyMinute: '15' }, { cron: '15 * * * *' }],
    [
      { scheduleType: 'daily', dailyTime: '08:05', timezone: 'Europe/Paris' },
      { cron: '5 8 * * *', timezone: 'Europe/Paris' },
    ],
    [{ scheduleType: 'weekly', weeklyDay: 'FRI', weeklyDayTime: '17:30' }, { cron: '30 17 * * FRI' }],
    [{ scheduleType: 'monthly', monthlyDay: '28', monthlyTime: '00:00' }, { cron: '0 0 28 * *' }],
    [{ scheduleType: 'custom', cronExpression: '0 */2 * * *' }, { cron: '0 */2 * * *' }],
  ])('reads the times of the schedule %p', (values, params) => {
    expect(paramsOf('schedule', values)).toEqual(params)
  })

  test('reads requests, responses, waits and variables', () => {
    const table = [
      { id: 'r1', cells: { Key: 'Accept', Value: 'text/plain' } },
      { id: 'r2', cells: { Key: '', Value: '' } },
    ]
    expect(
      paramsOf('api', { url: 'https://a.example', method: 'post', headers: table, body: 'Hello', timeout: '5000' }),
    ).toEqual({
      ...{ retries: 0, url: 'https://a.example', method: 'POST', body: 'Hello', bodyType: 'text', timeoutMs: 5000 },
      headers: [{ key: 'Accept', value: 'text/plain' }],
    })
    expect(
      paramsOf('response', {
        ...{ dataMode: 'structured', status: '201' },
        builderData: [
          { id: '1', name: 'ok', type: 'boolean', value: 'true' },
          { id: '2', name: 'inner', type: 'object', value: [{ id: '3', name: 'n', type: 'number', value: '4' }] },
        ],
      }),
    ).toEqual({ status: 201, data: { ok: true, inner: { n: 4 } } })
    expect(paramsOf('wait', { timeValue: '3', timeUnit: 'minutes' })).toEqual({ for: '3 minutes' })
    expect(paramsOf('wait', { timeValue: '2', timeUnitLong: 'days', async: true })).toEqual({ for: '2 days' })
    expect(
      paramsOf('variables', {
        variables: [
          { variableName: 'count', type: 'number', value: '7' },
          { variableName: 'n', value: 'x' },
        ],
      }),
    ).toEqual({
      assign: [
        { name: 'count', value: 7 },
        { name: 'n', value: 'x' },
      ],
    })
  })

  test('makes an approval of a block that waits for a person, with placeholders for its notifications', () => {
    const { document } = imported(
      simFile([
        simBlock('h', 'human_in_the_loop', {
          builderData: [{ id: '1', name: 'amount', type: 'string', value: '<start.input>' }],
          inputFormat: [{ id: '2', name: 'reason', type: 'string', description: 'Why?' }],
          notification: [{ type: 'slack', title: 'Slack', params: { text: 'Please look' } }],
        }),
      ]),
    )
    expect(document.blocks['h']).toMatchObject({
      type: 'approval',
      params: { title: 'h', message: 'amount: <start.input>', fields: [{ name: 'reason', type: 'string' }] },
    })
    expect(document.edges).toMatchObject([{ source: 'h', target: 'h-notify-1', sourceHandle: 'notify' }])
  })

  test('makes a feed trigger of an RSS trigger, and translates the fields of its items', () => {
    const code = 'return [<news.title>, <news.item.link>, <news.item.pubDate>, <news.item.guid>, <news.item.summary>]'
    const { document } = imported(
      simFile(
        [
          simBlock('r', 'rss', { feedUrl: 'https://news.example/feed', triggerInstructions: 'x' }, { name: 'News' }),
          simBlock('f', 'function', { code }),
        ],
        ['r > f'],
      ),
    )
    expect(document.blocks['r']).toMatchObject({
      type: 'rss_trigger',
      params: { url: 'https://news.example/feed', everyMs: 300_000 },
    })
    expect(document.blocks['f']?.params?.['code']).toBe(
      'return [<news.item.title>, <news.item.link>, <news.item.published>, <news.item.id>, <news.item.content>]',
    )
  })

  test('protects the webhooks that needed a token', () => {
    expect(paramsOf('generic_webhook', { requireAuth: true })).toMatchObject({
      authentication: { type: 'bearer', token: '{{WEBHOOK_TOKEN}}' },
    })
    expect(paramsOf('generic_webhook', { requireAuth: true, token: '{{T}}', secretHeaderName: 'X-Key' })).toMatchObject(
      {
        authentication: { type: 'header', name: 'X-Key', value: '{{T}}' },
      },
    )
  })

  test('keeps no secret of a service whose value it replaces', () => {
    const { document } = imported(
      simFile([
        simBlock('g', 'github', { webhookSecret: 'ghs_literal', triggerId: 'github_push' }, { triggerMode: true }),
        simBlock('s', 'slack', { operation: 'send', channel: 'C1', text: 'Hello', botToken: 'xoxb-literal' }),
      ]),
      ['ghs_literal', 'xoxb-literal'],
    )
    expect(JSON.stringify(document)).not.toContain('literal')
    expect(document.blocks['s']?.type).toBe('operation')
  })

  test('says that a workflow has at most one trigger of each type', () => {
    const { notes } = imported(
      simFile([
        simBlock('a', 'schedule', { scheduleType: 'daily', dailyTime: '09:00' }, { name: 'Morning' }),
        simBlock('b', 'schedule', { scheduleType: 'daily', dailyTime: '18:00' }, { name: 'Evening' }),
      ]),
    )
    expect(notes).toContainEqual(expect.stringMatching(/only one trigger of each type.*"Morning", "Evening"/))
  })

  test('reads values that files written by hand have without a wrapper', () => {
    const schema = { type: 'object', properties: { city: { type: 'string' } } }
    const agent = { type: 'agent', name: 'A', subBlocks: { model: 'gpt-4o', responseFormat: schema } }
    const { document } = imported({ state: { blocks: { a: agent }, metadata: { name: 'By hand' } } })
    expect(document.blocks['a']?.params).toMatchObject({ model: 'gpt-4o', responseFormat: schema })
  })

  test('keeps every block of a list, even if several have the same ID', () => {
    const blocks = [1, 2, 3].map((each) =>
      simBlock('same', 'function', { code: `return ${each}` }, { name: `F${each}` }),
    )
    const result = importSim({ state: { blocks, edges: [{ id: 'e', source: 'same', target: 'same' }] } })
    if ('details' in result) throw new Error('not imported')
    const codes = Object.values(result.document.blocks).map(({ params }) => params?.['code'])
    expect(codes).toEqual(['return 1', 'return 2', 'return 3'])
    expect(result.notes).toContain('2 blocks had the ID of another one. Connect what has a new ID now.')
  })

  test('shortens a long name, description and type, and keeps the whole texts', () => {
    const [name, description, type] = ['n', 'd', 't'].map((letter) => `${letter.repeat(199)}😀 and more`)
    const long = `${description?.repeat(60)}😀`
    const metadata = { name, description: long }
    const result = importSim(simFile([simBlock('a', String(type))], [], { metadata }))
    if ('details' in result) throw new Error(JSON.stringify(result.details))
    const { document, notes } = result
    expect([document.name.isWellFormed(), document.description?.isWellFormed()]).toEqual([true, true])
    expect(document.origin?.values).toMatchObject(metadata)
    expect(document.blocks['a']?.params?.['original']).toMatchObject({ type })
    expect(notes.filter((note) => note.includes('shortened'))).toHaveLength(2)
  })

  test('keeps settings of containers that it does not know, and says so', () => {
    const loops = { l: { id: 'l', nodes: [], loopType: 'for', iterations: 2, pauseBetween: 'ten seconds' } }
    const parallels = { p: { id: 'p', nodes: [], count: 2, ordering: 'strictly' } }
    const { document, notes } = imported(
      simFile([simBlock('l', 'loop'), simBlock('p', 'parallel')], [], { loops, parallels }),
    )
    expect(document.blocks['l']?.origin?.values).toEqual({ pauseBetween: 'ten seconds' })
    expect(document.blocks['p']?.origin?.values).toEqual({ ordering: 'strictly' })
    expect(notes).toContain('"l": These settings are kept but have no effect here: pauseBetween.')
    expect(notes).toContain('"p": These settings are kept but have no effect here: ordering.')
  })

  test('does not replace a time of day that it cannot read by another one', () => {
    for (const [dailyTime, cron] of [
      ['noon', 'noon * * *'],
      ['9:30 pm', '30 21 * * *'],
    ])
      expect(paramsOf('schedule', { scheduleType: 'daily', dailyTime })['cron']).toBe(cron)
  })

  test('makes a placeholder of Python code', () => {
    const { placeholders } = imported(simFile([simBlock('f', 'function', { language: 'python', code: 'return 1' })]))
    expect(placeholders[0]?.needs).toContain('python')
  })

  test('reads files of the old form, and lists of variables', () => {
    const file = {
      blocks: {
        s: simBlock('s', 'starter', { startWorkflow: 'manual' }),
        f: { id: 'f', type: 'function', name: 'F', subBlocks: { code: [{ content: 'return <s.response.input.x>' }] } },
      },
      edges: [{ id: 'e', source: 's', target: 'f' }],
      variables: [{ id: 'v', name: 'Base URL', type: 'string', value: 'https://x.example' }],
    }
    const result = importSim(file)
    if ('details' in result) throw new Error('not imported')
    expect(result.name).toBe('Imported workflow')
    expect(result.document.variables).toEqual({ 'Base URL': { type: 'string', value: 'https://x.example' } })
    expect(result.document.blocks['s']?.type).toBe('api_trigger')
  })

  test.each([[null], ['text'], [[]], [{}], [{ state: { blocks: {} } }], [{ state: { blocks: 'x' } }], [{ nodes: [] }]])(
    'says why %p is not a workflow of Sim',
    (value) => {
      expect(importSim(value)).toEqual({ details: [{ path: 'state.blocks', message: expect.any(String) }] })
    },
  )
})
