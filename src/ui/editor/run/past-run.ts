import { eventsAddress, readEvents } from './read-events.ts'
import type { RunEvent } from './run-event.ts'
import { fold, idle, type RunState } from './run-state.ts'

/** The state of a run that has ended; undefined when it is still running. Throws `ApiError` for an unknown run. */
export async function pastRun(executionId: string, signal: AbortSignal): Promise<RunState | undefined> {
  let state: RunState = { ...idle, executionId, wholeId: executionId, isPast: true }
  for await (const event of readEvents(eventsAddress(executionId), signal)) {
    const { event: name } = event as RunEvent
    if (name === 'block.started' || name === 'block.chunk') return undefined
    state = fold(state, event as RunEvent)
  }
  return state.phase === 'running' ? undefined : state
}
