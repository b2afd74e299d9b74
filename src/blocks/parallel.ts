import { Type as t } from '@sinclair/typebox'
import { limitSettings } from '../domain/limits.ts'
import { BlockError, type BlockErrorData, type Body, defineBlock } from '../engine/block.ts'
import { addOutcome, countOf, listOf } from './loop.ts'

export const parallel = defineBlock({
  type: 'parallel',
  label: 'Parallel',
  description: 'Runs its inner blocks several times at the same time.',
  kind: 'container',
  isRepeatable: true,
  parameters: t.Object({}),
  outputs: ['results'],
  mayFail: true,
  async run(_params, { body, limits }) {
    if (!body) throw new Error('A parallel was compiled without a body')
    const settings = body.settings()
    const items = settings['parallelType'] === 'collection' ? listOf(settings['distribution']) : null
    const count = items ? items.length : countOf(settings['count'], 'Times')
    if (count > limits.parallelBranchesMax) {
      throw new BlockError(
        'EXECUTION_FAILED',
        `The parallel needs ${count} branches; at most ${limits.parallelBranchesMax} are allowed ` +
          `(${limitSettings.parallelBranchesMax}).`,
      )
    }
    const wanted = settings['concurrency'] ?? null
    const atOnce = wanted === null ? limits.parallelConcurrencyMax : countOf(wanted, 'At the same time', 1)
    if (atOnce > limits.parallelConcurrencyMax) {
      throw new BlockError(
        'EXECUTION_FAILED',
        `The parallel needs ${atOnce} branches at once; at most ${limits.parallelConcurrencyMax} are allowed ` +
          `(${limitSettings.parallelConcurrencyMax}).`,
      )
    }
    const branches = { body, count, items, continuesOnError: settings['onError'] === 'continue' }
    return runBranches(branches, atOnce)
  },
})

type Branches = { body: Body; count: number; items: readonly unknown[] | null; continuesOnError: boolean }

async function runBranches({ body, count, items, continuesOnError }: Branches, atOnce: number) {
  const results: unknown[] = new Array(count).fill(null)
  let next = 0
  let failed: BlockErrorData | undefined
  const work = async () => {
    while (next < count && !failed && !body.ended) {
      const index = next
      next += 1
      const outcome = await body.iterate({ index, currentItem: items ? items[index] : index, items })
      const error = addOutcome(results, index, outcome, continuesOnError)
      if (!error || failed) continue
      failed = error
      body.stop()
    }
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, count) }, work))
  return failed ? { outputs: { results }, error: failed } : { outputs: { results } }
}
