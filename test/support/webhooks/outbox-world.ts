import { noEnvironment } from '../../../src/domain/account/environment.ts'
import { LogSequence } from '../../../src/domain/ids.ts'
import type { OutboundPost, OutboundPosted } from '../../../src/domain/outbound-request.ts'
import type { LogRow } from '../../../src/domain/run/log.ts'
import type { DeliveryKey } from '../../../src/domain/webhook/delivery.ts'
import { AttemptWriter } from '../../../src/events/attempt-writer.ts'
import { openSqliteStore } from '../../../src/store/sqlite/sqlite-store.ts'
import type { Store } from '../../../src/store/store.ts'
import { Dispatcher } from '../../../src/webhooks/dispatcher.ts'
import type { DispatcherOptions } from '../../../src/webhooks/dispatcher-options.ts'
import { Subscriptions } from '../../../src/webhooks/subscriptions.ts'
import { ManualClock } from '../clock.ts'
import { temporaryFolder } from '../executable.ts'
import { type Installed, install, logRow } from '../store/installed.ts'

/** A dispatcher with a real store, a real attempt writer and a manual clock. `post` is called for every attempt. */
export class OutboxWorld {
  readonly clock = new ManualClock(Date.UTC(2025, 5, 1))
  readonly bugs: unknown[] = []
  readonly attempts: { key: string; body: string; url: string; at: number }[] = []
  post: (request: OutboundPost, delivery: string) => OutboundPosted | Promise<OutboundPosted> = () => accepted
  #folder = temporaryFolder()
  #sequence = new LogSequence(() => this.clock.now())
  #subscriptions: Subscriptions | undefined
  store!: Store
  home!: Installed
  writer!: AttemptWriter
  dispatcher!: Dispatcher

  static async open(more: Partial<DispatcherOptions> = {}): Promise<OutboxWorld> {
    const world = new OutboxWorld()
    world.store = await openSqliteStore({ directory: world.#folder.path, sync: 'normal', mode: 'direct' })
    world.home = await install(world.store)
    await world.start(more)
    return world
  }

  get subscriptions(): Subscriptions {
    this.#subscriptions ??= new Subscriptions({
      store: this.store,
      seal: (secret) => new TextEncoder().encode(secret),
      urlProblem: () => undefined,
      clock: this.clock,
    })
    return this.#subscriptions
  }

  /** A new process on the same store. */
  async start(more: Partial<DispatcherOptions> = {}): Promise<void> {
    const { store, clock } = this
    this.writer = new AttemptWriter({ store, clock })
    this.dispatcher = new Dispatcher({
      store,
      write: this.writer.write,
      subscriptionsOf: this.subscriptions.of,
      environmentOf: () => noEnvironment,
      openSecret: (sealed) => new TextDecoder().decode(sealed),
      freshen: (text) => text,
      post: async (request) => {
        const key = request.headers.find(([name]) => name === 'Idempotency-Key')![1]
        this.attempts.push({ key, body: request.body, url: request.url, at: clock.now() })
        return this.post(request, key)
      },
      clock,
      random: Math.random,
      concurrency: 500,
      hostConcurrency: 10,
      attemptsMax: 5,
      timeoutMs: 30_000,
      onBug: (error) => this.bugs.push(error),
      ...more,
    })
    await this.dispatcher.open()
  }

  /** The number of a new subscription. */
  async subscribe(id: string, url = `https://${id}.example/hook`, retryOnNetworkError = false): Promise<number> {
    const workflow = { id: this.home.workflowId, workspaceId: this.home.workspaceId }
    return (await this.subscriptions.create(workflow, { id, url, retryOnNetworkError })).number
  }

  /** A run that ends now with deliveries for these subscriptions; it is not given to the dispatcher. */
  row(subscriptions: readonly number[], more: Partial<LogRow> = {}): LogRow {
    const at = this.clock.now()
    const deliveries = subscriptions.map((subscription) => ({ subscription, include: 0 }))
    const webhooks = { deliveries, skipped: [], facts: null }
    return logRow(this.home, this.#sequence.next(), { startedAt: at - 10, endedAt: at, webhooks, ...more })
  }

  /** Records runs, and gives them to the dispatcher if `hands` is set. */
  async record(rows: readonly LogRow[], hands = true): Promise<void> {
    await this.store.append(rows.map((row) => ({ kind: 'log', row, output: null })))
    if (hands) for (const row of rows) this.dispatcher.take(row)
  }

  /** Waits until nothing more happens without time passing. */
  async quiet(): Promise<void> {
    do {
      await this.turn()
      await this.writer.flush()
      await this.turn()
    } while (!this.dispatcher.isQuiet)
  }

  turn(): Promise<void> {
    return new Promise((resolve) => setImmediate(resolve))
  }

  /** Moves the clock in steps. Whatever is due happens at the end of its step. */
  async pass(ms: number, stepMs = ms): Promise<void> {
    for (let left = ms; left > 0; left -= stepMs) {
      this.clock.advance(Math.min(stepMs, left))
      await this.quiet()
    }
  }

  async stateOf(key: DeliveryKey): Promise<string> {
    return (await this.store.getDelivery(key))?.state ?? 'gone'
  }

  async close(): Promise<void> {
    const stopped = this.dispatcher.stop(0)
    await this.turn()
    this.clock.advance(1)
    await stopped
    await this.writer.stop()
    await this.store.close()
    this.#folder[Symbol.dispose]()
  }
}

export const responded = (status: number, retryAfter?: string): OutboundPosted => ({
  ok: true,
  status,
  retryAfter,
  responseStart: new Uint8Array(),
})
export const accepted = responded(200)
