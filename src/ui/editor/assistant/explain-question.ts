import type { Question } from './conversation.ts'

/** Asks why a run failed. `block`: the name of the block that failed. */
export function explainQuestion(executionId: string, block?: string): Question {
  const place = block === undefined ? '' : ` at the block "${block}"`
  const ask = (run: string) => `Explain why ${run} failed${place}, and propose a correction.`
  return { text: ask(`the run ${executionId}`), shown: ask('the run') }
}
