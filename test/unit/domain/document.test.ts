import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { AppError } from '../../../src/domain/errors.ts'
import { readDocument } from '../../../src/domain/workflow/document.ts'
import { assertDocumentSize } from '../../../src/domain/workflow/document-size.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'

const minimal = { name: 'Orders', blocks: { t: { type: 'api_trigger', name: 'Start' } }, edges: [] }

function accepted(value: unknown): WorkflowDocument {
  const reading = readDocument(value)
  if ('details' in reading) throw new Error(`refused: ${JSON.stringify(reading.details)}`)
  return reading.document
}

function refused(value: unknown): Record<string, string> {
  const reading = readDocument(value)
  if (!('details' in reading)) throw new Error('The document was accepted')
  return Object.fromEntries(reading.details.map(({ path, message }) => [path, message]))
}

describe('the size of a document', () => {
  const limits = { documentBlocksMax: 10, documentEdgesMax: 20 }
  const sizeOf = (value: unknown) => {
    try {
      assertDocumentSize(value, limits)
      return 'accepted'
    } catch (error) {
      return [(error as AppError).code, (error as AppError).message]
    }
  }
  const members = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, at) => [`m${at}`, {}]))

  test.each(['blocks', 'loops', 'parallels', 'variables', 'notes'])('is limited in its %s', (part) => {
    expect(sizeOf({ [part]: members(10) })).toBe('accepted')
    expect(sizeOf({ [part]: members(11) })).toEqual([
      'PAYLOAD_TOO_LARGE',
      `The workflow document has 11 ${part}; at most 10 are allowed (MILLRACE_DOCUMENT_BLOCKS_MAX).`,
    ])
  })

  test('is limited in its edges, and in the blocks that containers list', () => {
    expect(sizeOf({ edges: new Array(20).fill({}) })).toBe('accepted')
    expect(sizeOf({ edges: new Array(21).fill({}) })).toEqual([
      'PAYLOAD_TOO_LARGE',
      'The workflow document has 21 edges; at most 20 are allowed (MILLRACE_DOCUMENT_EDGES_MAX).',
    ])
    const nodes = ['a', 'b', 'c', 'd', 'e', 'f']
    expect(sizeOf({ loops: { l: { nodes } }, parallels: { p: { nodes: [] } } })).toBe('accepted')
    expect(sizeOf({ loops: { l: { nodes } }, parallels: { p: { nodes } } })[1]).toContain('12 blocks in loops')
  })

  test('is not limited when it has another shape, which is refused later', () => {
    for (const value of [null, 7, [], { blocks: 1, edges: {}, loops: [{ nodes: 5 }, null] }])
      expect(sizeOf(value)).toBe('accepted')
  })
})

