import type { BlockRun } from '../../run/block-run.ts'

/** How much went along a line in a run: in a loop the number of passes, otherwise the number of items of a list. */
export type LineCount = { text: string; title: string }

/**
 * The count that a line shows after a run; undefined when it says nothing, or when it is not known. `isOnly`: whether
 * no other line leads to the same block.
 */
export function lineCount({
  from,
  to,
  handle,
  isOnly,
}: {
  from: BlockRun | undefined
  to: BlockRun | undefined
  handle: string
  isOnly: () => boolean
}): LineCount | undefined {
  if (!from || !to || from.status === 'skipped' || to.status === 'skipped') return undefined
  // A plain output is taken by each pass that succeeds. Other outputs are taken by some.
  const isPlain = handle === 'source' || handle.endsWith('-end-source')
  const passes = isPlain ? from.executions - from.failures : isOnly() ? to.executions : 0
  if (passes > 1) return { text: `×${passes}`, title: `${passes} times` }
  const items = isPlain && passes === 1 ? from.glimpse?.items : undefined
  return items === undefined ? undefined : { text: String(items), title: items === 1 ? '1 item' : `${items} items` }
}
