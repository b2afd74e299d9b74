import { afterAll, describe, expect, test } from 'bun:test'
import type { OutboundFetch } from '../../../src/domain/outbound-request.ts'
import { createRedactor } from '../../../src/domain/redaction/redactor.ts'
import type { RunRecord } from '../../../src/domain/run/log.ts'
import { readTrace } from '../../../src/domain/run/trace.ts'
import type { WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { type PartialRequest, planPartial } from '../../../src/engine/manual/partial-plan.ts'
import { PreviousRun } from '../../../src/engine/manual/previous-run.ts'
import { createFold } from '../../../src/events/batch.ts'
import { block, document } from '../../support/make.ts'
import { World } from './world.ts'

const requests: string[] = []
const fetch: OutboundFetch = async ({ url }) => {
  const { pathname } = new URL(url)
  requests.push(pathname)
  const body = new TextEncoder().encode(JSON.stringify({ path: pathname.slice(1) }))
  return { ok: true, response: { status: 200, headers: { 'content-type': 'application/json' }, body, url } }
}

const world = new World({ fetch })
afterAll(() => world.stop())

const secrets = createRedactor([{ name: 'TOKEN', value: 'the secret value' }])
const pastOf = (record: RunRecord) =>
  new PreviousRun(readTrace(createFold()({ ...record, secrets }, 1).traceSpans), { secrets, isWhole: false })

async function again(workflow: WorkflowDocument, wish: PartialRequest, past?: PreviousRun) {
  const plan = world.plan(workflow)
  requests.length = 0
  const { record } = await world.run(workflow, input, { partial: planPartial(plan, wish, past) })
  return record
}

const input = { text: 'given' }
const trigger = block('start', 'api_trigger')
const call = (id: string, path: string) => block(id, 'api', { url: `http://example.org/${path}`, retries: 0 })
const line = document({
  blocks: [trigger, call('a', 'a/<api.input.text>'), call('b', 'b/<a.data.path>')],
  edges: ['start > a', 'a > b'],
})

describe('a block that runs alone', () => {
  test('is refused when a reference has no value, and runs with given values', async () => {
    const refused = (values?: Record<string, unknown>) => async () => again(line, { only: { blockId: 'b', values } })
    const path = 'only.values.<a.data.path>'
    expect(refused()()).rejects.toMatchObject({ code: 'INVALID_INPUT', details: [{ path }] })
    expect(refused({ '<nothing.at.all>': 1 })()).rejects.toMatchObject({ code: 'INVALID_INPUT' })
    expect(requests).toEqual([])
    const record = await again(line, { only: { blockId: 'b', values: { '<a.data.path>': 'mine' } } })
    expect(requests).toEqual(['/b/mine'])
    expect(record.failure).toBeNull()
    // Null is a value, too.
    await again(line, { only: { blockId: 'b', values: { '<a.data.path>': null } } })
    expect(requests).toEqual(['/b/'])
  })

  test('takes a given value in place of the one from the previous run', async () => {
    const first = (await world.run(line, input)).record
    await again(line, { only: { blockId: 'b', values: { '<a.data.path>': 'mine' } } }, pastOf(first))
    expect(requests).toEqual(['/b/mine'])
  })

  test('takes samples of the trigger for what the previous run does not have', async () => {
    const early = document({
      blocks: [trigger, call('first', '<api.id>')],
      edges: ['start > first'],
    })
    const plan = world.plan(early)
    const only = { blockId: 'first' }
    expect(() => planPartial(plan, { only }, undefined)).toThrow('<api.id> has no value')
    const partial = planPartial(plan, { only }, undefined, {
      samples: new Map([['start', { id: 'o-77' }]]),
    })
    requests.length = 0
    await world.run(early, input, { partial })
    expect(requests).toEqual(['/o-77'])
  })

  test('in a loop needs the item, or the list that it comes from', async () => {
    const items = document({
      blocks: [trigger, block('each', 'loop'), { ...call('one', '<loop.currentItem.id>'), parentId: 'each' }],
      edges: ['start > each', 'each:loop-start-source > one'],
      loops: { each: { loopType: 'forEach', forEachItems: '<api.list>' } },
    })
    const only = { blockId: 'one' }
    const plan = world.plan(items)
    expect(() => planPartial(plan, { only }, undefined)).toThrow('<loop.currentItem.id> has no value')
    await again(items, { only: { ...only, values: { '<loop.currentItem.id>': 'mine' } } })
    expect(requests).toEqual(['/mine'])
    const partial = planPartial(plan, { only }, undefined, {
      samples: new Map([['start', { list: [{ id: 'first' }] }]]),
    })
    requests.length = 0
    await world.run(items, input, { partial })
    expect(requests).toEqual(['/first'])
  })

  test('is refused when the log hides the value, not when it hides another one', async () => {
    const hiding = document({
      blocks: [
        trigger,
        block('keep', 'variables', {
          assign: [
            { name: 'v', value: '<api.input.text>' },
            { name: 'w', value: 'plain' },
          ],
        }),
        call('uses', '<keep.v>'),
        call('other', '<keep.w>'),
      ],
      edges: ['start > keep', 'keep > uses', 'keep > other'],
      variables: { v: { value: null }, w: { value: null } },
    })
    const first = (await world.run(hiding, { text: 'the secret value' })).record
    const plan = world.plan(hiding)
    const past = pastOf(first)
    expect(() => planPartial(plan, { only: { blockId: 'uses' } }, past)).toThrow('{{TOKEN}}')
    expect(planPartial(plan, { only: { blockId: 'other' } }, past).only).toBeDefined()
  })
})
