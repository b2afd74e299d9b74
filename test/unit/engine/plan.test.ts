import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { block, type Draft, document } from '../../support/make.ts'

const start = block('start', 'api_trigger')
const codesOf = (draft: Draft, level = 'error') =>
  compilePlan(document(draft), registry, defaultLimits)
    .findings.filter((finding) => finding.level === level)
    .map(({ code }) => code)

describe('the check at deployment', () => {
  test('has no findings for a valid workflow', () => {
    const draft = { blocks: [start, block('f', 'function', { code: 'return <api.input>' })], edges: ['start > f'] }
    expect(compilePlan(document(draft), registry, defaultLimits).findings).toEqual([])
  })

  test('reports every invalid entry of a list with its index, and checks the valid entries', () => {
    const string = { type: 'string' }
    const inputFormat = [{ name: 5, ...string }, { name: 'stream', ...string }, string, 7, { name: 'a', type: 'date' }]
    const { findings } = compilePlan(
      document({
        blocks: [block('start', 'api_trigger', { inputFormat: [...inputFormat, { name: 'b', ...string }] })],
      }),
      registry,
      defaultLimits,
    )
    const places = findings.map(({ code, path }) => `${code} ${path.replace('blocks.start.params.inputFormat', '')}`)
    expect(places.toSorted()).toEqual([
      ...['INVALID_PARAMETER .0.name', 'INVALID_PARAMETER .2.name', 'INVALID_PARAMETER .3'],
      ...['INVALID_PARAMETER .4.type', 'RESERVED_FIELD .1.name'],
    ])
    expect(findings[0]?.message).toBe('Input format › 1 › Name must be text, not 5.')
  })

  const wrong: [code: string, draft: Draft][] = [
    ['NO_TRIGGER', { blocks: [block('f', 'function', { code: '1' })] }],
    ['DUPLICATE_TRIGGER', { blocks: [start, block('again', 'api_trigger')] }],
    ['UNKNOWN_BLOCK_TYPE', { blocks: [start, block('x', 'teleport')], edges: ['start > x'] }],
    [
      'DUPLICATE_BLOCK_NAME',
      {
        blocks: [
          start,
          block('a', 'wait', { ms: 1 }, { name: 'My Wait' }),
          block('b', 'wait', { ms: 1 }, { name: 'mywait' }),
        ],
      },
    ],
    ['INVALID_BLOCK_NAME', { blocks: [start, block('a', 'wait', { ms: 1 }, { name: 'a.b' })] }],
    ['UNKNOWN_BLOCK', { blocks: [start], edges: ['start > nowhere'] }],
    [
      'CYCLE',
      {
        blocks: [start, block('a', 'wait', { ms: 1 }), block('b', 'wait', { ms: 1 })],
        edges: ['start > a', 'a > b', 'b > a'],
      },
    ],
    ['EDGE_TO_TRIGGER', { blocks: [start, block('a', 'wait', { ms: 1 })], edges: ['start > a', 'a > start'] }],
    ['UNKNOWN_HANDLE', { blocks: [start, block('a', 'wait', { ms: 1 })], edges: ['start:condition-x > a'] }],
    ['UNKNOWN_HANDLE', { blocks: [start, block('a', 'wait', { ms: 1 })], edges: ['start:error > a'] }],
    ['MISSING_PARAMETER', { blocks: [start, block('a', 'api')], edges: ['start > a'] }],
    [
      'INVALID_PARAMETER',
      { blocks: [start, block('a', 'api', { url: 'http://x', method: 'FETCH' })], edges: ['start > a'] },
    ],
    ['INVALID_PARAMETER', { blocks: [start, block('a', 'wait', { ms: -1 })], edges: ['start > a'] }],
    ['INVALID_PARAMETER', { blocks: [start, block('a', 'condition', { conditions: [] })], edges: ['start > a'] }],
    ['SYNTAX_ERROR', { blocks: [start, block('a', 'function', { code: 'return (' })], edges: ['start > a'] }],
    [
      'SYNTAX_ERROR',
      {
        blocks: [start, block('a', 'condition', { conditions: [{ id: 'x', expression: '1 +' }] })],
        edges: ['start > a'],
      },
    ],
    [
      'DUPLICATE_ID',
      {
        blocks: [
          start,
          block('a', 'condition', {
            conditions: [
              { id: 'x', expression: '1' },
              { id: 'x', expression: '2' },
            ],
          }),
        ],
      },
    ],
    [
      'RESERVED_FIELD',
      { blocks: [block('start', 'api_trigger', { inputFormat: [{ name: 'stream', type: 'boolean' }] })] },
    ],
    [
      'DUPLICATE_FIELD',
      {
        blocks: [
          block('start', 'api_trigger', {
            inputFormat: [
              { name: 'a', type: 'string' },
              { name: 'a', type: 'number' },
            ],
          }),
        ],
      },
    ],
    ['INVALID_PARAMETER', { blocks: [block('start', 'api_trigger', { inputFormat: [{ name: 'a', type: 'date' }] })] }],
    [
      'UNKNOWN_VARIABLE',
      {
        blocks: [start, block('a', 'variables', { assign: [{ name: 'v', value: '<api.input>' }] })],
        edges: ['start > a'],
      },
    ],
    ['INVALID_VARIABLE', { blocks: [start], variables: { v: { type: 'number', value: 'many' } } }],
    [
      'INVALID_CONTAINER',
      {
        blocks: [start, block('l', 'loop'), block('a', 'wait', { ms: 1 }, { parentId: 'l' })],
        edges: ['start > l', 'l:loop-start-source > a'],
      },
    ],
    [
      'EMPTY_CONTAINER',
      { blocks: [start, block('l', 'loop')], edges: ['start > l'], loops: { l: { loopType: 'for', iterations: 1 } } },
    ],
    [
      'CONTAINER_WITHOUT_START',
      {
        blocks: [start, block('l', 'loop'), block('a', 'wait', { ms: 1 }, { parentId: 'l' })],
        edges: ['start > l'],
        loops: { l: { loopType: 'for', iterations: 1 } },
      },
    ],
    [
      'EDGE_CROSSES_CONTAINER',
      {
        blocks: [start, block('l', 'loop'), block('a', 'wait', { ms: 1 }, { parentId: 'l' })],
        edges: ['start > l', 'start > a'],
        loops: { l: { loopType: 'for', iterations: 1 } },
      },
    ],
    ['UNKNOWN_CONTAINER', { blocks: [start, block('a', 'wait', { ms: 1 }, { parentId: 'start' })] }],
    [
      'CONTAINER_CYCLE',
      {
        blocks: [start, block('l', 'loop', {}, { parentId: 'm' }), block('m', 'loop', {}, { parentId: 'l' })],
        loops: { l: { loopType: 'for' }, m: { loopType: 'for' } },
      },
    ],
    [
      'TRIGGER_IN_CONTAINER',
      {
        blocks: [block('s', 'api_trigger', {}, { parentId: 'l' }), block('l', 'loop')],
        loops: { l: { loopType: 'for', iterations: 1 } },
      },
    ],
    ['INVALID_CONTAINER', loopOf({ loopType: 'for', iterations: 1001 })],
    ['INVALID_CONTAINER', loopOf({ loopType: 'for', iterations: 'many' })],
    ['INVALID_CONTAINER', loopOf({ loopType: 'forEach', forEachItems: 5 })],
    ['INVALID_CONTAINER', loopOf({ loopType: 'while' })],
    ['SYNTAX_ERROR', loopOf({ loopType: 'while', condition: '<loop.index> <' })],
  ]
  for (const [code, draft] of wrong) {
    test(`finds ${code} in ${JSON.stringify(draft).slice(0, 90)}`, () => {
      expect(codesOf(draft)).toContain(code)
    })
  }

  test('limits the nesting of containers', () => {
    const ids = Array.from({ length: 11 }, (_, index) => `l${index}`)
    const loops = ids.map((id, index) => block(id, 'loop', {}, index > 0 ? { parentId: `l${index - 1}` } : {}))
    const leaf = block('leaf', 'wait', { ms: 1 }, { parentId: 'l10' })
    const draft = {
      blocks: [start, ...loops, leaf],
      edges: [
        'start > l0',
        ...ids.slice(1).map((id, index) => `l${index}:loop-start-source > ${id}`),
        'l10:loop-start-source > leaf',
      ],
      loops: Object.fromEntries(ids.map((id) => [id, { loopType: 'for' as const, iterations: 1 }])),
    }
    expect(codesOf(draft)).toEqual(['NESTED_TOO_DEEP'])
  })

  test('reports suspicious parts as warnings', () => {
    const warnings = codesOf(
      {
        blocks: [
          start,
          block('a', 'variables', {
            assign: [{ name: 'v', value: '<nobody.x> <variable.w> <loop.index> <chat.input>' }],
            colour: 'red',
          }),
          block('lost', 'wait', { ms: 1 }),
          block('bad', 'response', { data: 'no JSON' }),
        ],
        edges: ['start > a', 'start > bad'],
        variables: { v: {} },
      },
      'warning',
    )
    expect(warnings.sort()).toEqual([
      ...[
        'INVALID_JSON',
        'NOT_IN_CONTAINER',
        'UNKNOWN_PARAMETER',
        'UNKNOWN_REFERENCE',
        'UNKNOWN_REFERENCE',
        'UNKNOWN_VARIABLE',
      ],
      'UNREACHABLE',
    ])
  })

  describe('warns of a response block whose response nobody receives', () => {
    const blocks = [block('done', 'function', { code: 'return 1' }), block('answer', 'response', { data: 1 })]
    const warningsWith = (triggers: Draft['blocks']) => {
      const edges = [...triggers.map(({ id }) => `${id} > done`), 'done > answer']
      return compilePlan(document({ blocks: [...triggers, ...blocks], edges }), registry, defaultLimits).findings
    }
    const hook = (params: Record<string, unknown>) => block('hook', 'webhook_trigger', { path: 'orders', ...params })

    test('if only a webhook trigger that responds immediately leads to it', () => {
      const findings = warningsWith([hook({}), block('off', 'api_trigger', {}, { enabled: false })])
      expect(findings.map(({ level, code, blockId }) => [level, code, blockId])).toEqual([
        ['warning', 'UNSENT_RESPONSE', 'answer'],
      ])
      expect(findings[0]?.message).toContain('because "hook" responds before the run')
      expect(warningsWith([hook({ respond: 'immediately' })])).toHaveLength(1)
    })

    test('but not if the trigger waits for it, or another trigger leads to it', () => {
      expect(warningsWith([hook({ respond: 'workflow' })])).toEqual([])
      expect(warningsWith([hook({}), start])).toEqual([])
    })
  })

  test('reports all errors at once, each with its block', () => {
    const { findings, plan } = compilePlan(
      document({
        blocks: [start, block('a', 'teleport'), block('b', 'api'), block('c', 'function', { code: '(' })],
        edges: ['start > b', 'b > c'],
      }),
      registry,
      defaultLimits,
    )
    expect(plan).toBeUndefined()
    expect(
      findings
        .filter(({ level }) => level === 'error')
        .map(({ code, blockId, blockName }) => [code, blockId, blockName]),
    ).toEqual([
      ['UNKNOWN_BLOCK_TYPE', 'a', 'a'],
      ['MISSING_PARAMETER', 'b', 'b'],
      ['SYNTAX_ERROR', 'c', 'c'],
    ])
  })
})

function loopOf(loop: Record<string, unknown>): Draft {
  return {
    blocks: [start, block('l', 'loop'), block('a', 'wait', { ms: 1 }, { parentId: 'l' })],
    edges: ['start > l', 'l:loop-start-source > a'],
    loops: { l: loop as never },
  }
}

test('reports every error in a list of fields, with its place', () => {
  const types = ['date', 'time', 'string', 'colour', 'shape', 'size']
  const inputFormat = types.map((type, index) => ({ name: `f${index}`, type }))
  const draft = document({ blocks: [block('start', 'api_trigger', { inputFormat })] })
  const { findings } = compilePlan(draft, registry, defaultLimits)
  const places = findings.map(({ path }) => /\.(\d)\.type$/.exec(path)?.[1])
  expect(places.filter((place) => place !== undefined)).toEqual(['0', '1', '3', '4', '5'])
})
