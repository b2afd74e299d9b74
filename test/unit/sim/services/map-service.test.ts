import { describe, expect, test } from 'bun:test'
import { parsePath } from '../../../../src/domain/workflow/reference.ts'
import { type BlockToMap, isMapped, type MappedBlock, type MappedTool } from '../../../../src/sim/import/mapping.ts'
import { SimValues } from '../../../../src/sim/import/sim-values.ts'
import { mapService, mapServiceTool } from '../../../../src/sim/services/map-service.ts'
import { readSimDocument, readSimTool, type SimBlock } from '../../../../src/sim/sim-document.ts'

describe('a block of a service', () => {
  test('becomes an operation with the same parameters', () => {
    const { mapped } = map('slack_v2', {
      operation: 'send',
      channel: 'C1',
      text: 'Hi <agent1.content>',
      threadTs: '1.2',
    })
    expect(mapped).toMatchObject({
      type: 'operation',
      params: {
        connector: 'slack',
        operation: 'sendMessage',
        credential: 'slack',
        params: { channel: 'C1', text: 'Hi <agent1.content>', thread_ts: '1.2' },
      },
      credentials: [{ name: 'slack', kind: 'bearer' }],
    })
  })

  test('uses the sub-block of the other input mode when the first one is empty', () => {
    const { mapped, left } = map('google_sheets_v2', {
      operation: 'append',
      manualSpreadsheetId: 'sheet-1',
      manualSheetName: 'New people',
      values: '[["Ada", "<agent1.content.email>"]]',
    })
    expect(mapped.params['params']).toEqual({
      spreadsheetId: 'sheet-1',
      range: "'New people'",
      values: [['Ada', '<agent1.content.email>']],
    })
    expect(left).toEqual([])
  })

  test('uses the text that was entered in place of an old choice', () => {
    const values = { operation: 'send', channel: 'C-OLD', manualChannel: 'C-NEW', text: 'Hi' }
    const input = blockToMap('slack', values, false, { canonicalModes: { channel: 'advanced' } })
    const mapped = mapService(input) as MappedBlock
    expect(mapped.params['params']).toEqual({ channel: 'C-NEW', text: 'Hi' })
    expect(mapped.kept).toMatchObject({ channel: 'C-OLD' })
    expect(input.values.rest()).toEqual([])
  })

  test('leaves what the operation does not take to the report', () => {
    const { left } = map('slack', { operation: 'send', channel: 'C1', text: 'Hi', files: '<start.files>' })
    expect(left).toEqual([['files', '<start.files>']])
  })

  test('translates references to outputs, and says which have no counterpart', () => {
    const { mapped } = map('slack', { operation: 'send', channel: 'C1', text: 'Hi' })
    const read = (path: string) => mapped.output?.(parsePath(`.${path}`))
    expect(read('ts')).toEqual(['data', 'ts'])
    expect(read('message.user')).toEqual(['data', 'message', 'user'])
    expect(read('error')).toEqual(['error', 'message'])
    expect(read('fileCount')).toBeUndefined()
  })

  test('becomes a request when the connector has no operation but the API is known', () => {
    const { mapped } = map('github_v2', {
      operation: 'github_pr',
      owner: 'a',
      repo: 'b',
      pullNumber: '7',
      apiKey: '{{GH}}',
    })
    expect(mapped).toMatchObject({
      type: 'api',
      params: {
        method: 'GET',
        url: 'https://api.github.com/repos/{owner}/{repo}/pulls/{number}',
        pathParams: { owner: 'a', repo: 'b', number: 7 },
        credential: 'github-gh',
      },
    })
    expect(mapped.output?.(['title'])).toEqual(['data', 'title'])
  })

  test('needs something else when the operation has no counterpart', () => {
    const mapping = mapService(blockToMap('slack', { operation: 'canvas', title: 'T' }))
    expect(mapping).toEqual({ needs: 'an operation of Slack that does the same as Sim\'s "canvas"' })
  })

  test('reads lists, JSON, numbers and truth values that are written as text', () => {
    const { mapped } = map('github', {
      operation: 'github_create_release',
      owner: 'a',
      repo: 'b',
      tag_name: 'v1',
      draft: 'false',
    })
    expect(mapped.params['params']).toEqual({ owner: 'a', repo: 'b', tag_name: 'v1', draft: false })
    const { mapped: issue } = map('linear', {
      operation: 'linear_create_issue',
      teamId: 't',
      title: 'T',
      priority: '2',
      labelIds: 'x, y',
    })
    expect(issue.params['params']).toMatchObject({ priority: 2, labelIds: ['x', 'y'] })
  })

  test('limits a long list to the items that it read in Sim', () => {
    const { mapped } = map('airtable', { operation: 'list', baseId: 'b', tableId: 't', maxRecords: '25' })
    expect(mapped.params).toMatchObject({ operation: 'findRecords', pagination: { maxItems: 25 } })
  })
})

