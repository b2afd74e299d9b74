import type { Server } from 'bun'
import { EventNotes } from './alerts/event-notes.ts'
import { assembleAccounts } from './assembly/accounts.ts'
import { assembleAlerts } from './assembly/alerts.ts'
import { assembleAssistant } from './assembly/assistant.ts'
import { backupsOf } from './assembly/backups.ts'
import type { Base } from './assembly/base.ts'
import { assembleCluster } from './assembly/cluster.ts'
import { assembleCredentials } from './assembly/credentials.ts'
import { assembleDelivery, type Delivery } from './assembly/delivery.ts'
import { assembleEngine, type Engine } from './assembly/engine.ts'
import { Garbage } from './assembly/garbage.ts'
import { httpServicesOf } from './assembly/http-services.ts'
import { assembleMailer } from './assembly/mailer.ts'
import { stopAll } from './assembly/stop-all.ts'
import { assembleTelemetry } from './assembly/telemetry.ts'
import { assembleTriggers } from './assembly/triggers/triggers.ts'
import { limitsOf } from './config.ts'
import { Connectors } from './connectors/connectors.ts'
import { isLoopback, localHost } from './domain/local-address.ts'
import { SliceQueue } from './domain/slice-queue.ts'
import { Entries } from './entries/entries.ts'
import { openFiles } from './files/open.ts'
import { behindProxies } from './http/access/client-address.ts'
import type { Listener, RequestHandler } from './http/listener.ts'
import type { InterfaceFiles } from './http/responses/interface-files.ts'
import type { KnownRoute } from './http/routes/unknown.ts'
import { createServer } from './http/server.ts'
import type { Services } from './http/services.ts'
import type { Store } from './store/store.ts'
import type { OtelSettings } from './telemetry/otlp/settings.ts'
import { ServiceMetrics } from './telemetry/service-metrics.ts'

export type AppOptions = Omit<
  Base,
  'limits' | 'slices' | 'mailer' | 'events' | 'garbage' | 'store' | 'cluster' | 'metrics' | 'port' | 'traces'
> & {
  /** The targets of OpenTelemetry data; absent when none is set. */
  telemetry?: OtelSettings | undefined
  /** Whether an address is one of the operator's proxies; absent when there are none. */
  isProxy?: ((address: string) => boolean) | undefined
  /** The files of the editor; asked for when somebody first opens it. */
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
  /** Identifies the key that encrypts stored secrets; undefined while there is none. */
  keyId: string | undefined
  /** Every route of the service. */
  routes(): Promise<readonly KnownRoute[]>
  /** Lets runs in flight end for `graceMs` at most, writes what they leave, and closes everything. */
  stop(graceMs: number): Promise<void>
}

/** The parts of a service, connected: nothing has begun to work yet, and no request is handled. */
export type Assembled = {
  store: Store
  services: Services
  metrics: ServiceMetrics
  keyId: string | undefined
  /** Takes up what an earlier process left: asynchronous runs, deliveries, schedules. */
  open(): void
  stop(graceMs: number): Promise<void>
}

/** Starts the service: connects its parts, and handles requests from here on. */
export async function startApp(options: AppOptions): Promise<App> {
  const { config, listener, logger, isProxy } = options
  const { store, services, keyId, open, stop } = await assembleApp(options)
  const { app, door, editor } = createServer(services)
  // With SQLite there are no others, and no request is looked at.
  const peers = services.settings.store === 'postgres' ? services.peers : undefined
  const seen = (socket: Server<unknown>) => {
    const server = isProxy ? behindProxies(socket, isProxy) : socket
    return peers?.seenThrough(server) ?? server
  }
  const { note } = options
  const admit = peers && ((request: Request) => peers.admit(request))
  listener.open(app as unknown as RequestHandler, (thrown) => door.onFatal(thrown), { seen, note, admit })
  open()
  logger.info('listening', { host: config.host, port: listener.port })
  return {
    store,
    address: { url: services.settings.baseUrl(), hostname: config.host, port: listener.port },
    keyId,
    routes: async () => [...app.routes, ...(await editor()).routes],
    stop,
  }
}

