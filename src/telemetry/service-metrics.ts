import type { Clock } from '../domain/clock.ts'
import { shareRecent } from '../domain/share-recent.ts'
import { type AssistantCounts, addAssistantMetrics } from './assistant-metrics.ts'
import { CommitMetrics } from './commit-metrics.ts'
import { LoopLag } from './loop-lag.ts'
import { type Counter, type FamilyReading, type Labelled, Metrics } from './metrics.ts'
import { OutboundMetrics } from './outbound-metrics.ts'
import { PollMetrics } from './poll-metrics.ts'
import { addProcessMetrics } from './process-metrics.ts'
import { RequestMetrics } from './request-metrics.ts'
import { RunMetrics } from './run-metrics.ts'
import { ScheduleMetrics } from './schedule-metrics.ts'
import {
  addBackupMetrics,
  addRetentionCounts,
  addServiceGauges,
  addStoreGauges,
  type BackupCounts,
  type Watched,
} from './service-gauges.ts'
import { addMetricExportMetrics, addTraceMetrics, type ExportCounts, type SpanCounts } from './trace-metrics.ts'
import { WebhookMetrics } from './webhook-metrics.ts'

export type Build = { version: string; commit: string; bun: string }

/** All metrics of the service, in display order. */
export class ServiceMetrics {
  readonly #metrics: Metrics
  readonly #clock: Clock
  readonly requests: RequestMetrics
  readonly runs: RunMetrics
  readonly commits: CommitMetrics
  readonly outbound: OutboundMetrics
  readonly schedules: ScheduleMetrics
  readonly polls: PollMetrics
  readonly webhooks: WebhookMetrics
  readonly #refusals: Labelled<Counter>
  readonly #loopLag: LoopLag
  /** When the counting began. */
  readonly startedAt: number

  constructor({ clock, build }: { clock: Clock; build: Build }) {
    const metrics = new Metrics({ clock })
    this.#metrics = metrics
    this.#clock = clock
    this.startedAt = clock.now()
    this.requests = new RequestMetrics(metrics)
    this.#refusals = metrics.counters(
      'millrace_rate_limit_refusals_total',
      'Requests rejected because an account, or an address without a valid key, had used up its minute.',
      ['window'],
    )
    this.runs = new RunMetrics(metrics)
    this.commits = new CommitMetrics(metrics)
    this.outbound = new OutboundMetrics(metrics)
    this.schedules = new ScheduleMetrics(metrics)
    this.polls = new PollMetrics(metrics)
    this.webhooks = new WebhookMetrics(metrics)
    this.#loopLag = new LoopLag(metrics, clock)
    const { version, commit, bun } = build
    metrics.reading(
      { name: 'millrace_build_info', help: 'The running build.', type: 'gauge', labels: ['version', 'commit', 'bun'] },
      () => [{ labels: [version, commit, bun], value: 1 }],
    )
    addProcessMetrics(metrics)
  }

  /** `window`: the kind of request that was limited. */
  refused(window: string): void {
    this.#refusals.of(window).add()
  }

  /** Adds the values that are read at each scrape. */
  watch(watched: Watched): void {
    addServiceGauges(this.#metrics, watched)
    addRetentionCounts(this.#metrics, watched.retention)
    addStoreGauges(this.#metrics, shareRecent(watched.store, readingAgeMaxMs, this.#clock))
  }

  /** Adds the metrics of scheduled backups. */
  watchBackups(read: () => BackupCounts): void {
    addBackupMetrics(this.#metrics, read)
  }

  /** Adds the metrics of exported traces. */
  watchTraces(read: () => SpanCounts): void {
    addTraceMetrics(this.#metrics, read)
  }

  /** Adds the metrics of the export of metrics. */
  watchMetricExports(read: () => ExportCounts): void {
    addMetricExportMetrics(this.#metrics, read)
  }

  /** Adds the metrics of the assistant. */
  watchAssistant(read: () => AssistantCounts): void {
    addAssistantMetrics(this.#metrics, read)
  }

  text(): Promise<string> {
    this.#loopLag.watch()
    return this.#metrics.text()
  }

  read(): Promise<FamilyReading[]> {
    this.#loopLag.watch()
    return this.#metrics.read()
  }

  stop(): void {
    this.#loopLag.stop()
  }
}

/** How long one reading of the store is reused, because anyone may request the metrics. */
const readingAgeMaxMs = 1_000
