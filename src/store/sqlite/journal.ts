import { statfsSync } from 'node:fs'
import { dirname } from 'node:path'
import type { Write } from '../../domain/write.ts'
import { failureOf, unavailable } from './failures.ts'
import { encodeGroup } from './group.ts'
import type { Taken } from './intake.ts'
import { JournalAdmission } from './journal-admission.ts'
import { halves, makeJournal } from './journal-file.ts'
import { JournalPen, truncate } from './journal-pen.ts'
import { tellRecords } from './messages.ts'
import type { Sync } from './open.ts'
import type { Thread } from './thread.ts'

export type JournalOptions = {
  databasePath: string
  sync: Sync
  /** The thread that has the database. */
  writer: Pick<Thread, 'takeIn' | 'beginJournal' | 'distrust'>
  /** A clock in milliseconds. */
  monotonic: () => number
  /** Told what the thread has taken in. */
  onTaken(taken: Taken): void
  /** Told of what somebody should look at, although nothing is lost by it. */
  onTrouble(what: string): void
}

/**
 * Puts a few writes on disk in the service's own thread, in front of the database: one write to the end of a file and one
 * flush, where committing takes three to six pages, and waking a thread and being woken by it longer than that (figures in
 * bench/store.ts). The writer's thread takes the records into the database behind everybody's back, many in one commit that
 * is not flushed. Whoever reads waits until it has taken in what was acknowledged before (`caughtUp`). Runs that end
 * alone so wait for nothing else that this thread does, be it retention or a long transaction.
 *
 * none → preparing → ready → none. The first group goes to the thread, and has the journal prepared: its files have their
 * full size before they are used, and they are used only while there is room for what comes after. A failure ends in
 * `none`, with everything going to the thread, for a minute; then the journal is prepared anew, which takes a flushed commit and
 * all that is left of the old one in the database.
 *
 * Two files are written in turns. One is written again when all that is in it is in the database and flushed there, which
 * the thread is asked for whenever a file is full. Where it is not that far yet, groups go to the thread as well, and wait
 * their turn: so what is behind stays bounded.
 *
 * The loop stands still while a group is flushed, so larger groups, everything on a slow disk, and everything for a second after a
 * stall go to the thread; one group a second learns whether the disk has become fast again.
 */
export class Journal {
  readonly #options: JournalOptions
  readonly #admission = new JournalAdmission()
  #state: 'none' | 'preparing' | 'ready' | 'closed' = 'none'
  #preparing: Promise<void> = Promise.resolve()
  #prepareAt = 0
  /** While it is ready. */
  #pen: JournalPen | undefined
  /** Records that the thread has not heard of, and the position of the first. */
  #untold: string[] = []
  #untoldFrom = 0
  #bytesWritten = 0
  /** Of those, how many the thread has taken in. */
  #bytesTaken = 0
  #taking: { upTo: number; done: Promise<void> } | undefined
  #timer: ReturnType<typeof setTimeout> | undefined
  #pausedUntil = 0
  /** When disk and files are to be looked at again. */
  #lookAt = 0
  #typicalMs = 0.3

  constructor(options: JournalOptions) {
    this.#options = options
  }

