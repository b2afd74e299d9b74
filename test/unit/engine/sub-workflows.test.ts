import { describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from './world.ts'

const start = block('start', 'api_trigger')

describe('a workflow block', () => {
  const called = document({
    name: 'Called',
    blocks: [
      block('in', 'api_trigger', { inputFormat: [{ name: 'n', type: 'number', required: true }] }),
      block('double', 'function', { code: 'return <in.n> * 2' }),
    ],
    edges: ['in > double'],
  })
  const calling = (id: string, input: unknown, more: Record<string, unknown> = {}) =>
    document({
      blocks: [start, block('call', 'workflow', { workflowId: id, input, ...more })],
      edges: ['start > call'],
    })

  test('runs another workflow inside the run, with its spans', async () => {
    const here = new World({ deployed: { called } })
    const { record } = await here.run(calling('called', { n: '<api.input.n>' }), { n: 21 })
    expect(record.output).toMatchObject({
      success: true,
      output: { result: 42 },
      error: null,
      executionId: record.executionId,
    })
    const [sub] = spansOf(record.root).get('call')?.[0]?.children ?? []
    expect(sub).toMatchObject({ type: 'workflow', name: 'Called', status: 'success' })
    expect(sub?.children.map(({ name }) => name)).toEqual(['in', 'double'])
    await here.stop()
  })

  test('fails for invalid input, for an unknown workflow, and for calls that are nested too deep', async () => {
    const self = calling('self', {})
    const here = new World({ deployed: { called, self } })
    const unfit = await here.run(calling('called', { n: 'many' }))
    expect(unfit.record.failure?.message).toContain('"n" must be a number')
    const absent = await here.run(calling('nowhere', {}))
    expect(absent.record.failure?.message).toContain('There is no workflow "nowhere"')
    const deep = await here.run(self)
    expect(deep.record.failure?.message).toContain('MILLRACE_SUBWORKFLOW_DEPTH_MAX')
    const kept = await here.run(calling('nowhere', {}, { onError: 'continue' }))
    expect(kept.record.output).toMatchObject({ success: false, error: { code: 'NOT_FOUND' } })
    await here.stop()
  })
})
