import type { App } from '../../app.ts'
import { type Config, storeKindOf } from '../../config.ts'
import { systemClock } from '../../domain/clock.ts'
import { messageOf } from '../../domain/errors.ts'
import { isLoopback } from '../../domain/local-address.ts'
import { Listener } from '../../http/listener.ts'
import { loadInterfaceFiles } from '../../http/responses/interface-files.ts'
import type { DirectoryLock } from '../../store/lock.ts'
import type { Store } from '../../store/store.ts'
import { handleCrashes } from '../../telemetry/crash-handler.ts'
import { Logger } from '../../telemetry/logger.ts'
import type { OtelSettings } from '../../telemetry/otlp/settings.ts'
import { Watchdog, watchAfterMs } from '../../telemetry/watchdog.ts'
import { type Call, type Command, CommandError, UsageError } from '../command.ts'
import type { FirstStart } from '../installation/first-start.ts'
import { build } from './version.ts'

export const serve: Command = {
  summary: 'starts the service',
  details: [
    'On an empty data folder, it first creates an account, a workspace and a key, deploys a sample workflow, and prints',
    'how to run it. SIGTERM or SIGINT lets runs in flight end and exits with 0. A second signal exits at once.',
  ].join('\n'),
  settings: [
    'host',
    'port',
    'data',
    'store',
    'baseUrl',
    'outboundAllow',
    'sqliteFolders',
    'sync',
    'logLevel',
    'accessLog',
    'stopGraceMs',
    'noAuth',
  ],
  examples: ['serve', 'serve --port 4000 --data /var/lib/millrace', 'serve --config production.env'],
  async run(call) {
    const { config, terminal } = call
    assertClosed(config)
    assertBackupsPossible(config)
    for (const warning of call.settings.warnings) terminal.say(warning)
    const stopped = stopSignal()
    const { app, lock } = await start(call)
    const { firstStart } = await import('../installation/first-start.ts')
    const first = await firstStart(app)
    terminal.print(first ? welcome(app, first) : `Millrace listens on ${app.address.url}`)
    // Ignore a failing disk: using the key also marks it as seen.
    if (first) await app.store.markInstallationSeen().catch(() => undefined)
    await stopped
    await app.stop(config.stopGraceMs)
    lock?.release()
    return 0
  },
}

/** The backups that the service makes are copies of the database file. */
function assertBackupsPossible(config: Config): void {
  if (storeKindOf(config) !== 'postgres' || config.backup === undefined) return
  throw new UsageError(
    'MILLRACE_BACKUP works only with SQLite, and MILLRACE_STORE names a PostgreSQL database.',
    'Remove MILLRACE_BACKUP, and back up the PostgreSQL database with its own tools.',
  )
}

/** Without sign-in, everyone who can reach the service has full access. */
function assertClosed({ noAuth, host }: Config): void {
  if (!noAuth || isLoopback(host)) return
  throw new UsageError(
    `MILLRACE_NO_AUTH is true, but ${host} can be reached from other machines. Use it only with a loopback address.`,
    'Remove --no-auth, or listen on --host 127.0.0.1.',
  )
}

/**
 * Listens, locks the folder, opens the store, and only then loads the rest of the service. Requests that arrive in the
 * meantime get a response or wait a moment. The lock ends with the process, however it ends.
 */
async function start({ config, environment }: Call): Promise<{ app: App; lock: DirectoryLock | undefined }> {
  const logger = new Logger({ level: config.logLevel, access: config.accessLog, now: Date.now })
  handleCrashes(logger)
  try {
    const listener = await listen(config)
    // Give waiting requests a turn first: the next step blocks this thread for about 20 ms.
    await Bun.sleep(2)
    const lock = await lockFolder(config)
    const opening = openStore(config, listener.port, logger)
    opening.catch(() => undefined)
    const [{ startApp }, { allowListOf, proxiesOf }, { assistantModelOf, priceTableOf }, { checkServiceMail }] =
      await Promise.all([
        import('../../app.ts'),
        import('../support/allow-list.ts'),
        import('../support/model-settings.ts'),
        import('../installation/mail-settings.ts'),
      ])
    assistantModelOf(config)
    checkServiceMail(config)
    const outboundAllow = allowListOf(config)
    const priceOf = priceTableOf(config)
    const telemetry = await telemetryOf(environment, logger)
    const watchdog = new Watchdog(config.watchdogMs)
    const isProxy = proxiesOf(config)
    const app = await startApp({
      ...{ config, outboundAllow, isProxy, priceOf, logger, clock: systemClock, build, listener, opening },
      interfaceFiles: loadInterfaceFiles,
      ...{ note: watchdog.note, telemetry },
    })
    if (app.keyId !== undefined) lock?.noteKey(app.keyId)
    if (config.watchdogMs > 0) systemClock.setTimer(watchAfterMs, () => watchdog.start())
    return { app, lock }
  } catch (error) {
    throw explained(error, config)
  }
}

