import type { Clock } from '../../domain/clock.ts'
import { AppError, problemsError } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import {
  type EndedPause,
  nothingAsked,
  type PauseAnswer,
  type PauseContent,
  type PauseEnd,
  type StoredPause,
} from '../../domain/run/pause.ts'
import { readForm } from '../../domain/workflow/form-values.ts'
import { endedBefore } from './pause-commands.ts'

export type PauseAnswersOptions = {
  store: {
    endPause(end: PauseEnd): Promise<EndedPause | undefined>
    getPause(contextId: string): Promise<StoredPause | undefined>
  }
  clock: Clock
  seal(text: string, executionId: string): Uint8Array
  open(sealed: Uint8Array, executionId: string): string
  /** Continues the run of a pause that has ended. */
  goOn(ended: EndedPause): void
}

/** A pause that people or programs can answer, with everything that is encrypted on disk. */
export type AskedPause = { pause: StoredPause; content: PauseContent; answers: readonly PauseAnswer[] }

/**
 * `fields`: as `answerValues` returns them, with the stored files in place of file items. `call`: the request, for a
 * pause that waits for a call.
 */
export type GivenAnswer = {
  approved: boolean
  fields: Record<string, unknown>
  by: string | null
  call?: Pick<PauseAnswer, 'data' | 'headers' | 'query'>
}

export type AnswerOutcome = 'resumed' | 'waiting for others'

/** Answers of people and programs. Each one is on disk before its sender gets a response, and one ends the pause. */
export class PauseAnswers {
  readonly #options: PauseAnswersOptions

  constructor(options: PauseAnswersOptions) {
    this.#options = options
  }

  /** Undefined when there is no such pause, or it waits for a time only. */
  async find(contextId: string): Promise<AskedPause | undefined> {
    const pause = await this.#options.store.getPause(contextId)
    return pause && pause.kind !== 'wait' ? this.read(pause) : undefined
  }

  /** Throws CONFLICT for a second answer of the same account. */
  async answer(asked: AskedPause, given: GivenAnswer): Promise<AnswerOutcome> {
    const { store, clock, seal, goOn } = this.#options
    let current = asked
    for (;;) {
      const { pause, content, answers } = current
      if (pause.state !== 'open') throw endedBefore(pause)
      if (given.by !== null && answers.some(({ by }) => by === given.by)) {
        throw new AppError('CONFLICT', 'You have answered before. The run still waits for answers from others.')
      }
      const { approved, by, call, fields } = given
      const all = [...answers, { approved, by, at: clock.now(), fields, ...call }]
      const isLast = !approved || all.length >= content.required
      const ended = await store.endPause({
        ...{ contextId: pause.contextId, state: isLast ? 'answered' : 'open', at: clock.now(), after: pause.answer },
        answer: seal(JSON.stringify(all), pause.executionId),
      })
      if (!ended) throw endedBefore({ state: 'cancelled' })
      if (ended.isEndedNow) {
        if (!isLast) return 'waiting for others'
        goOn(ended)
        return 'resumed'
      }
      // Somebody else has answered in the meantime.
      current = this.read(ended.pause)
    }
  }

  /** Decrypts what a pause asks, and its answers. */
  read(pause: StoredPause): AskedPause {
    const answers = (this.#parse(pause, pause.answer) ?? []) as PauseAnswer[]
    return { pause, content: this.#contentOf(pause), answers }
  }

  /** Decrypts only the facts that a list of pauses shows. */
  readListed(pause: StoredPause): Pick<AskedPause, 'pause' | 'content'> {
    return { pause, content: pause.kind === 'approval' ? this.#contentOf(pause) : nothingAsked }
  }

  #contentOf(pause: StoredPause): PauseContent {
    return (this.#parse(pause, pause.content) ?? nothingAsked) as PauseContent
  }

  #parse({ executionId }: StoredPause, sealed: Uint8Array | null): unknown {
    return sealed === null ? null : JSON.parse(this.#options.open(sealed, executionId))
  }
}

/** The values of an approval's form, for `GivenAnswer`. A rejection may leave fields empty. Throws INVALID_INPUT. */
export function answerValues(
  { pause, content }: AskedPause,
  { approved, fields }: { approved: boolean; fields: unknown },
): Record<string, unknown> {
  if (pause.kind !== 'approval') return {}
  const reading = readForm(isObject(fields) ? fields : {}, content.fields, { isPartial: !approved })
  if (!reading.ok) throw problemsError('INVALID_INPUT', reading.details)
  return reading.values
}