describe('the credential of a block', () => {
  test('is the same for blocks with the same variable, and another one for another variable', () => {
    const name = (apiKey: string) => map('firecrawl', { url: 'https://a.b', apiKey }).mapped.params['credential']
    expect(name('{{FIRECRAWL_KEY}}')).toBe('firecrawl-key')
    expect(name('{{OTHER_KEY}}')).toBe('firecrawl-other-key')
    expect(name('')).toBe('firecrawl')
  })

  test('tells the connected accounts of Sim apart', () => {
    const name = (credential: string) =>
      map('gmail', { to: 'a@b.c', body: 'x', credential }).mapped.params['credential']
    expect(name('5f0c1f9e-aaaa')).toBe('gmail-5f0c1f9e')
    expect(name('77777777-aaaa')).toBe('gmail-77777777')
  })

  test('does not take a secret from the file, but the report says that there was one', () => {
    const { mapped, left } = map('stripe', { operation: 'list_customers', apiKey: 'sk_live_secret' })
    expect(JSON.stringify([mapped, left])).not.toContain('sk_live_secret')
    expect(mapped.notes?.join()).toContain('The file contains a secret for Stripe.')
  })

  test('says which address it needs when the service has one for each customer', () => {
    const { mapped } = map('jira', { operation: 'read', domain: 'acme.atlassian.net', issueKey: 'A-1' })
    expect(mapped.notes?.join()).toContain('https://acme.atlassian.net')
  })
})

describe('a block of a service that starts runs', () => {
  test('becomes a webhook trigger that checks the signature, and a condition for the event', () => {
    const { mapped } = map(
      'github_v2',
      { selectedTriggerId: 'github_release_published', webhookSecret: '{{GH}}' },
      true,
    )
    expect(mapped).toMatchObject({
      type: 'webhook_trigger',
      params: { authentication: { type: 'signature', scheme: 'github', secret: '{{GH}}' } },
    })
    const [condition] = mapped.then ?? []
    expect(condition?.type).toBe('condition')
    expect(condition?.params).toEqual({
      conditions: [
        {
          id: 'event',
          expression: '<Block.headers["x-github-event"]> === "release" && <Block.body.action> === "published"',
        },
      ],
    })
    expect(mapped.output?.(['release', 'tag_name'])).toEqual(['body', 'release', 'tag_name'])
    expect(mapped.output?.(['event_type'])).toEqual(['headers', 'x-github-event'])
  })

  test('does not take over a secret, and names the variable for it', () => {
    const { mapped, left } = map('stripe', { webhookSecret: 'whsec_literal' }, true)
    expect(JSON.stringify([mapped.params, left])).not.toContain('whsec_literal')
    expect(mapped.params['authentication']).toMatchObject({ secret: '{{STRIPE_WEBHOOK_SECRET}}' })
    expect(mapped.notes?.join()).toContain('STRIPE_WEBHOOK_SECRET')
  })

  test('becomes a placeholder when the service must be asked for what is new', () => {
    expect(mapService(blockToMap('gmail_v2', {}, true))).toEqual({ needs: expect.stringContaining('a schedule') })
  })
})

