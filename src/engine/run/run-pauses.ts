import { type Clock, sleep } from '../../domain/clock.ts'
import { newId } from '../../domain/ids.ts'
import type { SpanPause } from '../../domain/run/log.ts'
import {
  type NewPause,
  type PauseAnswer,
  type PauseLinks,
  type PauseOutcome,
  type PauseRequest,
  pausedMsOf,
  type StoredPause,
} from '../../domain/run/pause.ts'

/** Why a run was suspended: nothing of it can proceed until one of these pauses ends. */
export class Paused {
  readonly pauses: readonly NewPause[]

  constructor(pauses: readonly NewPause[]) {
    this.pauses = pauses
  }
}

export type RunPausesOptions = {
  clock: Clock
  /** A wait that is not longer stays in memory. */
  inMemoryMs: number
  /** The pauses that the run had before it was suspended. */
  known: readonly StoredPause[]
  /** The pauses in the steps of the run before it was suspended. */
  recorded(): readonly SpanPause[]
  /** Until when a caller waits for the run; undefined when there is none. Epoch milliseconds. */
  callerWaitsUntil: number | undefined
  /** Suspends the run. */
  suspend(cause: Paused): void
  /** Call this before a new pause. Rejects when the workspace has too many pauses. */
  admit(): Promise<void>
  /** Writes a pause that the run does not wait for yet. Undefined where no pause can be answered. */
  open: ((pause: NewPause) => Promise<void>) | undefined
  /** Called when a pause has ended while the run was in memory, before its block continues. */
  resumed(ended: StoredPause): Promise<void>
  links: PauseSeal | undefined
}

/** Encrypts what is on disk of a run's pauses, and makes the links to them. */
export type PauseSeal = {
  linksOf(contextId: string): PauseLinks
  seal(text: string): Uint8Array
  open(sealed: Uint8Array): string
}

type Place = Pick<NewPause, 'place' | 'blockId' | 'blockName'>

/** Called when a pause of the block has ended. */
type NotePause = (pause: SpanPause) => void

const factsOf = ({ contextId, kind, since }: NewPause) => ({ contextId, kind, since })
const outcomeOf = ({ state }: StoredPause) => (state === 'expired' ? 'expired' : 'answered')

/**
 * The pauses of a run and of everything inside it. A run is suspended when at least one of its blocks is paused and
 * nothing else of it can proceed. To know that, it counts the work in progress: blocks, and reads between blocks.
 */
export class RunPauses {
  readonly #options: RunPausesOptions
  readonly #known: ReadonlyMap<string, StoredPause>
  readonly #open = new Map<string, NewPause>()
  /** Blocks that wait for an answer in memory, by the ID of their pause. */
  readonly #answers = new Map<string, (ended: StoredPause) => void>()
  /** The pauses that ended in this turn of the run or before it, by their ID. */
  readonly #noted = new Map<string, SpanPause>()
  /** Pauses are written one after the other: the first one makes a job of the run. */
  #opening: Promise<void> = Promise.resolve()
  #working = 0
  #isChecking = false

  constructor(options: RunPausesOptions) {
    this.#options = options
    this.#known = new Map(options.known.map((pause) => [pause.place, pause]))
  }

  /** To be called when work begins that does not pause by itself. */
  begin(): void {
    this.#working += 1
  }

  end(): void {
    this.#working -= 1
    this.#check()
  }

