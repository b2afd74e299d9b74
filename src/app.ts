// Long because it is one list: every part of the service, and what each is handed.
import type { Server } from 'bun'
import { Environments } from './accounts/environment.ts'
import { KeyUses } from './accounts/key-uses.ts'
import { KeyCache } from './accounts/keys.ts'
import { AccountLimits } from './accounts/limits.ts'
import { RateLimiter } from './accounts/rate-limit.ts'
import { RateWindowPersistence } from './accounts/rate-window-persistence.ts'
import { openSecretBox, sealHeadBytes } from './accounts/secret-box.ts'
import { Sessions } from './accounts/sessions.ts'
import { Usage } from './accounts/usage.ts'
import { registry } from './blocks/registry.ts'
import { type Config, limitsOf } from './config.ts'
import type { RequestClaim } from './domain/claim.ts'
import type { Clock } from './domain/clock.ts'
import { AppError, messageOf } from './domain/errors.ts'
import { LogSequence, newId, timeOfSequence } from './domain/ids.ts'
import { answerBytesMax } from './domain/limits.ts'
import { localHost } from './domain/local-address.ts'
import { countsAsUsage, type RunRecord } from './domain/log.ts'
import type { PriceTable } from './domain/model-prices.ts'
import { plansOf } from './domain/plan.ts'
import type { ScheduleStep } from './domain/schedule.ts'
import type { WorkflowDocument } from './domain/workflow.ts'
import { Addresses } from './engine/addresses.ts'
import { Deployments } from './engine/deployments.ts'
import type { Reach } from './engine/draft-in-reach.ts'
import { giveParameters } from './engine/given-parameters.ts'
import { Jobs } from './engine/jobs.ts'
import { ManualRuns } from './engine/manual-runs.ts'
import { checkOf } from './engine/registrations.ts'
import { Runner, type RunRequest } from './engine/runner.ts'
import { AttemptWriter } from './events/attempt-writer.ts'
import { type ExpectedRun, RunBus, type Watcher } from './events/bus.ts'
import { LogWriter } from './events/writer.ts'
import { openFiles } from './files/open.ts'
import { behindProxies } from './http/client-address.ts'
import type { InterfaceFiles } from './http/interface-files.ts'
import type { Answerer, Listener } from './http/listener.ts'
import { chatPath, chatRoutes } from './http/routes/chat.ts'
import { executePath, executeRoute } from './http/routes/execute.ts'
import { samplePath } from './http/routes/sample.ts'
import { webhookPath, webhookRoutes } from './http/routes/triggers.ts'
import type { KnownRoute } from './http/routes/unknown.ts'
import { createServer } from './http/server.ts'
import type { Account } from './http/services.ts'
import { createLanguageModels } from './models/language-models.ts'
import type { AllowList } from './outbound/addresses.ts'
import { createOutbound } from './outbound/fetch.ts'
import { Poster } from './outbound/post.ts'
import { urlProblem } from './outbound/url-problem.ts'
import { Sandbox } from './sandbox/sandbox.ts'
import { Retention } from './store/retention.ts'
import type { Store } from './store/store.ts'
import type { Logger } from './telemetry/logger.ts'
import { type Build, ServiceMetrics } from './telemetry/service-metrics.ts'
import { Conversations } from './triggers/conversations.ts'
import type { ScheduledRun, StartOutcome } from './triggers/schedule-decision.ts'
import { Scheduler } from './triggers/scheduler.ts'
import { Dispatcher } from './webhooks/dispatcher.ts'
import { createOutbox } from './webhooks/outbox.ts'
import { Subscriptions } from './webhooks/subscriptions.ts'
import { Trials } from './webhooks/trial.ts'

