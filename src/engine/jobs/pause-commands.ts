import type { Clock } from '../../domain/clock.ts'
import { AppError } from '../../domain/errors.ts'
import type { EndedPause, PauseEnd, StoredPause } from '../../domain/run/pause.ts'

export type PauseCommandsOptions = {
  store: {
    endPause(end: PauseEnd): Promise<EndedPause | undefined>
    extendPause(contextId: string, until: number | null): Promise<StoredPause | undefined>
    getPause(contextId: string): Promise<StoredPause | undefined>
  }
  clock: Clock
  /** Continues the run of a pause that has ended. */
  goOn(ended: EndedPause): void
  /** Called with the new time of a pause. */
  noted(until: number | null): void
}

/** Ends and changes pauses on behalf of people and programs. */
export class PauseCommands {
  readonly #options: PauseCommandsOptions

  constructor(options: PauseCommandsOptions) {
    this.#options = options
  }

  /** Lets a run go on. Throws ALREADY_RESUMED, EXPIRED or CANCELLED when its pause has ended before. */
  async resume(contextId: string): Promise<StoredPause> {
    const { store, clock, goOn } = this.#options
    const ended = await store.endPause({ contextId, state: 'answered', at: clock.now(), answer: null })
    if (!ended) throw unknownPause(contextId)
    if (!ended.isEndedNow) throw endedBefore(ended.pause)
    goOn(ended)
    return ended.pause
  }

  /** Changes when a pause ends by itself; null: never. Throws like `resume`. */
  async extend(contextId: string, until: number | null): Promise<StoredPause> {
    const { store, noted } = this.#options
    const pause = await store.extendPause(contextId, until)
    if (pause) {
      noted(until)
      return pause
    }
    const found = await store.getPause(contextId)
    throw found ? endedBefore(found) : unknownPause(contextId)
  }
}

export function unknownPause(contextId: string): AppError {
  return new AppError('NOT_FOUND', `There is no pause "${contextId.slice(0, 100)}".`)
}

/** The error for a pause that has ended: 409 with the outcome. */
export function endedBefore({ state }: Pick<StoredPause, 'state'>): AppError {
  if (state === 'expired')
    return new AppError('EXPIRED', 'This pause has expired, and its run has continued without an answer.')
  if (state === 'cancelled') return new AppError('CANCELLED', 'The run of this pause has ended.')
  return new AppError('ALREADY_RESUMED', 'This pause was answered before, and its run has continued.')
}
