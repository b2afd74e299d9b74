import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { runAlike } from '../../../../src/domain/workflow/redeployment.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { documentDiff, isSameDiff } from '../../../../src/ui/editor/document/document-diff.ts'
import { openDocument } from '../../../../src/ui/editor/document/edit.ts'
import { hidden, maskedBlock } from '../../../../src/ui/editor/document/masked-secrets.ts'
import { block, type Draft, document } from '../../../support/make.ts'

const diff = (before: Draft, after: Draft) =>
  documentDiff(openDocument(document(before) as never), openDocument(document(after) as never))
const lines = ({ blocks, edges, variables }: ReturnType<typeof diff>) => [
  ...blocks.flatMap(({ kind, name, values }) =>
    values.map(({ path, before, after }) => `${kind} ${name}: ${path.join('.')} ${text(before)} → ${text(after)}`),
  ),
  ...edges.map(({ kind, source, port, target }) => `${kind} ${source}${port ? `:${port}` : ''} > ${target}`),
  ...variables.map(({ path, before, after }) => `variable ${path.join('.')} ${text(before)} → ${text(after)}`),
]
const text = (value: unknown) => JSON.stringify(value) ?? '-'
const start = block('start', 'api_trigger', { inputFormat: [{ name: 'id', type: 'string', value: 'o-1' }] })

