import { describe, expect, test } from 'bun:test'
import { parseTemplate } from '../../../../../src/domain/workflow/reference.ts'
import { previewExpression, previewJson, previewTemplate } from '../../../../../src/language/preview.ts'
import { openDocument } from '../../../../../src/ui/editor/document/edit.ts'
import { suggestionsFor } from '../../../../../src/ui/editor/inspector/suggestions.ts'
import { fold, idle } from '../../../../../src/ui/editor/run/run-state.ts'
import { isIncomplete, lookUp, runValues } from '../../../../../src/ui/editor/values/run-values.ts'
import { block, document } from '../../../../support/make.ts'

const workflow = openDocument({
  ...document({
    blocks: [
      block('start', 'api_trigger', { inputFormat: [{ name: 'list', type: 'array', value: [{ id: 1 }, { id: 2 }] }] }),
      block('order', 'api', { url: 'http://example.org' }),
      block('each', 'loop'),
      block('one', 'function', { code: '' }, { parentId: 'each' }),
    ],
    edges: ['start > order', 'order > each', 'each:loop-start-source > one'],
    loops: { each: { loopType: 'forEach', forEachItems: '<api.list>' } },
    variables: { greeting: { value: 'Hi' } },
  }),
  name: 'Values',
})
const time = '2025-06-01T00:00:00.000Z'
const output = { data: { name: 'Ada', token: 'key {{TOKEN}}' }, status: 200 }
const run = fold(idle, {
  event: 'block.ended',
  span: {
    ...{ id: 's1', name: 'order', type: 'api', blockId: 'order', status: 'success', startTime: time, endTime: time },
    ...{ duration: 1, input: {}, output, children: [] },
  },
  ...{ iterations: [], depth: 0, parentId: null },
})
const startsOf = (type: string) => (type === 'api_trigger' ? 'api' : null)
const values = runValues(workflow, 'one', run, [1], startsOf)
const lookup = (reference: Parameters<typeof lookUp>[0]) => {
  const found = lookUp(reference, { document: workflow, blockId: 'one', values, startsOf })
  return found && { ...found, isHidden: isIncomplete(found.value, ['TOKEN']) }
}
const read = (source: string) => {
  const [only] = parseTemplate(source)
  return only?.kind === 'reference' ? lookup(only)?.value : undefined
}

describe('the values of a run', () => {
  test('are found as the engine finds them', () => {
    expect(read('<order.data.name>')).toBe('Ada')
    expect(read('<loop.currentItem.id>')).toBe(2)
    expect(read('<each.index>')).toBe(1)
    expect(read('<variable.greeting>')).toBe('Hi')
    expect(read('<order.error>')).toBeNull()
    expect(read('<order.data.missing>')).toBeUndefined()
    // The trigger did not run: its sample counts.
    expect(read('<api.list[0].id>')).toBe(1)
  })

  test('are suggested with results first and errors last', () => {
    const outputsOf = (type: string) => ({
      outputs: type === 'api' ? ['error', 'data'] : ['input'],
      starts: startsOf(type),
    })
    const all = suggestionsFor(workflow, 'one', outputsOf, values)
    const texts = all.filter(({ isAlias }) => !isAlias).map(({ text }) => text)
    expect(texts[0]).toBe('<order.data>')
    expect(texts.at(-1)).toBe('<order.error>')
    expect(texts).toContain('<loop.currentItem.id>')
    // The start block is suggested by its own name. The kind of run is another name for it.
    expect(texts).toContain('<start.input>')
    expect(texts).not.toContain('<api.input>')
    expect(all.filter(({ isAlias }) => isAlias).map(({ text }) => text)).toContain('<api.input>')
  })
})

describe('the preview of a field', () => {
  test('is the result of its template, JSON or expression', () => {
    expect(previewTemplate('<order.data>', lookup)).toEqual({ kind: 'value', value: output.data })
    expect(previewTemplate('Hi <order.data.name>', lookup)).toEqual({ kind: 'value', value: 'Hi Ada' })
    expect(previewJson('{ "a": <order.status>, "b": "x <order.data.name>" }', lookup)).toEqual({
      kind: 'value',
      value: { a: 200, b: 'x Ada' },
    })
    expect(previewExpression('<order.data.name>.length > 2', lookup, 1_000)).toEqual({ kind: 'value', value: true })
  })

  test('says what has no value, what is hidden, and what only a run can tell', () => {
    expect(previewTemplate('<order.nothing.here>', lookup)).toEqual({
      kind: 'missing',
      sources: ['<order.nothing.here>'],
    })
    expect(previewTemplate('<order.data.token>', lookup)).toEqual({ kind: 'value', value: 'key {{TOKEN}}' })
    expect(previewExpression('<order.data.token>.length', lookup, 1_000)).toEqual({
      kind: 'hidden',
      sources: ['<order.data.token>'],
    })
    expect(previewExpression('{{TOKEN}} === "x"', lookup, 1_000).kind).toBe('hidden')
    expect(previewExpression('(() => { for (;;); })()', lookup, 1_000).kind).toBe('unknown')
    expect(previewExpression('<order.data.name>.repeat(1e6).length', lookup, 1_000).kind).toBe('unknown')
    expect(previewExpression('1 +', lookup, 1_000).kind).toBe('failed')
  })
})
