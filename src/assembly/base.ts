import type { EventNotes } from '../alerts/event-notes.ts'
import type { Cluster } from '../cluster/cluster.ts'
import type { Config } from '../config.ts'
import type { Clock } from '../domain/clock.ts'
import type { Limits } from '../domain/limits.ts'
import type { PriceTable } from '../domain/run/model-prices.ts'
import type { SliceQueue } from '../domain/slice-queue.ts'
import type { AllowList } from '../outbound/addresses.ts'
import type { Store } from '../store/store.ts'
import type { Logger } from '../telemetry/logger.ts'
import type { RunTraces } from '../telemetry/otlp/run-traces.ts'
import type { Build, ServiceMetrics } from '../telemetry/service-metrics.ts'
import type { Garbage } from './garbage.ts'
import type { MailerParts } from './mailer.ts'

/** The base of all assemblies. It exists before them and until they have stopped. */
export type Base = {
  config: Config
  /** The limits of runs that `config` sets. */
  limits: Limits
  build: Build
  store: Store
  /** The processes that serve the same installation. */
  cluster: Cluster
  metrics: ServiceMetrics
  /** Exports runs as traces; undefined when they are not exported. */
  traces: RunTraces | undefined
  logger: Logger
  clock: Clock
  /** Addresses that workflows may call although they are not public. */
  outboundAllow: AllowList
  /** Prices of language models. */
  priceOf: PriceTable
  /** Remembers what the main thread begins, for the watchdog. */
  note(text: string): void
  /** Learns of memory that became free. */
  garbage: Garbage
  /** Events that alerts and event triggers may watch. */
  events: EventNotes
  /** Large pieces of work, which take turns. */
  slices: SliceQueue
  /** Sends e-mails of the service; undefined when the operator has set no mail server. */
  mailer: MailerParts | undefined
  /** The port that the service listens on. */
  port: number
}
