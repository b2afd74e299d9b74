import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { parseTemplate } from '../../../../src/domain/workflow/reference.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { sizesOf } from '../../../../src/ui/editor/canvas/geometry.ts'
import type { Document } from '../../../../src/ui/editor/document/document.ts'
import { applyEdit, openDocument } from '../../../../src/ui/editor/document/edit.ts'
import { wrapEdits } from '../../../../src/ui/editor/document/group-edits.ts'
import { mapReferences } from '../../../../src/ui/editor/document/references.ts'
import { type Separation, separate } from '../../../../src/ui/editor/document/separate-workflow.ts'
import { block, document } from '../../../support/make.ts'
import { World } from '../../engine/world.ts'

/** Workflows by id. The world reads this record when a workflow block calls one. */
const deployed: Record<string, WorkflowDocument> = {}
const world = new World({ deployed })
afterAll(() => world.stop())

const triggerKinds = new Map([['api_trigger', 'api']])
const opened = (draft: Parameters<typeof document>[0]) => openDocument(document(draft) as Document)

function separated(whole: Document, ids: readonly string[]): Separation | { reason: string } {
  return separate(whole, ids, { name: 'Part', triggerKinds, sizes: sizesOf(whole) })
}

/** The workflow after its blocks were moved into the deployed workflow `part`. */
function after(whole: Document, ids: readonly string[]): Document | { reason: string } {
  const found = separated(whole, ids)
  if ('reason' in found) return found
  deployed['part'] = found.created as WorkflowDocument
  return found.editsFor('part').edits.reduce(applyEdit, whole)
}

/** The response of a run, and each value that the response contains. */
async function dataOf(whole: Document): Promise<unknown> {
  const output = await world.output(whole as WorkflowDocument, { n: 3, list: [{ a: 1 }, { a: 2 }], text: 'x <b> y' })
  return (output as { data: unknown }).data
}

const start = block('start', 'api_trigger', {
  inputFormat: [
    { name: 'n', type: 'number' },
    { name: 'list', type: 'array' },
    { name: 'text', type: 'string' },
  ],
})

/** Steps after the trigger in one line, each reading some of what exists before it, and a response that reads all. */
const anyChain = fc
  .array(
    fc.record({
      reads: fc.array(fc.tuple(fc.nat(), fc.nat(4)), { minLength: 1, maxLength: 3 }),
      extra: fc.option(fc.nat()),
      name: fc.constantFrom('Fetch', 'Line total', 'A b C', 'Häuser', 'api two'),
    }),
    { minLength: 2, maxLength: 6 },
  )
  .map((steps) => {
    const names = steps.map(({ name }, index) => `${name} ${index}`)
    const written = (at: number) => names[at]!.replaceAll(' ', at % 2 ? '' : ' ').toUpperCase()
    const source = (index: number, pick: number, kind: number) => {
      const earlier = index === 0 ? -1 : (pick % (index + 1)) - 1
      if (earlier < 0)
        return ['<api.n>', '<start.list[1].a>', '<api.text>', '<variable.rate>', '<start.input.n>'][kind]!
      return `<${written(earlier)}.result${['', '.v', '["w"]', '.w[0]', '.none'][kind]}>`
    }
    const blocks = steps.map(({ reads }, index) => {
      const [first, ...rest] = reads.map(([pick, kind]) => source(index, pick, kind))
      const code = `return { v: ${first}, w: [${rest.join(', ')}], t: 1 < 2 }`
      return { ...block(`s${index}`, 'function', { code }), name: names[index]! }
    })
    const data = Object.fromEntries(
      names.flatMap((_, at) => [
        [`r${at}`, `<${written(at)}.result>`],
        [`t${at}`, `text <${written(at)}.result.v>!`],
      ]),
    )
    const line = ['start', ...blocks.map(({ id }) => id), 'end']
    const edges = line.slice(1).map((id, at) => `${line[at]} > ${id}`)
    const extra = steps.flatMap(({ extra: pick }, index) =>
      pick === null || index === 0 ? [] : [`${line[pick % index]} > s${index}`],
    )
    const all = [...new Set([...edges, ...extra])]
    const draft = { blocks: [start, ...blocks, block('end', 'response', { data })], edges: all }
    return opened({ ...draft, variables: { rate: { type: 'number', value: 1.5 } } })
  })

