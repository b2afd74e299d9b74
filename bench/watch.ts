import { bench, run } from 'mitata'
import { RunBus } from '../src/events/bus.ts'
import { block, document } from '../test/support/make.ts'
import { World } from '../test/unit/engine/world.ts'

/** How much does it cost when a run can be watched, and when it is watched? `bun bench/watch.ts [watchers]` */
const watchers = Number(Bun.argv[2] ?? 10)
const world = new World()
const bus = new RunBus({
  observe: (executionId, observer) => world.runner.observe(executionId, observer),
  watchersMax: 1e6,
  shareFactor: 4,
})

const set = (id: string, value: string) => block(id, 'variables', { assign: [{ name: 'v', value }] })
const plan = world.plan(
  document({
    variables: { v: { value: '' } },
    blocks: [
      block('start', 'api_trigger'),
      set('a', '<api.input.n>'),
      block('if', 'condition', { conditions: [{ id: 'more', expression: '<a.v> > 1' }] }),
      set('b', '<a.v>-<if.branch>'),
      block('end', 'response', { data: { said: '<b.v>' } }),
    ],
    edges: ['start > a', 'a > if', 'if:condition-more > b', 'b > end'],
  }),
)
const facts = { plan, workflowId: 'w', workspaceId: 'ws', version: 1, trigger: 'manual' } as const
const entry = plan.triggers.get('api')!.node
const input = { input: { n: 5 }, fields: {} }
let number = 0
const observed = (count: number) => async () => {
  number += 1
  const executionId = `run-${number}`
  const observer = bus.open({ executionId, workspaceId: 'ws' })
  for (let each = 0; each < count; each += 1) bus.watch(executionId, { message: () => undefined, end: () => undefined })
  await world.runner.execute({ ...facts, entry, input, executionId, observer })
}

bench('a run of 5 blocks that cannot be watched', () => world.runner.execute({ ...facts, entry, input }))
bench('a run that can be watched, without watchers', observed(0))
bench('a run with one watcher', observed(1))
bench(`a run with ${watchers} watchers`, observed(watchers))

await run()
process.exit()
