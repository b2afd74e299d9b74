import { messageOf } from '../../../domain/errors.ts'
import type { PausedResponse } from '../../responses/pauses/pause-schemas.ts'
import { textResult } from './tool-result.ts'

/** The result of a run that failed. */
export function failedText(facts: Record<'error' | 'code' | 'blockId' | 'blockName' | 'executionId', unknown>): string {
  const { error, blockName, executionId } = facts
  const where = blockName === null ? '' : ` in the block "${blockName}"`
  const text = `The run failed${where}: ${error}\nget_run shows what happened in the run ${executionId}.`
  return textResult(text, facts, true)
}

/** The result of a run that is paused. */
export function pausedText(facts: PausedResponse): string {
  const waits = facts.paused.map(({ blockName, kind, until }) => {
    return `"${blockName}" (${kind}${until === null ? '' : `, until ${until}`})`
  })
  const text =
    `The run ${facts.executionId} is paused at ${waits.join(', ')}. It has no result yet, and continues without you ` +
    'when the pause is answered or ends. Do not call the tool again for the same work. get_run shows the state of ' +
    `the run; GET ${facts.statusUrl} returns its output when it has ended.`
  return textResult(text, facts)
}

/** The result of a start that the workflow combines with later ones. */
export function acceptedText(executionId: string): string {
  const text =
    `The run ${executionId} starts later, because the workflow combines starts that come shortly after each other. ` +
    'get_run shows its state.'
  return textResult(text, { success: true, status: 'queued', executionId })
}

/** The result of a start that the limits of the workflow skipped. */
export function skippedText(thrown: unknown): string {
  return textResult(`Nothing was run. ${messageOf(thrown)}.`, { success: true, status: 'skipped' })
}
