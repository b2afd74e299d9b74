import { receiverOf } from '../domain/alert/alert.ts'
import { messageOf } from '../domain/errors.ts'
import { LogSequence } from '../domain/ids.ts'
import { redactText } from '../domain/redaction/redactor.ts'
import type { RunRecord } from '../domain/run/log.ts'
import { AttemptWriter } from '../events/attempt-writer.ts'
import { createRunRecorder } from '../events/run-recorder.ts'
import { LogWriter } from '../events/writer.ts'
import type { OpenFiles } from '../files/open.ts'
import { urlProblem } from '../outbound/url-problem.ts'
import { WebhookClient } from '../outbound/webhook-client.ts'
import { Retention } from '../store/retention.ts'
import { Dispatcher } from '../webhooks/dispatcher.ts'
import { createOutbox } from '../webhooks/outbox.ts'
import { PauseEvents } from '../webhooks/pause-events.ts'
import { Subscriptions } from '../webhooks/subscriptions.ts'
import { TestDeliveries } from '../webhooks/test-delivery.ts'
import type { Accounts } from './accounts.ts'
import type { Base } from './base.ts'
import { stopAll } from './stop-all.ts'

/** The parts that work after a run: its log entry, its webhook deliveries, and the retention of both. */
export type Delivery = ReturnType<typeof assembleDelivery>

export type DeliveryOptions = Base & {
  accounts: Accounts
  files: OpenFiles
  /** The last sequence number of the log before this start. */
  lastSequence: number
  /** Called when a run's log entry is on disk. */
  onRecorded(run: RunRecord): void
}

export function assembleDelivery(options: DeliveryOptions) {
  const { config, store, metrics, traces, logger, clock, accounts, onRecorded } = options
  const { subscriptions, dispatcher, testDeliveries, stop: stopWebhooks } = assembleWebhooks(options)
  const writer = new LogWriter({
    store,
    clock,
    inSlices: options.slices.run,
    sequence: new LogSequence(clock.now, options.lastSequence, store.sequenceShare),
    rowsWaitingMax: config.logQueueMax,
    sealOutput: accounts.jobSeal.seal,
    onHealth: (healthy, reason) =>
      healthy ? logger.info('storage is back', { reason }) : logger.error('storage is unavailable', { reason }),
    onCommit(rows, tookMs, succeeded, runs) {
      metrics.commits.committed(rows, tookMs, succeeded)
      dispatcher.recorded(runs)
    },
    onPendingDeliveries: (row) => dispatcher.take(row),
    onPauseEvent({ sequence, at, deliveries }) {
      for (const { subscription } of deliveries) dispatcher.expect({ subscription, sequence }, at)
    },
    onFirings(firings) {
      for (const { watcher, sequence, at, start } of firings) {
        if (!start) dispatcher.expect({ subscription: receiverOf(watcher), sequence }, at)
      }
    },
  })
  const record = createRunRecorder({
    webhooksOf: createOutbox({ subscriptionsOf: subscriptions.of, limitsOf: accounts.ownerLimits }),
    append: (run, claim, webhooks) => writer.append(run, claim, webhooks),
    onEnded(run) {
      metrics.runs.ended(run)
      traces?.ended(run)
    },
    onRecorded(run) {
      accounts.usage.add(run)
      accounts.chatBudget.add(run)
      options.files.recorded(run)
      onRecorded(run)
    },
  })
  const pauseEvents = new PauseEvents({
    subscriptionsOf: subscriptions.of,
    open: accounts.jobSeal.open,
    async hidingOf(workspaceId) {
      const { redactor } = await accounts.environments.of(workspaceId)
      return (text) => redactText(text, redactor)
    },
    now: () => clock.now(),
  })
  const retention = new Retention({
    store,
    clock,
    days: config.logRetentionDays,
    bytesMax: config.logRetentionBytes,
    onRound: (round) => logger.debug('old log entries deleted', round),
    onFailure: (error) => logger.error('old log entries could not be deleted', { reason: messageOf(error) }),
  })
  const open = () => void dispatcher.open()
  const stop = (graceMs: number) =>
    stopAll(logger, [
      ['webhooks', () => stopWebhooks(graceMs)],
      ['retention', () => retention.stop()],
      ['log', () => writer.stop()],
    ])
  return { subscriptions, writer, record, pauseEvents, dispatcher, testDeliveries, retention, open, stop }
}

function assembleWebhooks({ accounts, files, ...base }: DeliveryOptions) {
  const { config, store, metrics, logger, clock, outboundAllow: allow } = base
  const { box, environments } = accounts
  const subscriptions = new Subscriptions({
    store,
    seal: (secret, context) => box.seal(secret, context),
    urlProblem: (url) => urlProblem(url, allow),
    clock,
  })
  const attemptWriter = new AttemptWriter({ store, clock })
  const webhookClient = new WebhookClient({ allow, version: base.build.version, clock })
  const sending = {
    store,
    clock,
    random: Math.random,
    subscriptionsOf: subscriptions.of,
    environmentOf: environments.of,
    openSecret: (sealed: Uint8Array, context: string) => box.openText(sealed, context),
    post: webhookClient.post,
    mailer: base.mailer,
    takeMail: (workspaceId: string) => accounts.limits.takeAlertMail(workspaceId),
    timeoutMs: config.webhookTimeoutMs,
  }
  const dispatcher = new Dispatcher({
    ...sending,
    write: attemptWriter.write,
    freshen: files.freshenAt,
    concurrency: config.webhookConcurrency,
    hostConcurrency: config.webhookHostConcurrency,
    mayStart: () => base.cluster.holdsClaims,
    attemptsMax: config.webhookMaxAttempts,
    traceHeadersOf: base.traces?.headersAfter,
    onAttempt: (attempt) => metrics.webhooks.attempted(attempt),
    onFirstAttempt: (waitedMs) => metrics.webhooks.firstTried(waitedMs),
    onBug: (cause) => logger.error('webhook failed', { cause }),
  })
  const testDeliveries = new TestDeliveries({ ...sending, limitsOf: accounts.ownerLimits })
  const stop = (graceMs: number) =>
    stopAll(logger, [
      ['dispatcher', () => dispatcher.stop(graceMs)],
      ['attempt writer', () => attemptWriter.stop()],
      ['connections', () => webhookClient.stop()],
    ])
  return { subscriptions, dispatcher, testDeliveries, stop }
}
