import { AppError } from '../domain/errors.ts'
import { FairShare } from '../domain/fair-share.ts'
import { limitSettings } from '../domain/limits.ts'
import { StreamRedactor } from '../domain/redaction/stream-redactor.ts'
import type { RunRecord, Span } from '../domain/run/log.ts'
import type { BlockPlace, RunInSight, RunObserver } from '../domain/run/run-observer.ts'
import { LiveTexts } from './live-text.ts'

/** A reader of a run's live events. It limits its own queue, and leaves when it is too slow. */
export type Watcher = {
  /** JSON of a `LiveEvent`. */
  message(text: string): void
  /** There is nothing more to come. */
  end(): void
}

/** The known facts of a run that has not begun: it may have to wait for its environment. */
export type ExpectedRun = Pick<RunInSight, 'executionId' | 'workspaceId'>

export type RunBusOptions = {
  /** Attaches an observer to a run in flight. False when the run is not in flight. */
  observe(executionId: string, observer: RunObserver): boolean
  /** The most watchers at once, of all runs together. Workspaces share them. */
  watchersMax: number
  shareFactor: number
}

/**
 * Live events of runs in flight. An unwatched run costs nothing: the bus observes it from the arrival of the first
 * watcher on, and reads earlier events from its spans, which are in memory while it runs. A run that will be watched is
 * observed from its start, so that no streamed text is missed.
 */
export class RunBus {
  readonly #options: RunBusOptions
  readonly #channels = new Map<string, RunChannel>()
  readonly #watchers: FairShare

  constructor(options: RunBusOptions) {
    this.#options = options
    this.#watchers = new FairShare({ total: options.watchersMax, factor: options.shareFactor })
  }

  /** Runs that are observed. */
  get channels(): number {
    return this.#channels.size
  }

  get watchers(): number {
    return this.#watchers.used
  }

  /** A run that is observed, or is about to start. */
  find(executionId: string): ExpectedRun | undefined {
    const channel = this.#channels.get(executionId)
    return channel?.run ?? channel?.expected
  }

