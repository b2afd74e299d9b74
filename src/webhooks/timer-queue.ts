import type { Clock, Timer } from '../domain/clock.ts'
import { Wheel } from './wheel.ts'

/** Very many timers: a wheel, and one timer of the clock for the entry that is due next. */
export class TimerQueue<Subject> {
  readonly #clock: Clock
  readonly #fire: (subject: Subject) => void
  readonly #wheel: Wheel
  /** The subject of each timer in the wheel. */
  readonly #subjects: (Subject | undefined)[] = []
  #alarm: { timer: Timer; at: number } | undefined
  #isStopped = false

  constructor(clock: Clock, fire: (subject: Subject) => void) {
    this.#clock = clock
    this.#fire = fire
    this.#wheel = new Wheel(clock.monotonic())
  }

  get size(): number {
    return this.#wheel.size
  }

  /** Returns the number that cancels the timer until it fires. */
  set(delayMs: number, subject: Subject): number {
    const number = this.#wheel.insert(this.#clock.monotonic() + delayMs)
    this.#subjects[number] = subject
    this.#arm()
    return number
  }

  cancel(number: number): void {
    if (this.#wheel.cancel(number)) this.#subjects[number] = undefined
  }

  stop(): void {
    this.#isStopped = true
    this.#alarm?.timer.cancel()
  }

  #arm(): void {
    const at = this.#wheel.nextAt()
    if (at === undefined || this.#isStopped || (this.#alarm && this.#alarm.at <= at)) return
    this.#alarm?.timer.cancel()
    const timer = this.#clock.setTimer(at - this.#clock.monotonic(), () => {
      this.#alarm = undefined
      this.#wheel.expire(this.#clock.monotonic(), (number) => this.#expire(number))
      this.#arm()
    })
    this.#alarm = { timer, at }
  }

  #expire(number: number): void {
    const subject = this.#subjects[number]
    this.#subjects[number] = undefined
    if (subject !== undefined) this.#fire(subject)
  }
}
