import type { Clock, Timer } from '../domain/clock.ts'
import { Wheel } from './wheel.ts'

/** Calls back with what is due, however many things that are: a wheel, and one timer for what comes next in it. */
export class Reminders<About> {
  readonly #clock: Clock
  readonly #fire: (about: About) => void
  readonly #wheel: Wheel
  /** What each timer of the wheel is about. */
  readonly #abouts: (About | undefined)[] = []
  #alarm: { timer: Timer; at: number } | undefined
  #isStopped = false

  constructor(clock: Clock, fire: (about: About) => void) {
    this.#clock = clock
    this.#fire = fire
    this.#wheel = new Wheel(clock.monotonic())
  }

  get size(): number {
    return this.#wheel.size
  }

  /** The number by which it can be cancelled, until it fires. */
  set(delayMs: number, about: About): number {
    const number = this.#wheel.insert(this.#clock.monotonic() + delayMs)
    this.#abouts[number] = about
    this.#arm()
    return number
  }

  cancel(number: number): void {
    if (this.#wheel.cancel(number)) this.#abouts[number] = undefined
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
    const about = this.#abouts[number]
    this.#abouts[number] = undefined
    if (about !== undefined) this.#fire(about)
  }
}