  /** Waits until a time, in memory or paused. Returns since when. Rejects with the reason of the signal. */
  async waitUntil(at: Place, until: number, signal: AbortSignal, note: NotePause): Promise<number> {
    const { clock, inMemoryMs, callerWaitsUntil } = this.#options
    const known = this.#known.get(at.place)
    if (known && known.state !== 'open') {
      this.#ended(note, {
        ...factsOf(known),
        outcome: outcomeOf(known),
        endedAt: known.endedAt ?? clock.now(),
        by: null,
      })
      return known.since
    }
    const now = clock.now()
    const fits = callerWaitsUntil === undefined ? until - now <= inMemoryMs : until <= callerWaitsUntil
    if (!known && fits) {
      await sleepUntil(clock, until, signal)
      return now
    }
    if (!known) await this.#options.admit()
    const pause = known ?? {
      ...at,
      ...({ contextId: newId(), kind: 'wait', since: now, until, content: null } as const),
    }
    this.#open.set(at.place, pause)
    this.end()
    try {
      // Other blocks of the run may still be busy when the time comes.
      await sleepUntil(clock, pause.until ?? until, signal)
    } finally {
      this.#open.delete(at.place)
      this.begin()
      // A wait that was never on disk does not count as a pause.
      if (known) {
        const outcome = signal.aborted ? 'cancelled' : 'expired'
        this.#ended(note, { ...factsOf(known), outcome, endedAt: clock.now(), by: null })
      }
    }
    return pause.since
  }

  /** Pauses at a block until it is answered or expires. */
  async pause(
    at: Place,
    { kind, until, content, remindEveryMs, opened, reminded }: PauseRequest,
    signal: AbortSignal,
    note: NotePause,
  ): Promise<PauseOutcome> {
    const { clock, links, open } = this.#options
    if (!links || !open) throw new Error('No pause can be answered here')
    const known = this.#known.get(at.place)
    let pause: NewPause | undefined = known
    if (!pause) {
      await this.#options.admit()
      const sealed = links.seal(JSON.stringify(content))
      pause = { ...at, contextId: newId(), kind, since: clock.now(), until, content: sealed }
      if (remindEveryMs !== undefined) pause.remindEveryMs = remindEveryMs
      const begun = pause
      const opening = this.#opening.then(() => open(begun))
      this.#opening = opening.catch(() => undefined)
      await opening
      pause = { ...pause, isOpened: true }
    }
    const { contextId } = pause
    const facts = { id: contextId, ...links.linksOf(contextId) }
    this.#noteEarlier(at.place, note)
    opened(facts)
    for (let number = 1; number <= (known?.reminders ?? 0); number += 1) reminded?.(number, known?.state !== 'open')
    try {
      const ended = known && known.state !== 'open' ? known : await this.#answerTo(at.place, pause, signal)
      const answers = ended.answer === null ? [] : (JSON.parse(links.open(ended.answer)) as PauseAnswer[])
      const endedAt = ended.endedAt ?? clock.now()
      this.#ended(note, { ...factsOf(pause), outcome: outcomeOf(ended), endedAt, by: answers.at(-1)?.by ?? null })
      return { pause: facts, isExpired: ended.state === 'expired', endedAt, answers }
    } catch (error) {
      if (signal.aborted) this.#ended(note, { ...factsOf(pause), outcome: 'cancelled', endedAt: clock.now(), by: null })
      throw error
    }
  }

  /** How long the run was paused, until `at`. Undefined when it never was. */
  pausedMs(at: number): number | undefined {
    const ended = [...this.#noted.values(), ...this.#options.recorded()]
    const others = [...this.#known.values()].filter(({ contextId }) => !this.#noted.has(contextId))
    return pausedMsOf([...ended, ...others], at)
  }

  #ended(note: NotePause, pause: SpanPause): void {
    this.#noted.set(pause.contextId, pause)
    note(pause)
  }

  /** Notes the earlier pauses inside a block, such as those of previous questions of an agent. */
  #noteEarlier(place: string, note: NotePause): void {
    const end = place.indexOf('?')
    if (end === -1) return
    for (const pause of this.#known.values()) {
      if (pause.place === place || pause.state === 'open' || !pause.place.startsWith(place.slice(0, end + 1))) continue
      this.#ended(note, {
        ...factsOf(pause),
        outcome: outcomeOf(pause),
        endedAt: pause.endedAt ?? pause.since,
        by: null,
      })
    }
  }

  /** To be called when a pause has ended while its run is in memory. */
  answered(ended: StoredPause): void {
    this.#answers.get(ended.contextId)?.(ended)
  }

  async #answerTo(place: string, pause: NewPause, signal: AbortSignal): Promise<StoredPause> {
    const { promise, resolve, reject } = Promise.withResolvers<StoredPause>()
    const abort = () => reject(signal.reason)
    if (signal.aborted) throw signal.reason
    signal.addEventListener('abort', abort, { once: true })
    this.#answers.set(pause.contextId, resolve)
    this.#open.set(place, pause)
    this.end()
    try {
      const ended = await promise
      await this.#options.resumed(ended)
      return ended
    } finally {
      signal.removeEventListener('abort', abort)
      this.#answers.delete(pause.contextId)
      this.#open.delete(place)
      this.begin()
    }
  }

  /** In a later turn of the event loop: a block that has ended may start another one in this turn. */
  #check(): void {
    if (this.#isChecking || this.#working > 0 || this.#open.size === 0) return
    this.#isChecking = true
    setImmediate(() => {
      this.#isChecking = false
      if (this.#working === 0 && this.#open.size > 0) this.#options.suspend(new Paused([...this.#open.values()]))
    })
  }
}

/** Waits until a time, however far away. */
export async function sleepUntil(clock: Clock, until: number, signal: AbortSignal): Promise<void> {
  for (let left = until - clock.now(); left > 0; left = until - clock.now()) {
    await sleep(clock, Math.min(left, timerMsMax), signal)
  }
}

/** Timers of the system cannot be longer. */
const timerMsMax = 2_147_483_647

/** The secret part of a link. */
export function tokenIn(url: string): string {
  return url.slice(url.lastIndexOf('/') + 1)
}

export const cannotPause =
  'This run cannot wait for an answer: it is a manual run, it runs in a command, or a tool of an agent started it. ' +
  'Deploy the workflow and execute it.'
