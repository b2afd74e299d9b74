import { setMember } from '../../domain/run/input.ts'
import { failureFacts } from '../responses/run-response.ts'
import type { RunEvents } from './run-events.ts'
import type { StreamFormat } from './stream-format.ts'

/** The last messages of a stream of `/api/v2`: `final`, or `error` when the run failed. */
export const streamFormatV2: StreamFormat = {
  ended({ record }, events) {
    const { failure, output } = record
    if (!failure) return { event: 'final', data: { success: true, output: selectedIn(events) ?? output ?? null } }
    const { error, blockId } = failureFacts(failure, record)
    return { event: 'error', ...(blockId !== null && { blockId }), error }
  },
  paused: (_end, events) => {
    return { event: 'final', data: { success: true, output: selectedIn(events) ?? null, status: 'paused' } }
  },
  lost: ({ message }) => ({ event: 'error', error: message }),
  terminator: '"[DONE]"',
}

/** The values of the selected outputs, by block and path; undefined when nothing was selected. */
function selectedIn(events: RunEvents): Record<string, unknown> | undefined {
  if (events.selected.length === 0) return undefined
  const found = events.found()
  const outputs: Record<string, Record<string, unknown>> = {}
  for (const { entry, blockId } of events.selected) {
    if (!Object.hasOwn(found, entry)) continue
    if (!Object.hasOwn(outputs, blockId)) setMember(outputs, blockId, {})
    setMember(outputs[blockId]!, entry.slice(entry.indexOf('.') + 1), found[entry])
  }
  return outputs
}
