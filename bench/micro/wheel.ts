import { bench, do_not_optimize, run, summary } from 'mitata'
import { Wheel } from '../../src/webhooks/wheel.ts'

/**
 * How much does a timer cost while a million others are pending: in the wheel, in a binary heap of typed arrays, and as
 * `setTimeout`? All figures are per timer. `bun bench/micro/wheel.ts [pending]`
 */
const pending = Number(Bun.argv[2] ?? 1_000_000)
const horizonMs = 600_000
const batch = 10_000
const rounds = 5

/** A heap comparable with the wheel: no objects, and stored positions so that any timer can be cancelled. */
class Heap {
  readonly #dueAt: Float64Array
  /** Timers in heap order, and the position of each timer. */
  readonly #heap: Int32Array
  readonly #place: Int32Array
  readonly #free: number[] = []
  #size = 0
  #fresh = 0

  constructor(capacity: number) {
    this.#dueAt = new Float64Array(capacity)
    this.#heap = new Int32Array(capacity)
    this.#place = new Int32Array(capacity)
  }

  insert(dueAt: number): number {
    const timer = this.#free.pop() ?? this.#fresh++
    this.#dueAt[timer] = dueAt
    this.#up(timer, this.#size++)
    return timer
  }

  cancel(timer: number): void {
    const place = this.#place[timer]!
    const last = this.#heap[--this.#size]!
    this.#free.push(timer)
    if (last === timer) return
    this.#up(last, place)
    if (this.#heap[place] === last) this.#down(last, place)
  }

  expire(now: number, fire: (timer: number) => void): void {
    while (this.#size > 0 && this.#dueAt[this.#heap[0]!]! <= now) {
      const timer = this.#heap[0]!
      this.cancel(timer)
      fire(timer)
    }
  }

  #up(timer: number, from: number): void {
    let at = from
    while (at > 0) {
      const parent = (at - 1) >> 1
      const other = this.#heap[parent]!
      if (this.#dueAt[other]! <= this.#dueAt[timer]!) break
      this.#put(other, at)
      at = parent
    }
    this.#put(timer, at)
  }

  #down(timer: number, from: number): void {
    let at = from
    for (;;) {
      let child = at * 2 + 1
      if (child >= this.#size) break
      if (child + 1 < this.#size && this.#dueAt[this.#heap[child + 1]!]! < this.#dueAt[this.#heap[child]!]!) child += 1
      const other = this.#heap[child]!
      if (this.#dueAt[other]! >= this.#dueAt[timer]!) break
      this.#put(other, at)
      at = child
    }
    this.#put(timer, at)
  }

  #put(timer: number, at: number): void {
    this.#heap[at] = timer
    this.#place[timer] = at
  }
}

// Created before the measurement, and the same for all.
const random = new Float64Array(pending + batch).map(() => Math.ceil(Math.random() * horizonMs))
const numbers = new Int32Array(pending)
const fire = (timer: number) => do_not_optimize(timer)

type Timers = {
  insert(dueAt: number): number
  cancel(timer: number): unknown
  expire(now: number, fire: (timer: number) => void): void
}
const kinds: Record<string, () => Timers> = {
  wheel: () => new Wheel(0, { capacity: pending + batch }),
  heap: () => new Heap(pending + batch),
}

function filled(make: () => Timers): Timers {
  const timers = make()
  for (let index = 0; index < pending; index += 1) numbers[index] = timers.insert(random[index]!)
  return timers
}

/** Milliseconds to insert a million timers, to cancel half of them, and to fire the rest, in steps of 10 ms. */
function pass(make: () => Timers): number[] {
  const start = performance.now()
  const timers = filled(make)
  const inserted = performance.now()
  for (let index = 0; index < pending; index += 2) timers.cancel(numbers[index]!)
  const cancelled = performance.now()
  for (let now = 0; now <= horizonMs; now += 10) timers.expire(now, fire)
  return [inserted - start, cancelled - inserted, performance.now() - cancelled]
}

/** The runtime's own timers. They fire in real time, so firing is not measured. */
function passOfTimeouts(): number[] {
  const handles: Timer[] = []
  const start = performance.now()
  for (let index = 0; index < pending; index += 1) handles.push(setTimeout(fire, horizonMs + random[index]!, index))
  const inserted = performance.now()
  for (const handle of handles) clearTimeout(handle)
  return [inserted - start, (performance.now() - inserted) / 2, Number.NaN]
}

const passes = Object.entries(kinds).map(([name, make]) => [name, () => pass(make)] as const)
const times = Map.groupBy(
  Array.from({ length: rounds }, () =>
    [...passes, ['setTimeout', passOfTimeouts] as const].map(([name, run]) => ({ name, ms: run() })),
  ).flat(),
  ({ name }) => name,
)
console.log(`${pending} timers, medians of ${rounds} rounds: millions a second, and bytes a timer`)
console.log('            insert  cancel  expire   bytes')
for (const [name, of] of times) {
  const median = (part: number) => of.map(({ ms }) => ms[part]!).toSorted((a, b) => a - b)[rounds >> 1]!
  const rates = [pending, pending / 2, pending / 2].map((count, part) => count / median(part) / 1_000)
  const cells = rates.map((rate) => (Number.isNaN(rate) ? '-' : rate.toFixed(1)).padStart(6)).join('  ')
  console.log(`${name.padEnd(11)} ${cells}  ${bytesATimer(name).padStart(6)}`)
}
console.log('')

/** The growth of the heap by the collector's own account, including typed arrays. */
function bytesATimer(name: string): string {
  const make = kinds[name]
  if (!make) return '-'
  Bun.gc(true)
  const before = process.memoryUsage().heapUsed
  const timers = filled(make)
  Bun.gc(true)
  const bytes = process.memoryUsage().heapUsed - before
  do_not_optimize(timers)
  return (bytes / pending).toFixed(1)
}

summary(() => {
  for (const [name, make] of Object.entries(kinds)) {
    const timers = filled(make)
    bench(`${name}: ${batch} in and out, ${pending} pending`, () => {
      for (let index = 0; index < batch; index += 1) numbers[index] = timers.insert(random[pending + index]!)
      for (let index = 0; index < batch; index += 1) timers.cancel(numbers[index]!)
    })
  }
})
await run()