  /** The observer for a run that is about to start. The caller must report the run's end to it. */
  open(run: ExpectedRun): RunObserver {
    const { executionId } = run
    const channel = new RunChannel(() => this.#channels.delete(executionId), run)
    this.#channels.set(executionId, channel)
    return channel
  }

  /** The watchers that wait for a run to begin. The caller must report its start, or its end if it never starts. */
  awaiting(executionId: string): RunObserver | undefined {
    const channel = this.#channels.get(executionId)
    return channel?.run ? undefined : channel
  }

  /** A run has ended without having begun; its log entry is on disk. */
  passed(record: RunRecord): void {
    const observer = this.awaiting(record.executionId)
    observer?.began?.(record)
    observer?.recorded?.(record)
  }

  /** Sends the events of a run that has already ended to the watchers that wait for its start. */
  settle(executionId: string, messages: readonly string[]): void {
    const channel = this.#channels.get(executionId)
    if (channel && !channel.run) channel.settle(messages)
  }

  /** Ends the wait of all watchers: no more runs will begin. */
  close(): void {
    for (const channel of [...this.#channels.values()]) if (!channel.run) channel.lost()
  }

  /**
   * Adds a watcher and sends it the events so far. Returns a function that removes it; undefined when the run is not in
   * flight. With `expected` it waits for a run that has not begun. Throws OVERLOADED when there are too many watchers.
   */
  watch(executionId: string, watcher: Watcher, expected?: ExpectedRun): (() => void) | undefined {
    const { observe, watchersMax } = this.#options
    const workspaceId = expected?.workspaceId ?? this.find(executionId)?.workspaceId ?? ''
    if (!this.#watchers.hasRoom(workspaceId)) {
      const message =
        `The workspace already has its share of the ${watchersMax} readers who may watch runs live. Try again in a ` +
        `moment, or raise MILLRACE_WATCHERS_MAX or ${limitSettings.shareFactor}.`
      throw new AppError('OVERLOADED', message, { retryAfterS: 5 })
    }
    let channel = this.#channels.get(executionId)
    if (!channel) {
      channel = new RunChannel(() => this.#channels.delete(executionId), expected, true)
      if (!observe(executionId, channel) && !expected) return undefined
      this.#channels.set(executionId, channel)
    }
    this.#watchers.take(workspaceId)
    const counted: Watcher = {
      message: (text) => watcher.message(text),
      end: () => {
        leave()
        watcher.end()
      },
    }
    let hasLeft = false
    const leave = () => {
      if (hasLeft) return
      hasLeft = true
      this.#watchers.release(workspaceId)
      channel.remove(counted)
    }
    channel.add(counted)
    return leave
  }
}

/** The watchers of one run, and the state that their events need. */
class RunChannel implements RunObserver {
  readonly #ended: () => void
  readonly expected: ExpectedRun | undefined
  /** Whether only watchers keep the channel open, because no other caller reports the run's end. */
  readonly #isForWatchers: boolean
  readonly #watchers = new Set<Watcher>()
  /** The text that open blocks have streamed. */
  readonly #streams = new Map<Span, StreamedText>()
  /** Undefined until it begins. */
  run: RunInSight | undefined
  #texts: LiveTexts | undefined

  constructor(ended: () => void, expected: ExpectedRun | undefined, isForWatchers = false) {
    this.#ended = ended
    this.expected = expected
    this.#isForWatchers = isForWatchers
  }

  add(watcher: Watcher): void {
    this.#watchers.add(watcher)
    if (this.run) this.#tellSoFar(this.run, [watcher])
  }

  remove(watcher: Watcher): void {
    this.#watchers.delete(watcher)
    if (this.#isForWatchers && !this.run && this.#watchers.size === 0) this.#ended()
  }

  began(run: RunInSight): void {
    this.run = run
    this.#texts = new LiveTexts(run)
    if (this.#watchers.size > 0) this.#tellSoFar(run, this.#watchers)
  }

  started(span: Span, place: BlockPlace): void {
    this.#tell((texts) => texts.blockStarted(span, place))
  }

  chunk(span: Span, text: string, place: BlockPlace): void {
    let streamed = this.#streams.get(span)
    if (!streamed) {
      streamed = new StreamedText(this.run)
      this.#streams.set(span, streamed)
    }
    const given = streamed.push(text)
    if (given !== '') this.#tell((texts) => texts.blockChunk(span, given, place))
  }

  ended(span: Span, place: BlockPlace): void {
    const rest = this.#streams.get(span)?.end() ?? ''
    this.#streams.delete(span)
    if (rest !== '') this.#tell((texts) => texts.blockChunk(span, rest, place))
    this.#tell((texts) => texts.blockEnded(span, place))
  }

  recorded({ failure, output, cost, endedAt, durationMs }: RunRecord): void {
    this.#close((texts) => texts.runEnded({ failure, output, cost, endedAt, durationMs }))
  }

  lost(): void {
    this.#close((texts) => texts.runLost())
  }

  /** For a run whose end only the log reports. */
  settle(messages: readonly string[]): void {
    for (const watcher of [...this.#watchers]) for (const message of messages) watcher.message(message)
    this.#end()
  }

  #close(write: (texts: LiveTexts) => string): void {
    this.#tell(write)
    this.#end()
  }

  #end(): void {
    this.#ended()
    for (const watcher of [...this.#watchers]) watcher.end()
  }

  #tellSoFar({ root }: RunInSight, watchers: Iterable<Watcher>): void {
    const messages = this.#texts?.soFar(root, (span) => this.#streams.get(span)?.given) ?? []
    for (const watcher of [...watchers]) for (const message of messages) watcher.message(message)
  }

  /** Writes nothing while there is no watcher. */
  #tell(write: (texts: LiveTexts) => string): void {
    if (this.#watchers.size === 0 || !this.#texts) return
    const message = write(this.#texts)
    for (const watcher of [...this.#watchers]) watcher.message(message)
  }
}

/** The text that a block has streamed, without secrets; only the end of a long text. */
class StreamedText {
  readonly #redactor: StreamRedactor
  given = ''

  constructor(run: RunInSight | undefined) {
    this.#redactor = new StreamRedactor(run?.secrets)
  }

  push(text: string): string {
    return this.#keep(this.#redactor.push(text))
  }

  end(): string {
    return this.#keep(this.#redactor.end())
  }

  #keep(text: string): string {
    this.given += text
    // Only now and then, because each cut copies the text.
    if (this.given.length > 2 * streamedCharsMax) this.given = this.given.slice(-streamedCharsMax)
    return text
  }
}

const streamedCharsMax = 65_536