describe('the differences between two documents', () => {
  test('name each parameter with its old and its new value', () => {
    const call = {
      url: 'https://a.example',
      retries: 2,
      headers: [
        { key: 'Accept', value: 'a' },
        { key: 'X', value: 'x' },
      ],
    }
    const now = {
      ...call,
      retries: 3,
      headers: [
        { key: 'Accept', value: 'b' },
        { key: 'X', value: 'x' },
      ],
      method: 'POST',
    }
    expect(lines(diff({ blocks: [block('call', 'api', call)] }, { blocks: [block('call', 'api', now)] }))).toEqual([
      'changed call: params.retries 2 → 3',
      'changed call: params.headers.Accept.value "a" → "b"',
      'changed call: params.method - → "POST"',
    ])
  })

  test('name renamed, disabled, moved, added and removed blocks, and their connections', () => {
    const loop = block('loop', 'loop')
    const before = {
      blocks: [start, loop, block('a', 'wait', { ms: 1 }), block('b', 'wait')],
      edges: ['start > a', 'a > b'],
    }
    const after = {
      blocks: [
        start,
        loop,
        { ...block('a', 'wait', { ms: 1 }), name: 'A', enabled: false, parentId: 'loop' },
        block('c', 'wait', { ms: 5 }),
      ],
      edges: ['start > loop', 'loop:loop-start-source > a', 'a:error > c'],
    }
    expect(lines(diff(before, after))).toEqual([
      'changed A: name "a" → "A"',
      'changed A: enabled true → false',
      'changed A: container - → "loop"',
      ...['params.ms - → 5', 'name - → "c"', 'type - → "wait"', 'enabled - → true'].map((line) => `added c: ${line}`),
      ...['name "b" → -', 'type "wait" → -', 'enabled true → -'].map((line) => `removed b: ${line}`),
      ...['removed start > a', 'removed a > b', 'added start > loop', 'added loop:Start > A', 'added A:error > c'],
    ])
  })

  test('include settings of containers, variables and the input format, but no sample values', () => {
    const before = {
      blocks: [start, block('loop', 'loop')],
      loops: { loop: { loopType: 'for' as const, iterations: 3 } },
      variables: { rate: { type: 'number' as const, value: 1 } },
    }
    const changed = {
      inputFormat: [
        { name: 'id', type: 'number', value: 7 },
        { name: 'more', type: 'string' },
      ],
    }
    const after = {
      blocks: [{ ...start, params: changed }, block('loop', 'loop')],
      loops: { loop: { loopType: 'for' as const, iterations: 4 } },
      variables: { rate: { type: 'number' as const, value: 2 } },
    }
    expect(lines(diff(before, after))).toEqual([
      'changed start: params.inputFormat.id.type "string" → "number"',
      'changed start: params.inputFormat.more - → {"name":"more","type":"string"}',
      'changed loop: loop.iterations 3 → 4',
      'variable rate.value 1 → 2',
    ])
    const moved = { ...before, blocks: [{ ...start, position: { x: 9, y: 9 } }, block('loop', 'loop')], notes: {} }
    expect(isSameDiff(diff(before, moved))).toBe(true)
  })

  test('hide secrets, yet tell that one changed', () => {
    const types = new Map([
      [
        'api',
        {
          parameters: { properties: { token: { secret: true as const }, headers: { secret: 'headers' as const } } },
          tools: {},
        },
      ],
    ])
    const call = (token: string, key: string) =>
      block('call', 'api', {
        token,
        headers: [
          { key: 'Authorization', value: key },
          { key: 'Accept', value: 'a' },
        ],
      })
    const masked = (token: string, key: string) => ({
      blocks: { call: maskedBlock(call(token, key) as never, types) },
      edges: [],
    })
    const { blocks } = documentDiff(masked('old-token', 'Bearer one'), masked('new-token', 'Bearer one'))
    expect(blocks[0]?.values.map(({ path }) => path.join('.'))).toEqual(['params.token'])
    expect(JSON.stringify(blocks)).not.toContain('token"}')
    expect(JSON.stringify(blocks[0]?.values[0])).toBe(
      JSON.stringify({ path: ['params', 'token'], before: hidden, after: hidden }),
    )
    expect(isSameDiff(documentDiff(masked('same', 'Bearer one'), masked('same', 'Bearer one')))).toBe(true)
    const header = documentDiff(masked('{{TOKEN}}', 'Bearer one'), masked('{{TOKEN}}', 'Bearer {{KEY}}'))
    expect(JSON.stringify(header.blocks[0]?.values)).toBe(
      JSON.stringify([
        { path: ['params', 'headers', 'Authorization', 'value'], before: hidden, after: 'Bearer {{KEY}}' },
      ]),
    )
  })

  test('are none exactly when the service says that both run alike', () => {
    const id = fc.constantFrom('a', 'b', 'c', '__proto__')
    const value = fc.oneof(
      fc.jsonValue({ maxDepth: 3 }),
      fc.array(
        fc.record({ name: fc.constantFrom('x', 'y', 'z', '1', '2'), type: fc.constantFrom('string', 'number') }),
      ),
    )
    const blocks = fc.uniqueArray(
      fc.record({
        ...{ id, type: fc.constantFrom('wait', 'loop', 'parallel'), name: fc.constantFrom('A', 'B') },
        ...{ enabled: fc.option(fc.boolean(), { nil: undefined }), parentId: fc.option(id, { nil: undefined }) },
        params: fc.option(fc.dictionary(fc.constantFrom('inputFormat', 'list', 'p'), value), { nil: undefined }),
      }),
      { selector: (one) => one.id, maxLength: 3 },
    )
    const edges = fc.array(
      fc.record({ source: id, target: id, sourceHandle: fc.constantFrom(undefined, 'source', 'error') }),
      { maxLength: 4 },
    )
    const some = fc.record({ blocks, edges, iterations: fc.nat(2), rate: fc.option(value) }).map((made) => {
      const list = made.blocks.map((one) => [one.id, one] as const)
      const loops = made.blocks
        .filter(({ type }) => type === 'loop')
        .map(({ id: of }) => [of, { id: of, loopType: 'for', iterations: made.iterations }] as const)
      return openDocument({
        ...{ name: 'W', blocks: Object.fromEntries(list), edges: made.edges, loops: Object.fromEntries(loops) },
        variables: { rate: { value: made.rate } },
      } as never)
    })
    const pair = fc.oneof(
      fc.tuple(some, some),
      some.map((one) => [one, structuredClone(one)] as const),
    )
    fc.assert(
      fc.property(pair, ([before, after]) => {
        const alike = runAlike(before as unknown as WorkflowDocument, after as unknown as WorkflowDocument)
        expect(isSameDiff(documentDiff(before, after))).toBe(alike)
      }),
      { numRuns: 500 },
    )
  })

  test('include limits', () => {
    const { limits } = diff({ blocks: [start], limits: { timeoutMs: 5 } }, { blocks: [start] })
    expect(limits).toEqual([{ path: ['timeoutMs'], before: 5, after: undefined }])
  })

  test('take time linear to the documents', () => {
    const many = (size: number, ms: number) => {
      const blocks = Array.from({ length: size }, (_, at) => block(`b${at}`, 'wait', { ms, list: ['a', 'b'] }))
      return document({ blocks, edges: blocks.slice(1).map(({ id }, at) => `b${at} > ${id}`) }) as never
    }
    const started = performance.now()
    expect(documentDiff(many(5_000, 1), many(5_000, 2)).blocks.length).toBe(5_000)
    expect(performance.now() - started).toBeLessThan(4_000)
  }, 20_000)
})