describe('moving blocks into a separate workflow', () => {
  test('every reference reads the same value as before, in both workflows', async () => {
    let moved = 0
    await fc.assert(
      fc.asyncProperty(anyChain, fc.nat(5), fc.nat(5), async (whole, from, count) => {
        const steps = Object.keys(whole.blocks).filter((id) => id.startsWith('s') && id !== 'start')
        const ids = steps.slice(from % steps.length, (from % steps.length) + 1 + (count % steps.length))
        const next = after(whole, ids)
        if ('reason' in next) return
        moved += 1
        expect(Object.keys(next.blocks)).not.toContain(ids[0]!)
        expect(world.check(deployed['part']!).filter(({ level }) => level === 'error')).toEqual([])
        expect(await dataOf(next)).toEqual(await dataOf(whole))
      }),
      { numRuns: 60 },
    )
    // Most of the drafts can be separated; otherwise this test would prove nothing.
    expect(moved).toBeGreaterThan(25)
  }, 60_000)

  test('works inside a loop, for whole containers, and for branches that meet again', async () => {
    const code = (text: string) => ({ code: `return ${text}` })
    const whole = opened({
      blocks: [
        start,
        block('gate', 'condition', { conditions: [{ id: 'yes', expression: '<api.n> > 2' }] }),
        block('big', 'function', code('<api.n> * 10')),
        block('small', 'function', code('<api.n> / 10')),
        block('each', 'loop'),
        {
          ...block('one', 'function', code('<loop.currentItem.a> + (<big.result> ?? <small.result>)')),
          parentId: 'each',
        },
        { ...block('two', 'function', code('<one.result> + <each.index>')), parentId: 'each' },
        block('end', 'response', { data: { big: '<big.result>', small: '<small.result>', all: '<each.results>' } }),
      ],
      edges: [
        'start > gate',
        'gate:condition-yes > big',
        'gate:condition-else > small',
        'big > each',
        'small > each',
        'each:loop-start-source > one',
        'one > two',
        'each:loop-end-source > end',
      ],
      loops: { each: { nodes: ['one', 'two'], loopType: 'forEach', forEachItems: '<api.list>' } },
    })
    const before = await dataOf(whole)
    for (const ids of [['gate', 'big', 'small'], ['each'], ['one'], ['one', 'two'], ['gate', 'big', 'small', 'each']]) {
      const next = after(whole, ids)
      if ('reason' in next) throw new Error(`${ids}: ${next.reason}`)
      const data = (await dataOf(next)) as Record<string, unknown>
      // A workflow block inside the loop has other outputs than the block that it replaces.
      const isInner = ids.includes('two')
      const expected = before as { all: unknown }
      expect({ ...data, all: isInner ? null : data['all'] }).toEqual({
        ...expected,
        all: isInner ? null : expected.all,
      } as never)
    }
  }, 60_000)

  test('is refused with the reason where it would change the workflow', () => {
    const whole = opened({
      blocks: [
        start,
        block('gate', 'condition', { conditions: [{ id: 'yes', expression: 'true' }] }),
        block('a', 'wait'),
        block('b', 'wait'),
        block('set', 'variables', { assign: [{ name: 'x', value: 1 }] }),
        block('each', 'loop'),
        { ...block('inner', 'wait'), parentId: 'each' },
        block('end', 'response'),
      ],
      edges: [
        'start > gate',
        'gate:condition-yes > a',
        'gate:condition-else > b',
        'a > set',
        'set > each',
        'each:loop-end-source > end',
      ],
      loops: { each: { nodes: ['inner'], loopType: 'for', iterations: 1 } },
    })
    const reasonOf = (...ids: string[]) => {
      const found = separated(whole, ids)
      return 'reason' in found ? found.reason : undefined
    }
    expect(reasonOf()).toContain('at least one block')
    expect(reasonOf('start', 'gate')).toContain('“start” is a trigger')
    expect(reasonOf('a', 'inner')).toContain('inside a loop or parallel block')
    expect(reasonOf('gate')).toContain('A branch of “gate” leaves the selection')
    expect(reasonOf('gate', 'a', 'b')).toContain('A branch of “gate” ends inside the selection')
    expect(reasonOf('a', 'b')).toContain('Different outputs lead to different blocks')
    expect(reasonOf('end')).toContain('“end” answers the caller')
    expect(reasonOf('set')).toContain('“set” changes the variables')
    expect(reasonOf('each', 'inner')).toBeUndefined()
  })
})

test('blocks that move into a loop keep their lines and the items that they read', async () => {
  const whole = opened({
    blocks: [
      start,
      block('each', 'loop'),
      { ...block('one', 'function', { code: 'return <loop.currentItem.a> * 2' }), parentId: 'each' },
      { ...block('two', 'function', { code: 'return <one.result> + 1' }), parentId: 'each' },
      block('end', 'response', { data: '<each.results>' }),
    ],
    edges: ['start > each', 'each:loop-start-source > one', 'one > two', 'each:loop-end-source > end'],
    loops: { each: { nodes: ['one', 'two'], loopType: 'forEach', forEachItems: '<api.list>' } },
  })
  const found = wrapEdits(whole, ['one'], 'loop', 'Loop', sizesOf(whole))
  if ('reason' in found) throw new Error(found.reason)
  const next = found.edits.reduce(applyEdit, whole)
  expect(next.blocks['one']).toMatchObject({ parentId: found.id, params: { code: 'return <each.currentItem.a> * 2' } })
  expect(next.blocks[found.id]?.parentId).toBe('each')
  expect(next.edges.map(({ source, target }) => `${source} > ${target}`).toSorted()).toEqual(
    ['start > each', `each > ${found.id}`, `${found.id} > one`, `${found.id} > two`, 'each > end'].toSorted(),
  )
  expect(found.warning).toContain('“two” reads a block that is now repeated')
  expect(world.check(next as WorkflowDocument).filter(({ level }) => level === 'error')).toEqual([])
})

test('the editor finds the same references in a text as the service', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '.',
    'a',
    'Line total',
    '[0]',
    '["x y"]',
    "['q']",
    '{{',
    '}}',
    'NAME',
    ' ',
    '"',
    '<api.n>',
    '\n',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 12 }), (pieces) => {
      const text = pieces.join('')
      const found: string[] = []
      mapReferences(text, ({ name, path }) => {
        found.push(`${name}${path}`)
        return undefined
      })
      const expected = parseTemplate(text).flatMap((segment) => {
        if (segment.kind !== 'reference') return []
        return [segment.source]
      })
      expect(found.length).toBe(expected.length)
      for (const [at, source] of expected.entries()) {
        expect(source.toLowerCase().replaceAll(/\s+/g, '')).toContain(found[at]!.toLowerCase().replaceAll(/\s+/g, ''))
      }
    }),
  )
})