/** Connects the parts from top to bottom; `stop` stops them from bottom to top. */
export async function assembleApp({
  listener,
  opening,
  telemetry: settings,
  ...options
}: AppOptions): Promise<Assembled> {
  const { config, logger, clock, build } = options
  const store = await opening
  const metrics = new ServiceMetrics({ clock, build })
  const slices = new SliceQueue(clock)
  // Concurrent: for a million objects, this thread stops for 2 ms instead of 50.
  const garbage = new Garbage(clock, () => Bun.gc(false))
  const cluster = assembleCluster({ store, clock, logger }, () => ({
    accounts,
    files,
    delivery,
    engine,
    triggers,
    alerts,
  }))
  const telemetry = await assembleTelemetry(settings, metrics, { ...options, slices })
  const mailer = assembleMailer(config, options)
  const onFailure = (cause: unknown) => logger.warn('an event could not be noted', { cause })
  const events = new EventNotes({ store, clock, onFailure })
  const parts = { store, cluster, metrics, slices, garbage, mailer, events, traces: telemetry.traces }
  const base = { ...options, ...parts, limits: limitsOf(config), port: listener.port }
  const baseUrl = () => config.baseUrl ?? `http://${localHost(config.host)}:${listener.port}`

  const [accounts, lastSequence] = await Promise.all([assembleAccounts(base), store.lastSequence()])
  const urlKeys = (make: boolean) => accounts.box.derive('millrace file urls', make)
  const isLeader = () => cluster.isLeader
  const files = openFiles({ settings: config, keys: urlKeys, baseUrl, store, clock, isLeader, logger })
  const delivery = assembleDelivery({
    ...base,
    accounts,
    files,
    lastSequence,
    onRecorded: (run) => triggers.recorded(run),
  })
  const credentials = assembleCredentials(base, {
    accounts,
    fetch: (request) => engine.outbound.fetch(request),
    publicUrl: () => (config.baseUrl !== undefined || isLoopback(config.host) ? baseUrl() : undefined),
  })
  const connectors = new Connectors({ store, clock })
  const entries = new Entries({
    ...{ store, clock, bytesMax: config.storeBytes },
    onFailure: (cause) => logger.warn('expired entries could not be deleted', { cause }),
  })
  const engine = assembleEngine({
    ...{ ...base, accounts, connectors, credentials, entries, files, delivery, baseUrl },
    onChatEnded: (run) => triggers.onChatEnded(run),
  })
  const triggers = assembleTriggers({ ...base, accounts, delivery, engine, files, lastSequence })
  const alerts = assembleAlerts({ ...base, accounts, delivery, engine })
  const backups = backupsOf(base)
  const assistant = assembleAssistant(base)
  const services = httpServicesOf({
    ...base,
    accounts,
    connectors,
    credentials,
    entries,
    files,
    delivery,
    engine,
    triggers,
    alerts,
    backups,
    assistant: assistant?.assistant,
    baseUrl,
  })
  watch(base, delivery, engine)
  if (backups) metrics.watchBackups(() => backups.state)
  if (assistant) metrics.watchAssistant(() => assistant.assistant.counts)

  const open = () => {
    cluster.open()
    delivery.open()
    engine.open()
    entries.start()
    triggers.open()
    alerts.evaluator.open()
    void backups?.open()
    telemetry.metrics?.start()
  }
  const stop = (graceMs: number) => {
    const closing = listener.stop(false)
    return stopAll(logger, [
      ['scheduled backups', () => backups?.stop()],
      ['assistant', () => assistant?.stop()],
      ['claims', () => cluster.quit()],
      ['alerts', () => alerts.evaluator.stop()],
      ['triggers', () => triggers.stop()],
      ['engine', () => engine.stop(graceMs)],
      ['entries', () => entries.stop()],
      ['delivery', () => delivery.stop(graceMs)],
      ['e-mails of the service', () => mailer?.stop()],
      ['telemetry', () => telemetry.stop(telemetryGraceMs)],
      ['check-ins', () => cluster.stop()],
      ['files', () => files.stop()],
      ['listener', () => listener.close(closing, clock)],
      ['credentials', () => credentials.stop()],
      ['accounts', () => accounts.stop()],
      ['metrics', () => metrics.stop()],
      ['events', () => events.settled()],
      ['store', () => store.close()],
    ])
  }
  return { store, services, metrics, keyId: accounts.box.currentHead?.toHex(), open, stop }
}

/** How long the service may wait for the collector when it stops. */
const telemetryGraceMs = 2_000

/** Lets the metrics read what is simply there. */
function watch(
  { metrics, limits, store, cluster }: Base,
  { writer, dispatcher, retention }: Delivery,
  engine: Engine,
): void {
  const { runner, jobs, outbound, sandbox, bus } = engine
  metrics.watch({
    runsInFlight: () => runner.inFlight,
    runsMax: limits.runsMax,
    runsBytes: () => runner.memory.bytes,
    jobs: () => jobs,
    writer: () => writer,
    outbound: () => outbound.load(),
    sandbox: () => sandbox.load(),
    watchers: () => bus.watchers,
    webhooks: () => dispatcher,
    retention: () => retention.counters,
    store: () => store.measure(),
    cluster: () => {
      const { isLeader, isDraining, peers, counters } = cluster
      return { isLeader, isDraining, peers: peers.length, counters }
    },
  })
}
