import { afterAll, describe, expect, test } from 'bun:test'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import { labelCharsMax, labelsMax } from '../../../src/domain/run/labels.ts'
import { createFold } from '../../../src/events/batch.ts'
import { block, document } from '../../support/make.ts'
import { World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

/** A trigger with these labels, and a variables block after it with others. */
const labelled = (ofTrigger?: unknown, ofBlock?: unknown) =>
  document({
    blocks: [
      block('start', 'api_trigger', ofTrigger ? { labels: ofTrigger } : {}),
      block('set', 'variables', { assign: [], ...(ofBlock ? { labels: ofBlock } : {}) }),
    ],
    edges: ['start > set'],
  })

describe('labels', () => {
  test('of a trigger read its own outputs, and those of a block the outputs before it', async () => {
    const { record } = await world.run(
      labelled({ customer: '<api.input.customer>', kind: 'order' }, { region: 'in <start.input.region>' }),
      { customer: { id: 7 }, region: 'EU' },
    )
    expect(record.failure).toBeNull()
    expect(record.labels).toEqual({ customer: '{"id":7}', kind: 'order', region: 'in EU' })
    expect(record.root.children[0]?.input).toEqual({})
  })

  test('are replaced by later ones of the same name, and left out when their value is null', async () => {
    const labels = { customer: 'second', none: '<start.input.nothing>' }
    const { record } = await world.run(labelled({ customer: 'first' }, labels), {})
    expect(record.labels).toEqual({ customer: 'second' })
  })

  test('are absent when no block sets any', async () => {
    expect('labels' in (await world.run(labelled(), {})).record).toBe(false)
  })

  test('that are too long when the block runs fail the block', async () => {
    const { record } = await world.run(labelled(undefined, { note: '<start.input.text>' }), {
      text: 'x'.repeat(labelCharsMax + 1),
    })
    expect(record.failure).toMatchObject({ blockId: 'set', message: expect.stringContaining('more than 200') })
  })

  test('that are too many over several blocks fail the block', async () => {
    const many = (prefix: string) =>
      Object.fromEntries(Array.from({ length: labelsMax - 5 }, (_, index) => [prefix + index, 'x']))
    const { record } = await world.run(labelled(many('a'), many('b')), {})
    expect(record.failure?.message).toContain('more than 20 labels')
  })

  test('that cannot be right are findings', () => {
    const many = Object.fromEntries(Array.from({ length: labelsMax + 1 }, (_, index) => [`l${index}`, 'x']))
    const codes = (labels: unknown) => world.check(labelled(undefined, labels)).map(({ code }) => code)
    expect(codes({ long: 'x'.repeat(labelCharsMax + 1) })).toEqual(['INVALID_LABEL'])
    expect(codes({ 'with:colon': 'x' })).toEqual(['INVALID_LABEL'])
    expect(codes({ '': 'x' })).toEqual(['INVALID_LABEL'])
    expect(codes(many)).toEqual(['INVALID_LABEL'])
    expect(world.check(labelled({ 'with:colon': 'x' })).map(({ path }) => path)).toEqual(['blocks.start.params.labels'])
    expect(codes({ fine: '<start.input.text>' })).toEqual([])
  })

  test('and failures are recorded without secrets', async () => {
    const secrets = createRedactor([{ name: 'TOKEN', value: 'the secret value' }])
    const { record } = await world.run(labelled({ token: '<api.input.token>' }), { token: 'the secret value' })
    expect(createFold()({ ...record, secrets }, 1).labels).toEqual({ token: '{{TOKEN}}' })
  })
})