describe('reading a workflow document', () => {
  test('gives 300,000 equal edges IDs of their own, and does not count again for each', () => {
    const edge = { source: 't', target: 'a' }
    const taken = [
      { ...edge, id: 't:source-a-3' },
      { ...edge, id: 't:source-a' },
    ]
    const { edges } = accepted({ ...minimal, edges: [...new Array(300_000).fill(edge), ...taken] })
    expect(edges.slice(0, 3).map(({ id }) => id)).toEqual(['t:source-a-2', 't:source-a-4', 't:source-a-5'])
    expect(edges[299_999]?.id).toBe('t:source-a-300002')
    expect(new Set(edges.map(({ id }) => id)).size).toBe(300_002)
  })

  test('compares the IDs of 10,000 webhooks, and accepts folders of at most 20 levels', () => {
    const webhooks = Array.from({ length: 10_000 }, (_, at) => ({ id: `w${at % 9_999}`, url: 'https://example.com' }))
    expect(refused({ ...minimal, webhooks })['webhooks[9999].id']).toContain('is "w0", like webhooks[0].')
    expect(accepted({ ...minimal, folder: 'a/'.repeat(20) }).folder).toHaveLength(39)
    expect(refused({ ...minimal, folder: 'a/'.repeat(21) })).toEqual({ folder: 'folder must have at most 20 levels.' })
  })

  test('fills in optional members', () => {
    const document = accepted({
      ...minimal,
      folder: '/sales// eu /',
      edges: [
        { source: 't', target: 'a' },
        { source: 't', target: 'a' },
        { source: 't', target: 'b', sourceHandle: 'error' },
      ],
      loops: { l: { loopType: 'for' } },
      description: null,
    })
    expect(document.blocks['t']).toEqual({
      id: 't',
      type: 'api_trigger',
      name: 'Start',
      position: { x: 0, y: 0 },
      enabled: true,
    })
    expect(document.edges.map(({ id }) => id)).toEqual(['t:source-a', 't:source-a-2', 't:error-b'])
    expect(document.loops?.['l']).toEqual({ id: 'l', loopType: 'for' })
    expect(document.folder).toBe('sales/eu')
    expect('description' in document).toBe(false)
  })

  test('does not change a document that was read before', () => {
    const once = accepted({ ...minimal, edges: [{ source: 't', target: 't' }], folder: 'a' })
    expect(accepted(JSON.parse(JSON.stringify(once)))).toEqual(once)
  })

  test('keeps all content of a block, even a member named __proto__', () => {
    const params = JSON.parse('{"__proto__":{"x":1},"constructor":null,"deep":[{"any":"thing"}],"nothing":null}')
    const document = accepted({ ...minimal, blocks: { t: { ...minimal.blocks.t, params, height: 95 } } })
    expect(JSON.stringify(document.blocks['t']?.params)).toBe(JSON.stringify(params))
    expect(document.blocks['t']).toHaveProperty('height', 95)
  })

  test('drops the members that the service adds to its responses, and warns about unknown members', () => {
    const reading = readDocument({ ...minimal, workspaceId: 'w', createdAt: 'x', findings: [], edgse: [] })
    if ('details' in reading) throw new Error('The document was rejected')
    expect(Object.keys(reading.document).sort()).toEqual(['blocks', 'edges', 'edgse', 'name'])
    expect(reading.warnings.map(({ level, code, path }) => ({ level, code, path }))).toEqual([
      { level: 'warning', code: 'UNKNOWN_MEMBER', path: 'edgse' },
    ])
  })

  test('reports all errors at once, each with its path and a readable message', () => {
    expect(
      refused({
        id: 'a b',
        name: '',
        description: 5,
        blocks: {
          a: 3,
          b: { id: 'c', name: 'Fetch', parentId: 4, position: { x: 'left' }, params: [] },
          7: { type: 't', name: ' ' },
        },
        edges: [{ source: 't' }, 3],
        loops: { x: { loopType: 'fo', nodes: [3] } },
        variables: { v: null },
        webhooks: 'none',
      }),
    ).toEqual({
      id: 'id must be letters, digits, "-" and "_" only, not the text "a b".',
      name: 'name must not be empty.',
      description: 'description must be text, not 5.',
      'blocks.a': 'blocks.a must be an object, not 3.',
      'blocks.b.type': 'In block "Fetch" (b): blocks.b.type is missing; it must be text.',
      'blocks.b.parentId': 'In block "Fetch" (b): blocks.b.parentId must be text or null, not 4.',
      'blocks.b.position.x': 'In block "Fetch" (b): blocks.b.position.x must be a number, not the text "left".',
      'blocks.b.position.y': 'In block "Fetch" (b): blocks.b.position.y is missing; it must be a number.',
      'blocks.b.params': 'In block "Fetch" (b): blocks.b.params must be an object, not a list.',
      'blocks.b.id': 'blocks.b.id is "c". It must equal the name of its member, "b", or be absent.',
      'blocks.7.name': 'blocks.7.name must not consist of spaces only.',
      'edges[0].target': 'edges[0].target is missing; it must be text.',
      'edges[1]': 'edges[1] must be an object, not 3.',
      'loops.x.nodes[0]': 'loops.x.nodes[0] must be text, not 3.',
      'loops.x.loopType': 'loops.x.loopType must be one of "for", "forEach", "while", "doWhile", not the text "fo".',
      'variables.v': 'variables.v must be an object, not null.',
      webhooks: 'webhooks must be a list, not the text "none".',
    })
  })

  test('reports all errors in webhook subscriptions, including unknown members', () => {
    const hook = { url: 'https://example.org' }
    expect(
      refused({
        ...minimal,
        webhooks: [
          { ...hook, id: 'same' },
          { ...hook, id: 'same' },
          { secret: '', levelFilter: [], triggerFilter: ['api', 'api'], active: 'yes', levelFilters: ['error'] },
          { url: '', levelFilter: ['warning'], triggerFilter: 'api', id: 'a b' },
        ],
      }),
    ).toEqual({
      'webhooks[1].id': 'webhooks[1].id is "same", like webhooks[0]. Remove it to get a new ID.',
      'webhooks[2].url': 'webhooks[2].url is missing; it must be text.',
      'webhooks[2].secret':
        'webhooks[2].secret must be a text of 1 to 1000 characters, or null for none, not the text "".',
      'webhooks[2].levelFilter':
        'webhooks[2].levelFilter must be a list of different ones of "info" and "error", not empty (left out, it is all of them).',
      'webhooks[2].triggerFilter':
        'webhooks[2].triggerFilter must be a list of different ones of "api", "webhook", "schedule", "manual" and "chat", ' +
        'not empty (left out, it is all of them).',
      'webhooks[2].active': 'webhooks[2].active must be true or false, not the text "yes".',
      'webhooks[2].levelFilters': 'webhooks[2].levelFilters is not known here.',
      'webhooks[3].url': 'webhooks[3].url must not be empty.',
      'webhooks[3].levelFilter[0]':
        'webhooks[3].levelFilter[0] must be one of "info", "error", not the text "warning".',
      'webhooks[3].triggerFilter':
        'webhooks[3].triggerFilter must be a list of different ones of "api", "webhook", "schedule", "manual" and "chat", ' +
        'not empty (left out, it is all of them), not the text "api".',
      'webhooks[3].id': 'webhooks[3].id must be letters, digits, "-" and "_" only, not the text "a b".',
    })
    expect(refused({ ...minimal, webhooks: Array.from({ length: 21 }, () => hook) })).toEqual({
      webhooks: 'webhooks must have at most 20 entries, not 21.',
    })
  })

  test('treats null in an optional member of a webhook subscription as absent, but keeps a null secret', () => {
    const webhook = { url: 'https://example.org', levelFilter: null, active: null, id: null, secret: null }
    const reading = readDocument({ ...minimal, webhooks: [webhook] })
    expect(reading).toMatchObject({ document: { webhooks: [{ url: 'https://example.org', secret: null }] } })
  })

  test('rejects reserved names, and names that are blank or contain control characters', () => {
    expect(refused({ ...minimal, name: 'a\u0000b' })).toHaveProperty('name')
    expect(refused({ ...minimal, name: 'a\ud800' })).toHaveProperty('name')
    expect(refused({ ...minimal, name: '\t ' })).toHaveProperty('name')
    expect(refused(JSON.parse('{"name":"n","blocks":{"__proto__":{"type":"t","name":"n"}},"edges":[]}'))).toEqual({
      'blocks.__proto__': 'blocks.__proto__: this name is reserved. Choose another name.',
    })
  })

  test('reports at most 100 errors, even if there are 100,000', () => {
    expect(Object.keys(refused({ ...minimal, edges: Array.from({ length: 100_000 }, () => 1) })).length).toBe(100)
  })

  test('accepts or rejects any JSON value without throwing, and accepts only documents of the right shape', () => {
    const anything = fc.jsonValue()
    const almost = fc.record(
      { name: anything, blocks: fc.dictionary(fc.string(), anything), edges: fc.array(anything), loops: anything },
      { requiredKeys: [] },
    )
    fc.assert(
      fc.property(fc.oneof(anything, almost), (value) => {
        const reading = readDocument(value)
        if ('details' in reading) {
          expect(reading.details.length).toBeGreaterThan(0)
          for (const { message } of reading.details) expect(message).toMatch(/\.$/)
          return
        }
        expect(typeof reading.document.name).toBe('string')
        for (const [id, block] of Object.entries(reading.document.blocks)) expect(block.id).toBe(id)
      }),
      { numRuns: 1000 },
    )
  })
})