export type AppOptions = {
  config: Config
  /** Addresses that workflows may call although they are not public. */
  outboundAllow: AllowList
  /** Whether an address is one of the operator's proxies; absent when there are none. */
  isProxy?: ((address: string) => boolean) | undefined
  /** Prices of language models. */
  priceOf: PriceTable
  logger: Logger
  clock: Clock
  build: Build
  /** What the editor is made of; asked for when somebody first opens it. */
  interfaceFiles(): Promise<InterfaceFiles>
  /** Already listening. */
  listener: Listener
  /** Already being opened; the caller holds the lock of its folder. */
  opening: Promise<Store>
}

/** A service that is up. */
export type App = {
  store: Store
  address: { url: string; hostname: string; port: number }
  /** Every route that it answers on. */
  routes(): Promise<readonly KnownRoute[]>
  /** Lets runs in flight end for `graceMs` at most, writes what they leave, and closes everything. */
  stop(graceMs: number): Promise<void>
}

/** The one place where the parts meet: from top to bottom is the start, from bottom to top the stop. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, outboundAllow, priceOf, logger, clock, build, interfaceFiles, listener, opening } = options
  const { version } = build
  const limits = limitsOf(config)
  const store = await opening
  const metrics = new ServiceMetrics({ clock, build })

  const [lastSequence, windows, box] = await Promise.all([
    store.lastSequence(),
    store.listRateWindows(clock.now()),
    openSecretBox({
      directory: config.data,
      secretKey: config.secretKey,
      sealHeads: () => store.sealHeads(sealHeadBytes),
    }),
  ])

  const keyUses = new KeyUses({ record: (uses) => store.recordKeyUses(uses), clock })
  const keys = new KeyCache({ findKey: (hash) => store.findKey(hash), used: keyUses.note, clock })
  const sessions = new Sessions({ store, clock, idleDays: config.sessionDays, open: config.noAuth })
  const usage = new Usage({ getUsage: (userId, periodStart) => store.getUsage(userId, periodStart), clock })
  const environments = new Environments({ store, box, clock })
  logger.redactWith(environments.redact)
  const journal = new RateWindowPersistence({ save: (rows, at) => store.saveRateWindows(rows, at), clock })
  const accounts = new AccountLimits({
    findUser: (userId) => store.findUser(userId),
    plans: plansOf(config),
    plan: config.plan,
    usage,
    journal,
    windows,
    onRefused: (kind) => metrics.refused(kind),
    clock,
  })

  const samples = { host: localHost(config.host), port: listener.port, paths: [samplePath] }
  const baseUrl = () => config.baseUrl ?? `http://${samples.host}:${samples.port}`
  const outbound = createOutbound({
    allow: outboundAllow,
    version,
    samples,
    concurrency: { total: config.outboundConcurrency, perHost: config.outboundHostConcurrency },
    clock,
  })
  const subscriptions = new Subscriptions({
    store,
    seal: (secret, context) => box.seal(secret, context),
    urlProblem: (url) => urlProblem(url, outboundAllow),
    clock,
  })
  const sandbox = new Sandbox()
  const monotonic = () => clock.monotonic()
  const open = metrics.outbound.countingOpen(outbound.open, monotonic)
  const models = createLanguageModels({ open, clock, answerBytesMax })

  const writer = new LogWriter({
    store,
    clock,
    sequence: new LogSequence(clock.now, lastSequence),
    rowsWaitingMax: config.logQueueMax,
    sealOutput: (text, executionId) => box.seal(text, jobContext(executionId)),
    onHealth: (healthy, reason) =>
      healthy ? logger.info('storage is back', { reason }) : logger.error('storage is unavailable', { reason }),
    onCommit(rows, tookMs, succeeded, runs) {
      metrics.commits.committed(rows, tookMs, succeeded)
      dispatcher.recorded(runs)
    },
    onOwing: (row) => dispatcher.take(row),
  })
  const attemptWriter = new AttemptWriter({ store, clock })
  const urlKeys = (make: boolean) => box.derive('millrace file urls', make)
  const files = openFiles({ settings: config, keys: urlKeys, baseUrl, store, clock, logger })
  const ownersLimits = async (workspaceId: string) => {
    const ownerId = usage.ownerOf(workspaceId) ?? (await store.getWorkspace(workspaceId))?.ownerId
    if (ownerId === undefined) throw new Error(`There is no workspace ${workspaceId}`)
    return accounts.report(ownerId)
  }
  const owed = createOutbox({ subscriptionsOf: subscriptions.of, limitsOf: ownersLimits })
  const poster = new Poster({ allow: outboundAllow, version, clock })
  const delivering = {
    subscriptionsOf: subscriptions.of,
    environmentOf: environments.of,
    openSecret: (sealed: Uint8Array, context: string) => textOf(box.open(sealed, context)),
    post: poster.post,
    clock,
    random: Math.random,
    timeoutMs: config.webhookTimeoutMs,
  }
  const dispatcher = new Dispatcher({
    ...delivering,
    store,
    write: attemptWriter.write,
    freshen: files.freshenAt,
    concurrency: config.webhookConcurrency,
    attemptsMax: config.webhookMaxAttempts,
    onAttempt: (attempt) => metrics.webhooks.attempted(attempt),
    onFirstAttempt: (waitedMs) => metrics.webhooks.firstTried(waitedMs),
    onBug: (cause) => logger.error('webhook failed', { cause }),
  })
  const trials = new Trials({
    ...delivering,
    store,
    limitsOf: ownersLimits,
  })
  const retention = new Retention({
    store,
    clock,
    days: config.logRetentionDays,
    bytesMax: config.logRetentionBytes,
    onSwept: (round) => logger.debug('old log entries deleted', round),
    onFailure: (error) => logger.error('old log entries could not be deleted', { reason: messageOf(error) }),
  })
  // Read beside the plan, so that the first run need not wait for them when it has ended; then a failure shows there.
  const expectRunsOf = (workflowId: string) => {
    Promise.resolve(subscriptions.of(workflowId)).catch(() => undefined)
  }
  const deployments = new Deployments({
    registry,
    limits,
    priceOf,
    plansMax: plansMax,
    getActive: async (workflowId) => {
      expectRunsOf(workflowId)
      const active = await store.getActive(workflowId)
      if (active) usage.learnOwner(active.workspaceId, active.ownerId)
      return active
    },
    getVersion: async (workflowId, version) => {
      expectRunsOf(workflowId)
      const found = await store.getVersion(workflowId, version)
      if (found) usage.learnOwner(found.workspaceId, found.ownerId)
      return found
    },
  })
  const record = (ended: RunRecord, claim?: RequestClaim) => {
    metrics.runs.ended(ended)
    const webhooks = owed(ended)
    const written =
      webhooks instanceof Promise
        ? webhooks.then((decided) => writer.append(ended, claim, decided))
        : writer.append(ended, claim, webhooks)
    const { trigger, workflowId, executionId } = ended
    const counts = countsAsUsage({ costTotal: ended.cost.total, trigger })
    const counted = counts ? written.then(() => usage.add(ended)) : written
    return trigger === 'schedule' ? counted.then(() => scheduler.ended(workflowId, executionId)) : counted
  }
  const fetch = metrics.outbound.counting(outbound.fetch, monotonic)
  const runner = new Runner({
    powers: { clock, random: Math.random, limits, fetch, runProgram: sandbox.run, models, priceOf, files: files.power },
    record,
    deploymentOf: (workflowId, pinned) =>
      pinned === undefined ? deployments.load(workflowId) : deployments.loadVersion(workflowId, pinned),
    environmentOf: environments.of,
    awaiting: (executionId) => bus.awaiting(executionId),
  })
  const bus = new RunBus({
    observe: (executionId, observer) => runner.observe(executionId, observer),
    watchersMax: config.watchersMax,
  })
  const manualRuns = new ManualRuns({
    runner,
    observe: (run) => bus.open(run),
    bytesMax: config.manualRunsBytes,
    onLost: (executionId, cause) => logger.error('run by hand was lost', { executionId, cause }),
  })
  const scheduler = new Scheduler({
    store,
    clock,
    random: Math.random,
    start: (run, step) => startScheduled({ accounts, jobs, clock }, run, step),
    take: async (step) => (await writer.write({ kind: 'schedule', step })) === undefined,
    prepare(ownerIds) {
      // What cannot be read now is read again when the run is due, and fails there.
      for (const ownerId of ownerIds) Promise.resolve(accounts.account(ownerId)).catch(() => undefined)
    },
    onResolved(row, dueAt, fate) {
      metrics.schedules.decided(fate, clock.now() - dueAt)
      const facts = { workflowId: row.workflowId, dueAt: new Date(dueAt).toISOString() }
      if (fate === 'overlap') logger.debug('a due time was left out: a run is still going', facts)
      if (fate === 'missed') logger.debug('due times were left out: they passed while nobody could run them', facts)
      if (fate === 'rate') logger.warn('a due time was left out: the owner has used up the minute of the plan', facts)
      if (fate === 'usage') logger.warn('a due time was left out: the owner has used up the month of the plan', facts)
    },
    onTrouble: (cause) => logger.error('schedules stand still', { reason: messageOf(cause) }),
    lastSeenAt: timeOfSequence(lastSequence),
  })
  const jobs = new Jobs({
    store,
    write: (write) => writer.write(write),
    async record(ended) {
      await record(ended)
      bus.passed(ended)
    },
    seal: (text, executionId) => box.seal(text, jobContext(executionId)),
    open: (sealed, executionId) => textOf(box.open(sealed, jobContext(executionId))),
    runner,
    environmentOf: environments.of,
    deploymentOf: (workflowId, pinned) => deployments.loadVersion(workflowId, pinned),
    clock,
    concurrency: config.jobsConcurrency,
    waitingMax: config.jobsWaitingMax,
    timeoutMs: config.asyncTimeoutMs,
    onBug: (executionId, cause) => logger.error('job failed', { executionId, cause }),
  })

  const settings = {
    bodyBytesMax: config.bodyBytesMax,
    bodyBytesMaxFiles: config.bodyBytesMaxFiles,
    bodyBytesMaxAnywhere: Math.max(config.bodyBytesMax, config.bodyBytesMaxFiles),
    baseUrl,
    version,
    cancelOnDisconnect: config.cancelOnDisconnect,
    streamBufferBytes: config.streamBufferBytes,
  }
  const services = {
    store,
    lookUpKey: keys.lookUp,
    deployments: {
      forget(workflowId: string) {
        deployments.forget(workflowId)
        scheduler.changed(workflowId)
      },
    },
    completeDocument: (document: WorkflowDocument, before: WorkflowDocument | undefined) =>
      giveParameters(document, before, registry, newId),
    checkWorkflow: (document: WorkflowDocument) => checkOf(deployments.check(document), clock.now()),
    runner,
    jobs,
    manual: {
      compile: (document: WorkflowDocument, reach: Reach) => deployments.checkInReach(document, reach),
      start(request: RunRequest & { executionId: string }) {
        if (!writer.healthy) throw storageUnavailable()
        manualRuns.start(request)
      },
      find: (executionId: string) => manualRuns.find(executionId),
      secretsOf: async (workspaceId: string) => (await environments.of(workspaceId)).redactor,
      receiveFiles: files.receive,
      removeFiles: files.remove,
      inFlight: (executionId: string) => bus.find(executionId) ?? runner.find(executionId),
      watch: (executionId: string, watcher: Watcher, expected?: ExpectedRun) =>
        bus.watch(executionId, watcher, expected),
      isAwaited: (executionId: string) => bus.awaiting(executionId) !== undefined,
      settle: (executionId: string, messages: readonly string[]) => bus.settle(executionId, messages),
    },
    outputOf: async (executionId: string) => {
      const sealed = await store.getJobOutput(executionId)
      return sealed && textOf(box.open(sealed, jobContext(executionId)))
    },
    sessions,
    installation: {
      build,
      startedAt: clock.now(),
      retention: { days: config.logRetentionDays, bytesMax: config.logRetentionBytes },
      files: config.s3Bucket === undefined ? ('disk' as const) : ('s3' as const),
    },
    priceOf,
    subscriptions,
    deliveries: dispatcher.decisions,
    tryWebhook: trials.run,
    environments,
    files,
    interfaceFiles,
    rateLimits: {
      externalApi: async ({ userId }: Account) => accounts.take('external', await accounts.account(userId)),
      refused: (address: string) => accounts.takeRefused(address),
      refusedSoFar: (address: string) => accounts.peekRefused(address),
    },
    limitsOf: ({ userId }: Account) => accounts.report(userId),
    writerHealth: () => ({ healthy: writer.healthy, waiting: writer.rowsWaiting }),
    metrics,
    clock,
    logger,
    settings,
  }
  metrics.watch({
    runsInFlight: () => runner.inFlight,
    runsMax: limits.runsMax,
    jobs: () => jobs,
    writer: () => writer,
    outbound: () => outbound.load(),
    sandbox: () => sandbox.load(),
    watchers: () => bus.watchers,
    webhooks: () => dispatcher,
    retention: () => retention.counters,
    store: () => store.measure(),
  })
  const starting = {
    clock,
    execute: (request: RunRequest) => runner.execute(request),
    assertAccepting() {
      runner.assertFree()
      if (!writer.healthy) throw storageUnavailable()
    },
    assertAcceptingJobs() {
      jobs.assertAccepting()
      if (!writer.healthy) throw storageUnavailable()
    },
    limits: accounts,
    settings,
  }
  const conversations = new Conversations({
    listTurns: (workflowId, conversationId, limit) => store.listTurns(workflowId, conversationId, limit),
    write: (write) => writer.write(write),
    seal: (text, context) => box.seal(text, context),
    open: (sealed, context) => textOf(box.open(sealed, context)),
    clock,
  })
  const wrongPasswords = new RateLimiter({ clock })
  const addresses = new Addresses({ find: (address) => store.findAddress(address), deployments })
  const executed = metrics.requests.route('POST', executePath)
  const server = createServer(services, {
    execute: (door) =>
      executeRoute({
        ...starting,
        lookUpKey: keys.lookUp,
        deployments,
        receiveFiles: files.receive,
        accept: (request) => jobs.accept(request),
        streamLost: ({ cause, code }, executionId) => logger.error('stream broke off', { executionId, code, cause }),
        answered: (request, response, facts) => door.answered(request, response, facts, executed),
      }),
    chat: (door) =>
      chatRoutes({
        ...starting,
        enter: (request, set) => door.enter(request, set),
        at: (address) => addresses.at(address),
        environmentOf: environments.of,
        receiveFiles: files.receive,
        conversations,
        refused: (address) => accounts.takeRefused(address),
        wrongPasswords: (who, count) =>
          count ? wrongPasswords.take(who, wrongPasswordsMax) : wrongPasswords.peek(who, wrongPasswordsMax),
        lost: (what, cause, executionId) => logger.error(what, { executionId, cause }),
        variableMissing: (workflowId) => logger.error('a chat lets nobody in: its password is not set', { workflowId }),
        answered: (request, response, facts) =>
          door.answered(request, response, facts, metrics.requests.route(request.method, chatPath)),
      }),
    webhooks: (door) =>
      webhookRoutes({
        ...starting,
        at: (address) => addresses.at(address),
        environmentOf: environments.of,
        accept: (request, claim) => jobs.acceptOnce(request, claim),
        findClaim: (workflowId, key, at) => store.findRequestClaim(workflowId, key, at),
        storeFile: files.power.store,
        removeFiles: files.remove,
        refused: (address) => accounts.takeRefused(address),
        variableMissing: (workflowId, variable) =>
          logger.error('a webhook takes nothing: its secret is not set', { workflowId, variable }),
        answered: (request, response, facts) =>
          door.answered(request, response, facts, metrics.requests.route(request.method, webhookPath)),
      }),
  })
  const { isProxy } = options
  const seen = isProxy && ((socket: Server<unknown>) => behindProxies(socket, isProxy))
  listener.open(server.app as unknown as Answerer, server.lost, { seen, shortcut: server.shortcut })
  // Nobody waits for it: a first run of user code finds it ready, and the start is over before it begins.
  clock.setTimer(warmAfterMs, () => sandbox.warm())
  void jobs.open()
  void dispatcher.open()
  void scheduler.open()
  logger.info('listening', { host: config.host, port: listener.port })

  return {
    store,
    address: { url: settings.baseUrl(), hostname: config.host, port: listener.port },
    routes: async () => [...server.app.routes, ...(await server.editor()).routes],
    async stop(graceMs) {
      const stopped = listener.stop(false)
      await endAll(logger, [
        ['schedules', () => scheduler.stop()],
        ['asynchronous runs', () => jobs.close()],
        ['runs', () => runner.stop(graceMs)],
        ['asynchronous runs', () => jobs.stop()],
        ['live events', () => bus.close()],
        ['webhooks', () => dispatcher.stop(graceMs)],
        ['webhooks', () => attemptWriter.stop()],
        ['retention', () => retention.stop()],
        ['files', () => files.stop()],
        ['log', () => writer.stop()],
        ['listener', () => Promise.race([stopped, after(clock, closeMs)])],
        ['listener', () => listener.stop(true)],
        ['sandbox', () => sandbox.stop()],
        ['metrics', () => metrics.stop()],
        ['connections', () => outbound.stop()],
        ['connections', () => poster.stop()],
        ['keys', () => keyUses.stop()],
        ['sessions', () => sessions.stop()],
        ['rate windows', () => journal.stop()],
        ['store', () => store.close()],
      ])
    },
  }
}

/** One after the other. What cannot end well, on a full disk say, is told, and keeps nothing behind it from ending. */
async function endAll(logger: Logger, parts: readonly (readonly [part: string, end: () => unknown])[]): Promise<void> {
  for (const [part, end] of parts) {
    try {
      await end()
    } catch (error) {
      logger.error('a part of the service did not stop well', { part, reason: messageOf(error) })
    }
  }
}

