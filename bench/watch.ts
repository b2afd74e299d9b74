import { bench, run } from 'mitata'
import { RunBus } from '../src/events/bus.ts'
import { World } from '../test/engine/world.ts'
import { block, document } from '../test/make.ts'

/** What does it cost a run that it can be watched, and that somebody does? `bun bench/watch.ts [watchers]` */
const watchers = Number(Bun.argv[2] ?? 10)
const world = new World()
const bus = new RunBus({
  observe: (executionId, observer) => world.runner.observe(executionId, observer),
  watchersMax: 1e6,
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

bench('a run of 5 blocks that nobody can watch', () => world.runner.execute({ ...facts, entry, input }))
bench('one that is expected to be watched, and is not', observed(0))
bench('one that somebody watches', observed(1))
bench(`one that ${watchers} watch`, observed(watchers))

await run()
process.exit()
