import { afterAll, describe, expect, test } from 'bun:test'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import type { Outputs } from '../../../src/engine/block.ts'
import { type PartialRequest, planPartial } from '../../../src/engine/manual/partial-plan.ts'
import { PinnedOutputs } from '../../../src/engine/manual/pinned-outputs.ts'
import { PreviousRun } from '../../../src/engine/manual/previous-run.ts'
import { createFold } from '../../../src/events/batch.ts'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const world = new World()
afterAll(() => world.stop())

async function run(
  workflow: WorkflowDocument,
  outputs: Record<string, Outputs>,
  wish: PartialRequest = {},
  past?: PreviousRun,
) {
  const pins = new PinnedOutputs(new Map(Object.entries(outputs)))
  const partial = planPartial(world.plan(workflow), wish, past, { pins })
  return (await world.run(workflow, { text: 'given' }, { partial })).record
}

/** The second block of the line fails when it runs. */
const line = document({
  variables: { word: { value: 'none' } },
  blocks: [
    block('start', 'api_trigger'),
    block('set', 'variables', { assign: [{ name: 'word', value: 'ran' }] }),
    block('fails', 'function', { code: 'throw new Error("It ran.")' }),
    block('end', 'variables', { assign: [{ name: 'word', value: '<variable.word>/<fails.result>' }] }),
  ],
  edges: ['start > set', 'set > fails', 'fails > end'],
})

describe('a pinned block', () => {
  test('does not run: a whole run uses its output, and the trace marks it', async () => {
    const record = await run(line, { fails: { result: 'pinned' } })
    expect([record.failure, record.output, record.partial]).toEqual([null, { word: 'ran/pinned' }, undefined])
    const [span] = spansOf(record.root).get('fails') ?? []
    expect(span).toMatchObject({ status: 'success', pinned: true, durationMs: 0 })
    expect(span?.output).toEqual({ result: 'pinned', error: null, stdout: null })
    expect(createFold()(record, 1).traceSpans).toContain('"pinned":true')
  })

  test('that sets variables sets the pinned ones', async () => {
    const record = await run(line, { set: { word: 'held' }, fails: { result: 1 } })
    expect(record.output).toEqual({ word: 'held/1' })
  })

  test('does not run in partial runs either, even when the earlier run has another output', async () => {
    const pins = { set: { word: 'held' }, fails: { result: 2 } }
    const first = await run(line, { fails: { result: 1 } })
    const past = new PreviousRun(first.root, { secrets: undefined, isWhole: true })
    expect((await run(line, pins, { from: { blockId: 'end' } }, past)).output).toEqual({ word: 'held/2' })
    expect((await run(line, pins, { until: 'fails' })).output).toMatchObject({ result: 2 })
    expect((await run(line, pins, { only: { blockId: 'end' } })).output).toEqual({ word: 'held/2' })
    expect((await run(line, pins, { only: { blockId: 'fails' } })).output).toMatchObject({ result: 2 })
  })

  test('is marked as reused when a later run takes the pinned output from an earlier run', async () => {
    const first = await run(line, { fails: { result: 1 } })
    const past = new PreviousRun(first.root, { secrets: undefined, isWhole: true })
    const record = await run(line, {}, { from: { blockId: 'end' } }, past)
    const [span] = spansOf(record.root).get('fails') ?? []
    expect([span?.reused, span?.pinned]).toEqual([true, undefined])
  })

  test('in a loop has its output in every iteration, and a pinned loop does not run at all', async () => {
    const looping = document({
      blocks: [
        block('start', 'api_trigger'),
        block('loop', 'loop'),
        { ...block('in', 'function', { code: 'return 1' }), parentId: 'loop' },
      ],
      edges: ['start > loop', 'loop:loop-start-source > in'],
      loops: { loop: { loopType: 'forEach', forEachItems: ['x', 'y'] } },
    })
    const record = await run(looping, { in: { result: 'each' } })
    expect(record.output).toMatchObject({ results: [{ result: 'each' }, { result: 'each' }] })
    const whole = await run(looping, { loop: { results: ['all'] } })
    expect(whole.output).toMatchObject({ results: ['all'] })
    expect(spansOf(whole.root).get('in')).toBeUndefined()
  })

  test('that chooses a branch takes the pinned one', async () => {
    const choosing = document({
      blocks: [
        block('start', 'api_trigger'),
        block('choose', 'condition', { conditions: [{ id: 'yes', expression: 'true' }] }),
        block('a', 'function', { code: 'return "yes"' }),
        block('b', 'function', { code: 'return "no"' }),
      ],
      edges: ['start > choose', 'choose:condition-yes > a', 'choose:condition-else > b'],
    })
    expect((await run(choosing, {})).output).toMatchObject({ result: 'yes' })
    const pin = { choose: { branch: 'else', result: false } }
    expect((await run(choosing, pin)).output).toMatchObject({ result: 'no' })
  })

  test('that is disabled is passed through, as without the pin', async () => {
    const off = { ...line, blocks: { ...line.blocks, fails: { ...line.blocks['fails']!, enabled: false } } }
    expect((await run(off, { fails: { result: 'pinned' } })).output).toEqual({ word: 'ran/' })
  })
})