/** Loads the exporters only if one of their addresses is set. */
async function telemetryOf(environment: Call['environment'], logger: Logger): Promise<OtelSettings | undefined> {
  if (!Object.keys(environment).some((name) => /^OTEL_EXPORTER_OTLP_(\w+_)?ENDPOINT$/.test(name))) return undefined
  const { readOtelSettings } = await import('../../telemetry/otlp/settings.ts')
  const { settings, warnings } = readOtelSettings(environment)
  for (const warning of warnings) logger.warn(warning)
  return settings
}

/** Undefined when the installation keeps nothing in the data folder. */
async function lockFolder(config: Config): Promise<DirectoryLock | undefined> {
  if (storeKindOf(config) === 'postgres' && config.s3Bucket !== undefined) return undefined
  const { takeLock } = await import('../../store/lock.ts')
  return takeLock(config.data)
}

async function openStore(config: Config, port: number, logger: Logger): Promise<Store> {
  const { openStoreForService } = await import('../installation/open-store.ts')
  const onLost = (lost: readonly string[]) =>
    logger.error('runs in the journal of an earlier version could not be imported', { lost })
  return await openStoreForService(config, { port, onLost })
}

async function listen({ host, port, data }: Config): Promise<Listener> {
  try {
    return new Listener({ hostname: host, port, version: build.version })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') {
      // If the folder is already served, its lock names the other process.
      const { takeLock } = await import('../../store/lock.ts')
      takeLock(data).release()
      const hint = 'Choose another port with --port or MILLRACE_PORT; --port 0 selects a free one.'
      throw new CommandError(`Port ${port} of ${host} is in use by another program.`, hint, error)
    }
    const hint =
      'Choose another address with --host and --port: one of this machine, and a port that this user may open.'
    throw new CommandError(`The service cannot listen on ${host}, port ${port}: ${messageOf(error)}`, hint, error)
  }
}

function explained(error: unknown, { data }: Config): unknown {
  if (error instanceof CommandError) return error
  const code = (error as NodeJS.ErrnoException).code
  if (code === 'ENOENT' || code === 'EACCES' || code === 'EROFS' || code === 'ENOTDIR' || code === 'EEXIST') {
    return new CommandError(
      `The data folder ${data} cannot be used: ${messageOf(error)}`,
      'More: millrace doctor',
      error,
    )
  }
  return error
}

/** Resolves at the first stop signal. The second one ends the process immediately. */
function stopSignal(): Promise<void> {
  return new Promise((resolve) => {
    let signals = 0
    const take = () => {
      signals += 1
      if (signals > 1) process.exit(1)
      resolve()
    }
    // Ignore SIGHUP: a process under nohup must continue when its terminal closes.
    process.on('SIGTERM', take)
    process.on('SIGINT', take)
  })
}

function welcome({ address }: App, { apiKey, signInToken, workspaceId, curl }: FirstStart): string {
  return [
    `Millrace listens on ${address.url}`,
    '',
    '  This is the first start. Store the key and the link now: they are not shown again.',
    '',
    `  API key       ${apiKey}`,
    `  Workspace     ${workspaceId}`,
    `  Sign-in link  ${address.url}/sign-in?token=${signInToken}`,
    '',
    ...(curl === undefined ? [] : ['A sample workflow is deployed. Run it:', '', curl, '']),
    `Every route: ${address.url}/swagger`,
  ].join('\n')
}