type Starting = { accounts: AccountLimits; jobs: Jobs; clock: Clock }

/** A run that is due is an asynchronous one of the owner; the due time is claimed with it. */
async function startScheduled(
  { accounts, jobs, clock }: Starting,
  { row, dueAt, executionId }: ScheduledRun,
  step: ScheduleStep,
): Promise<StartOutcome> {
  const { workflowId, workspaceId, version, ownerId } = row
  const owner = await accounts.account(ownerId)
  if (!accounts.isWithinUsage(owner)) return 'usage'
  if (!accounts.take('async', owner).allowed) return 'rate'
  const firedAt = new Date(clock.now()).toISOString()
  const input = { input: {}, fields: { dueAt: new Date(dueAt).toISOString(), firedAt } }
  const request = { workflowId, workspaceId, version, trigger: 'schedule' as const, input, executionId }
  const { job } = await jobs.acceptOnce(request, { kind: 'schedule', step })
  return job ? 'started' : 'refused'
}

/** What is sealed of a job opens for this job only. */
const jobContext = (executionId: string) => `job/${executionId}`

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes)

/** Compiled workflows in memory at most; each is some kilobytes. */
const plansMax = 1_000

/** A minute, from one address at one chat. */
const wrongPasswordsMax = 20

/** Time after the start until user code is prepared for. */
const warmAfterMs = 100

/** Time for answers that are written already to reach their callers. */
const closeMs = 500

function storageUnavailable(): AppError {
  const message = 'Runs cannot be recorded at the moment, so none is started. Try again soon.'
  return new AppError('STORAGE_UNAVAILABLE', message, { retryAfterS: 1 })
}

function after(clock: Clock, delayMs: number): Promise<void> {
  return new Promise((resolve) => {
    clock.setTimer(delayMs, resolve)
  })
}