describe('a tool of an agent', () => {
  test('becomes an operation of which the model fills in what the author has left empty', () => {
    const tool = readSimTool({
      type: 'firecrawl',
      title: 'Firecrawl',
      operation: 'scrape',
      params: { apiKey: '{{FIRECRAWL_KEY}}', formats: '["markdown"]', url: '' },
      usageControl: 'auto',
    })!
    expect(mapServiceTool(tool, agent) as MappedTool).toMatchObject({
      tool: {
        type: 'operation',
        connector: 'firecrawl',
        operation: 'scrape',
        credential: 'firecrawl-key',
        params: { formats: ['markdown'] },
      },
      credentials: [{ name: 'firecrawl-key', kind: 'bearer' }],
    })
  })

  test('becomes a request that asks the model for the empty parts', () => {
    const tool = readSimTool({ type: 'reddit', operation: 'search', params: { subreddit: 'bun', limit: '5' } })!
    const { tool: mapped } = mapServiceTool(tool, agent) as MappedTool
    expect(mapped).toMatchObject({
      type: 'api',
      parameters: { properties: { q: { type: 'string' } }, required: ['q'] },
      params: {
        method: 'GET',
        pathParams: { subreddit: 'bun' },
        params: [
          { key: 'restrict_sr', value: '1' },
          { key: 'limit', value: 5 },
          { key: 'q', value: '<args.q>' },
        ],
      },
    })
  })

  test('uses the account and the input mode that the agent has for it', () => {
    const params = { channel: 'C-OLD', manualChannel: 'C-NEW' }
    const tool = readSimTool({ type: 'slack', operation: 'send', credentialId: 'cred_12345678abc', params })!
    const inMode = { ...agent, data: { canonicalModes: { 'slack:channel': 'advanced' } } }
    const { tool: mapped, kept } = mapServiceTool(tool, inMode) as MappedTool
    expect(mapped).toMatchObject({ credential: 'slack-12345678', params: { channel: 'C-NEW' } })
    expect(kept).toMatchObject({ channel: 'C-OLD' })
  })

  test('keeps what our tool cannot contain', () => {
    const tool = readSimTool({ type: 'slack', operation: 'send', params: { channel: 'C1', files: 'f' } })!
    expect((mapServiceTool(tool, agent) as MappedTool).kept).toEqual({ files: 'f' })
  })

  test('says what it needs when the service has no connector', () => {
    const tool = readSimTool({ type: 'linkedin', title: 'LinkedIn', params: {} })!
    expect(mapServiceTool(tool, agent)).toEqual({ needs: expect.stringContaining('a connector for LinkedIn') })
  })
})

const agent = { id: 'agent', type: 'agent', name: 'Agent', data: {} } as unknown as SimBlock

function blockToMap(type: string, values: Record<string, unknown>, triggerMode = false, data = {}): BlockToMap {
  const subBlocks = Object.fromEntries(
    Object.entries(values).map(([id, value]) => [id, { id, type: 'short-input', value }]),
  )
  const reading = readSimDocument({
    state: { blocks: { b: { type, name: 'Block', triggerMode, subBlocks, data } }, edges: [] },
  })
  if ('details' in reading) throw new Error('The document is not valid.')
  const block = reading.document.blocks.get('b')!
  return { block, values: new SimValues(block.values), document: reading.document }
}

function map(
  type: string,
  values: Record<string, unknown>,
  triggerMode = false,
): { mapped: MappedBlock; left: unknown[] } {
  const input = blockToMap(type, values, triggerMode)
  const mapping = mapService(input)
  if (!mapping || !isMapped(mapping)) throw new Error(`It was not mapped: ${JSON.stringify(mapping)}`)
  return { mapped: mapping, left: input.values.rest() }
}
