import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { AppError } from '../../../../src/domain/errors.ts'
import { finish } from '../../../../src/domain/slices.ts'
import { findValidationErrors } from '../../../../src/domain/workflow/shape.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { Edit, applyEdits as slicesOf } from '../../../../src/http/routes/mcp/tools/document-edits.ts'

const applyEdits = (document: WorkflowDocument, edits: readonly Edit[]) => finish(slicesOf(document, edits))

const draft: WorkflowDocument = {
  name: 'Draft',
  blocks: {
    start: { id: 'start', type: 'api_trigger', name: 'Start', position: { x: 0, y: 0 } },
    each: { id: 'each', type: 'loop', name: 'Each', position: { x: 320, y: 0 } },
    inner: { id: 'inner', type: 'function', name: 'In ner', parentId: 'each', params: { code: 'return <start.a>' } },
    end: { id: 'end', type: 'response', name: 'End', params: { data: ['<inner.result>'] }, position: { x: 640, y: 0 } },
  },
  edges: [
    { source: 'start', target: 'each' },
    { source: 'each', target: 'end' },
  ],
  loops: { each: { id: 'each', loopType: 'for', iterations: 2 } },
}

function refusal(...edits: Edit[]): string {
  try {
    applyEdits(draft, edits)
  } catch (error) {
    if (error instanceof AppError) return error.message
    throw error
  }
  return 'The edits were applied.'
}

describe('edits of a document', () => {
  test('give others a turn after each one', () => {
    const rename = (name: string): Edit => ({ op: 'rename_block', id: 'inner', name })
    const slices = slicesOf(draft, [rename('A'), rename('B'), rename('C')])
    const names = (value: WorkflowDocument | undefined) => value?.blocks['inner']?.name
    const steps = Array.from({ length: 4 }, () => slices.next())
    expect(steps.map(({ done, value }) => [done, names(value)])).toEqual([
      [false, undefined],
      [false, undefined],
      [false, undefined],
      [true, 'C'],
    ])
  })

  test('place a new block to the right of the block before it, below those that are there', () => {
    const add = (id: string): Edit => ({ op: 'add_block', block: { id, type: 'api', name: id }, after: 'start' })
    const { blocks, edges } = applyEdits(draft, [add('one'), add('two')])
    expect([blocks['one']?.position, blocks['two']?.position]).toEqual([
      { x: 320, y: 180 },
      { x: 320, y: 360 },
    ])
    expect(edges.slice(2)).toEqual([
      { source: 'start', target: 'one' },
      { source: 'start', target: 'two' },
    ])
  })

  test('remove a container with its settings, its connections, and the place of its blocks', () => {
    const { blocks, edges, loops } = applyEdits(draft, [{ op: 'remove', path: ['blocks', 'each'] }])
    expect([Object.keys(blocks), edges, loops]).toEqual([['start', 'inner', 'end'], [], {}])
    expect(blocks['inner']?.parentId).toBeUndefined()
  })

  test('change references when a block gets another name', () => {
    const { blocks } = applyEdits(draft, [{ op: 'rename_block', id: 'inner', name: 'Deep Part' }])
    expect(blocks['inner']?.name).toBe('Deep Part')
    expect(blocks['end']?.params).toEqual({ data: ['<deeppart.result>'] })
  })

  test('set members that are absent in collections, and remove them', () => {
    const added = applyEdits(draft, [
      { op: 'set', path: ['variables', 'rate'], value: { type: 'number', value: 1 } },
      { op: 'set', path: ['blocks', 'start', 'params', 'inputFormat'], value: [] },
      { op: 'disconnect', source: 'each', target: 'end' },
    ])
    expect(added.variables).toEqual({ rate: { type: 'number', value: 1 } })
    expect(added.blocks['start']?.params).toEqual({ inputFormat: [] })
    expect(added.edges).toHaveLength(1)
    const { variables } = applyEdits(added, [{ op: 'remove', path: ['variables', 'rate'] }])
    expect(variables).toEqual({})
  })

  test('are refused with an error that names the problem and the correction', () => {
    expect(refusal({ op: 'set', path: ['blocks', 'end', 'params', 'data', '0'], value: 1 })).toBe(
      'blocks.end.params.data is a list. Set the whole list.',
    )
    expect(refusal({ op: 'set', path: ['edges', '0'], value: {} })).toBe(
      'Use "connect" and "disconnect" for connections.',
    )
    expect(refusal({ op: 'remove', path: ['blocks', 'nobody'] })).toBe('blocks.nobody does not exist.')
    expect(refusal({ op: 'connect', source: 'start', target: 'nobody' })).toBe(
      'There is no block with the ID "nobody". The IDs are start, each, inner, end.',
    )
    expect(refusal({ op: 'add_block', block: { id: 'end', type: 'api', name: 'End' } })).toContain('already')
    expect(refusal({ op: 'disconnect', source: 'end', target: 'start' })).toContain('There is no such connection.')
  })

  test('of any kind never change the original document or the prototype of objects, and are applied or refused', () => {
    const before = structuredClone(draft)
    const name = fc.constantFrom(
      'blocks',
      'start',
      'each',
      'params',
      'data',
      '__proto__',
      'constructor',
      'loops',
      'name',
    )
    const ends = fc.record({ source: name, target: name })
    const path = fc.array(name, { minLength: 1, maxLength: 5 })
    const edit = fc.oneof(
      fc.record({ op: fc.constant('set' as const), path, value: fc.jsonValue() }),
      fc.record({ op: fc.constant('remove' as const), path }),
      fc
        .record({ op: fc.constantFrom('connect' as const, 'disconnect' as const) })
        .chain((each) => ends.map((two) => ({ ...each, ...two }))),
      fc.record({ op: fc.constant('rename_block' as const), id: name, name }),
      fc.record({
        op: fc.constant('add_block' as const),
        block: fc.record({ id: name, type: name, name }),
        after: name,
      }),
    )
    fc.assert(
      fc.property(fc.array(edit, { maxLength: 8 }), (edits) => {
        for (const each of edits) expect(findValidationErrors(Edit, each)).toEqual([])
        try {
          applyEdits(draft, edits)
        } catch (error) {
          if (!(error instanceof AppError)) throw error
        }
        expect(draft).toEqual(before)
        expect(Object.keys(Object.prototype)).toEqual([])
      }),
      { numRuns: 500 },
    )
  })
})
