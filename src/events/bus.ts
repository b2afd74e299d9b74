import { AppError } from '../domain/errors.ts'
import type { RunRecord, Span } from '../domain/log.ts'
import type { BlockPlace, RunInSight, RunObserver } from '../domain/run-observer.ts'
import { StreamRedactor } from '../domain/stream-redactor.ts'
import { LiveTexts } from './live-text.ts'

/** Somebody who watches a run. Bounds what waits for it itself, and leaves when it is too slow. */
export type Watcher = {
  /** JSON of a `LiveEvent`. */
  message(text: string): void
  /** There is nothing more to come. */
  end(): void
}

/** What is known of a run before it begins: it may have to wait for its environment. */
export type ExpectedRun = Pick<RunInSight, 'executionId' | 'workspaceId'>

export type RunBusOptions = {
  /** Lets somebody watch a run in flight. False when it is not in flight. */
  observe(executionId: string, observer: RunObserver): boolean
  /** Watchers at once, of all runs. */
  watchersMax: number
}

/**
 * Live events of runs in flight. A run that nobody watches costs nothing: it is observed from the moment on when the
 * first watcher comes, and what happened before is read from its spans, which are in memory as long as it runs. A run
 * that is expected to be watched is observed from its start, so that no text is missed that its blocks stream.
 */
export class RunBus {
  readonly #options: RunBusOptions
  readonly #channels = new Map<string, RunChannel>()
  #watchers = 0

  constructor(options: RunBusOptions) {
    this.#options = options
  }

  /** Runs that are observed. */
  get channels(): number {
    return this.#channels.size
  }

  get watchers(): number {
    return this.#watchers
  }

  /** A run that is observed, or is about to start. */
  find(executionId: string): ExpectedRun | undefined {
    const channel = this.#channels.get(executionId)
    return channel?.run ?? channel?.expected
  }

  /** The observer for a run that is about to start. It is to be told of the run's end. */
  open(run: ExpectedRun): RunObserver {
    const { executionId } = run
    const channel = new RunChannel(() => this.#channels.delete(executionId), run)
    this.#channels.set(executionId, channel)
    return channel
  }

  /** Those who wait for a run to begin: they are to be told of it, or of its end if it never does. */
  awaiting(executionId: string): RunObserver | undefined {
    const channel = this.#channels.get(executionId)
    return channel?.run ? undefined : channel
  }

  /** A run has ended that did not begin; its log entry is on disk. */
  passed(record: RunRecord): void {
    const observer = this.awaiting(record.executionId)
    observer?.began?.(record)
    observer?.recorded?.(record)
  }

  /** Tells those who wait for a run to begin that it has ended already, and what happened in it. */
  settle(executionId: string, messages: readonly string[]): void {
    const channel = this.#channels.get(executionId)
    if (channel && !channel.run) channel.settle(messages)
  }

  /** No run that somebody waits for will begin any more. */
  close(): void {
    for (const channel of [...this.#channels.values()]) if (!channel.run) channel.lost()
  }

  /**
   * Adds a watcher, which hears at once of what has happened so far. Answers how it leaves; undefined when the run is not
   * in flight. One that is `expected` to begin is waited for. Throws OVERLOADED when there are too many.
   */
  watch(executionId: string, watcher: Watcher, expected?: ExpectedRun): (() => void) | undefined {
    const { observe, watchersMax } = this.#options
    if (this.#watchers >= watchersMax) {
      const message = `${watchersMax} readers watch runs at the moment, the most that MILLRACE_WATCHERS_MAX allows.`
      throw new AppError('OVERLOADED', message, { retryAfterS: 5 })
    }
    let channel = this.#channels.get(executionId)
    if (!channel) {
      channel = new RunChannel(() => this.#channels.delete(executionId), expected, true)
      if (!observe(executionId, channel) && !expected) return undefined
      this.#channels.set(executionId, channel)
    }
    this.#watchers += 1
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
      this.#watchers -= 1
      channel.remove(counted)
    }
    channel.add(counted)
    return leave
  }
}

/** The watchers of one run, and what they need to know of it. */
class RunChannel implements RunObserver {
  readonly #ended: () => void
  readonly expected: ExpectedRun | undefined
  /** Whether it is there for its watchers, and nobody else tells of the run's end. */
  readonly #isForWatchers: boolean
  readonly #watchers = new Set<Watcher>()
  /** What open blocks have streamed. */
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

  /** For a run of which nobody tells but the log. */
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

  /** Nothing is written as long as nobody watches. */
  #tell(write: (texts: LiveTexts) => string): void {
    if (this.#watchers.size === 0 || !this.#texts) return
    const message = write(this.#texts)
    for (const watcher of [...this.#watchers]) watcher.message(message)
  }
}

/** What a block has streamed, without secrets; of a long text its end. */
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
    // Not with every piece: that would copy the text each time.
    if (this.given.length > 2 * streamedCharsMax) this.given = this.given.slice(-streamedCharsMax)
    return text
  }
}

const streamedCharsMax = 65_536