  /** True when the group is on disk, false when it should go to the thread. Throws what `append` of the port rejects with. */
  append(writes: readonly Write[]): boolean {
    const startedAt = this.#options.monotonic()
    const pen = this.#pen
    if (!pen) {
      if (this.#state === 'none' && startedAt >= this.#prepareAt) this.#preparing = this.#prepare()
      return false
    }
    if (writes.length > writesMax) {
      // Where many runs end at once the thread is worth its while, also for the smaller groups between the larger.
      this.#pauseUntil(startedAt + crowdedMs)
      return false
    }
    if (startedAt < this.#pausedUntil || this.#bytesWritten - this.#bytesTaken > behindBytesMax) return false
    if (!this.#admission.admits(writes)) return false
    if (startedAt >= this.#lookAt && !this.#isUsable(pen, startedAt)) return false
    const text = encodeGroup(writes)
    const bytes = this.#write(pen, text)
    if (bytes === undefined) return false
    if (this.#untold.push(text) === 1) this.#untoldFrom = pen.position
    this.#learnTime(this.#options.monotonic() - startedAt)
    this.#bytesWritten += bytes
    this.#admission.learn(writes)
    if (!this.#taking && this.#bytesWritten - this.#bytesTaken > takeInBytes) void this.#takeIn()
    else this.#timer ??= setTimeout(() => void this.#takeIn(), takeInMs)
    return true
  }

  /** Writes that the thread has committed: what it admitted once it admits again. */
  learn(writes: readonly Write[]): void {
    this.#admission.learn(writes)
  }

  /**
   * Resolves when the database has all that was put into the journal before; undefined when it has. False: it does not take
   * it in now. Never rejects.
   */
  caughtUp(): Promise<boolean> | undefined {
    const upTo = this.#bytesWritten
    return this.#bytesTaken === upTo ? undefined : this.#takeIn().then(() => this.#bytesTaken >= upTo)
  }

  /** What the database does not have yet. */
  get bytesWaiting(): number {
    return this.#bytesWritten - this.#bytesTaken
  }

  /**
   * Records for the thread, ahead of whatever it is asked next; undefined when it has heard of all. The journal itself is
   * not read while its process lives: whatever becomes of the files, nothing is lost but by a crash.
   */
  untold(): string | undefined {
    if (this.#untold.length === 0) return undefined
    const message = tellRecords(this.#untoldFrom, this.#untold)
    this.#untold = []
    return message
  }

  /** After an error of the disk that the thread met. What the journal does not need it gives back, in case the disk is full. */
  distrust(): void {
    this.#leave()
  }

  /** What the thread has not taken in yet it takes in when it is closed, later. */
  async close(): Promise<void> {
    await this.#preparing
    clearTimeout(this.#timer)
    await this.#taking?.done
    this.#pen?.close()
    this.#pen = undefined
    this.#state = 'closed'
  }

  /** If not, it is left. */
  #isUsable(pen: JournalPen, now: number): boolean {
    this.#lookAt = now + lookMs
    const isWhole = pen.isWhole
    if (isWhole && this.#diskHasRoom()) return true
    this.#leave()
    if (!isWhole) {
      // Flushed: nothing but the database has those runs now.
      void this.#takeIn(() => {})
      this.#options.onTrouble(filesAreGone)
    }
    return false
  }

  /** What is acknowledged now the database must have room for a moment later, or nobody can see it. */
  #diskHasRoom(): boolean {
    const { bavail, bsize } = statfsSync(dirname(this.#options.databasePath))
    return bavail * bsize >= roomBytesMin
  }

  #write(pen: JournalPen, text: string): number | undefined {
    try {
      return pen.write(text)
    } catch (error) {
      const { databasePath, writer } = this.#options
      this.#leave()
      writer.distrust()
      const failure = failureOf(error, databasePath)
      throw failure ? unavailable(failure.message, error) : error
    }
  }

  #learnTime(tookMs: number): void {
    // A running median: single slow flushes hardly move it, a slow disk does within some twenty.
    this.#typicalMs = Math.min(this.#typicalMs * (tookMs > this.#typicalMs ? 1.05 : 0.95), typicalMsMax)
    if (this.#typicalMs >= fastMs || tookMs >= stallMs) this.#pauseUntil(this.#options.monotonic() + slowMs)
  }

  #pauseUntil(at: number): void {
    this.#pausedUntil = Math.max(this.#pausedUntil, at)
  }

  /** `whenFlushed`: all of it is to be on disk without the journal; told of it. Never rejects. */
  #takeIn(whenFlushed?: () => void): Promise<void> {
    const upTo = this.#bytesWritten
    if (!whenFlushed && this.#taking?.upTo === upTo) return this.#taking.done
    clearTimeout(this.#timer)
    this.#timer = undefined
    const taking = { upTo, done: this.#askToTakeIn(upTo, whenFlushed) }
    this.#taking = taking
    return taking.done
  }

  async #askToTakeIn(upTo: number, whenFlushed: (() => void) | undefined): Promise<void> {
    const { writer, onTaken } = this.#options
    try {
      const taken = await writer.takeIn(whenFlushed !== undefined)
      this.#bytesTaken = Math.max(this.#bytesTaken, upTo)
      whenFlushed?.()
      onTaken(taken)
    } catch {
      this.#leave()
    } finally {
      if (this.#taking?.upTo === upTo) this.#taking = undefined
    }
  }

  async #prepare(): Promise<void> {
    const { databasePath, sync, writer, monotonic } = this.#options
    this.#state = 'preparing'
    let isEmpty = false
    try {
      if (!this.#diskHasRoom()) throw unavailable('There is no room for a journal')
      const generation = newGeneration()
      this.#admission.learnSequence(await writer.beginJournal(generation))
      this.#bytesTaken = this.#bytesWritten
      isEmpty = true
      await makeJournal(databasePath)
      const pen: JournalPen = new JournalPen({
        ...{ databasePath, sync, generation },
        onFull: (half) => void this.#takeIn(() => pen.isFree(half)),
      })
      this.#pen = pen
      this.#state = 'ready'
    } catch {
      // The disk shows in the writes that go to the thread.
      this.#prepareAt = monotonic() + againMs
      this.#state = 'none'
      if (isEmpty) for (const half of halves) truncate(databasePath, half)
    }
  }

  /** Back to the thread for a while. */
  #leave(): void {
    if (!this.#pen) return
    this.#state = 'none'
    this.#prepareAt = this.#options.monotonic() + againMs
    this.#pen.giveBack()
    this.#pen = undefined
    void this.caughtUp()
  }
}

/** An integer that no earlier one is likely to have been; 0 means none. */
function newGeneration(): number {
  return 1 + Math.floor(Math.random() * 2 ** 48)
}

const writesMax = 4
const crowdedMs = 20
/** What may be behind: 0.02 s of the thread's work, and much less than one of the files. */
const behindBytesMax = 2_097_152
/** Long enough for some hundred runs a commit when there are many, and for whoever does not read to not notice. */
const takeInMs = 10
const takeInBytes = 524_288
/** Many times what may be behind: others use the disk as well. */
const roomBytesMin = 33_554_432
const lookMs = 10
/** Where waiting for the disk begins to cost more than two threads waking each other. */
const fastMs = 0.8
const typicalMsMax = 2
const stallMs = 25
const slowMs = 1_000
const againMs = 60_000

const filesAreGone =
  'millrace.journal-a and -b were taken away or cut off while the service was using them: leave them alone as long as it runs. ' +
  'Nothing is lost; they are made anew'
