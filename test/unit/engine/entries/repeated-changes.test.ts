import { afterAll, expect, test } from 'bun:test'
import fc from 'fast-check'
import { MemoryEntries } from '../../../../src/domain/entry/memory-entries.ts'
import { StepHistory } from '../../../../src/engine/run/step-history.ts'
import { block, document } from '../../../support/make.ts'
import { World } from '../world.ts'

const entries = new MemoryEntries()
const counting = (id: string, params = {}) => block(id, 'store', { operation: 'increment', key: 'n', ...params })
const called = document({
  name: 'Called',
  blocks: [block('start', 'api_trigger'), counting('inner', { scope: 'workspace' })],
  edges: ['start > inner'],
})
const world = new World({ entries, deployed: { called } })
afterAll(() => world.stop())

const workflow = document({
  blocks: [
    block('start', 'api_trigger'),
    counting('first', { scope: 'workspace' }),
    block('loop', 'loop'),
    { ...counting('each', { scope: 'workspace', by: 10 }), parentId: 'loop' },
    block('call', 'workflow', { workflowId: 'called', input: {} }),
    block('last', 'response', { data: '<first.value>' }),
  ],
  edges: [
    'start > first',
    'first > loop',
    'loop:loop-start-source > each',
    'loop:loop-end-source > call',
    'call > last',
  ],
  loops: { loop: { loopType: 'for', iterations: 3 } },
})

const read = async () => {
  const row = await entries.read({ workflowId: null, key: 'n', now: Date.now() })
  return row === null ? 0 : Number(row.value)
}

test('a run that is interrupted anywhere makes each of its changes once', async () => {
  let runs = 0
  await fc.assert(
    fc.asyncProperty(fc.array(fc.nat(4), { maxLength: 8 }), async (deaths) => {
      const before = await read()
      const steps: string[] = []
      const left = [...deaths]
      runs += 1
      const executionId = `run-${runs}`
      for (;;) {
        const most = left.shift() ?? Number.POSITIVE_INFINITY
        let written = 0
        const history = new StepHistory([...steps], async (_, text) => {
          if (written >= most) throw new Error('The process died')
          written += 1
          steps.push(text)
        })
        const end = await world.run(workflow, {}, { executionId, history, startedAt: Date.now() })
        if (end.suspension) continue
        expect(end.record.failure).toBeNull()
        // The block that ran again has the outputs of its first time.
        expect(end.record.output).toMatchObject({ data: before + 1 })
        break
      }
      expect(await read()).toBe(before + 32)
    }),
  )
})

test('two runs make their changes both, also if they have no history', async () => {
  const before = await read()
  const draft = document({
    blocks: [block('start', 'api_trigger'), counting('it', { scope: 'workspace' })],
    edges: ['start > it'],
  })
  await world.run(draft, {}, { executionId: 'same' })
  await world.run(draft, {}, { executionId: 'same' })
  const history = () => new StepHistory([], async () => undefined)
  await world.run(draft, {}, { executionId: 'one', history: history(), startedAt: Date.now() })
  await world.run(draft, {}, { executionId: 'two', history: history(), startedAt: Date.now() })
  expect(await read()).toBe(before + 4)
})
