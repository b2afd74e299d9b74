import { afterAll, expect, test } from 'bun:test'
import type { LiveEvent } from '../../../src/domain/run/live-event.ts'
import { blockSpans } from '../../../src/domain/run/trace.ts'
import { RunBus } from '../../../src/events/bus.ts'
import { block, document } from '../../support/make.ts'
import { World } from '../engine/world.ts'

const trigger = block('start', 'api_trigger')
const called = document({ blocks: [trigger, block('deep', 'wait', { ms: 0 })], edges: ['start > deep'] })
const world = new World({ deployed: { called } })
afterAll(() => world.stop())

/** A loop next to a parallel. Each iteration calls a workflow. */
const both = document({
  blocks: [
    trigger,
    block('loop', 'loop'),
    block('turn', 'wait', { ms: 0 }, { parentId: 'loop' }),
    block('many', 'parallel'),
    block('call', 'workflow', { workflowId: 'called' }, { parentId: 'many' }),
  ],
  edges: [
    ...['start > loop', 'start > many'],
    ...['loop:loop-start-source > turn', 'many:parallel-start-source > call'],
  ],
  loops: { loop: { loopType: 'for', iterations: 3 } },
  parallels: { many: { parallelType: 'count', count: 3 } },
})

type Ended = Extract<LiveEvent, { event: 'block.ended' }>

test('an event names its container like the trace, and span IDs increase in the order of start', async () => {
  const bus = new RunBus({ observe: () => false, watchersMax: 1, shareFactor: 4 })
  const observer = bus.open({ executionId: 'run-1', workspaceId: 'w' })
  const events: LiveEvent[] = []
  bus.watch('run-1', { message: (text) => events.push(JSON.parse(text) as LiveEvent), end: () => undefined })
  const { record } = await world.run(both, {}, { executionId: 'run-1', observer })
  const ended = events.filter((each): each is Ended => each.event === 'block.ended')
  const nameOf = (id: string | null) => ended.find(({ span }) => span.id === id)?.span.name ?? null
  expect(ended.map(({ span, parentId }) => `${span.name} in ${nameOf(parentId)}`).toSorted()).toEqual([
    ...['call in many', 'call in many', 'call in many', 'deep in call', 'deep in call', 'deep in call'],
    ...['loop in null', 'many in null', 'start in call', 'start in call', 'start in call', 'start in null'],
    ...['turn in loop', 'turn in loop', 'turn in loop'],
  ])
  const live = ended.map(({ span: { id }, depth, iterations, parentId }) => ({ id, depth, iterations, parentId }))
  const inTrace = blockSpans(record.root).map(({ span: { id }, place }) => ({ id, ...place }))
  const byId = (a: { id: string }, b: { id: string }) => a.id.localeCompare(b.id)
  expect(live.toSorted(byId)).toEqual(inTrace.toSorted(byId))
  const begun = events.flatMap((each) => (each.event === 'block.started' ? [Number(each.span.id.slice(1))] : []))
  expect(begun).toEqual(begun.toSorted((a, b) => a - b))
})
