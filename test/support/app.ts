import { type App, type AppOptions, type Assembled, assembleApp, startApp } from '../../src/app.ts'
import { allowListOf, proxiesOf } from '../../src/cli/support/allow-list.ts'
import { priceTableOf } from '../../src/cli/support/model-settings.ts'
import { type Config, resolveConfig } from '../../src/config.ts'
import { type Clock, systemClock } from '../../src/domain/clock.ts'
import { Listener } from '../../src/http/listener.ts'
import { Logger } from '../../src/telemetry/logger.ts'
import { madeUpInterface } from '../service/http/interface-files.ts'
import { openTestStore, storeSettings } from './store/test-store.ts'

/**
 * Starts the whole service in this process, on a folder and a free port. `flags` are settings as on the command line.
 */
export async function startTestApp(
  data: string,
  flags: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<App & { config: Config }> {
  const options = testOptions(data, { ...(await storeFlags(data)), ...flags }, { clock }, 'workers')
  return { ...(await startApp(options)), config: options.config }
}

/** Connects the parts of the service without starting them. The listener handles no requests yet. */
export async function assembleTestApp(
  data: string,
  flags: Record<string, string>,
  more: Partial<AppOptions>,
): Promise<Assembled & { listener: Listener }> {
  const options = testOptions(data, { ...(await storeFlags(data)), ...flags }, more, 'direct')
  return { ...(await assembleApp(options)), listener: options.listener }
}

/** The flags for the settings that select the store. */
async function storeFlags(data: string): Promise<Record<string, string>> {
  const { MILLRACE_STORE: store, MILLRACE_SECRET_KEY: secretKey } = await storeSettings(data)
  return store === undefined || secretKey === undefined ? {} : { store, secretKey }
}

function testOptions(
  data: string,
  flags: Record<string, string>,
  more: Partial<AppOptions>,
  mode: 'direct' | 'workers',
): AppOptions {
  const { config } = resolveConfig({ flags: { data, port: '0', sync: 'normal', ...flags } })
  return {
    config,
    outboundAllow: allowListOf(config),
    isProxy: proxiesOf(config),
    priceOf: priceTableOf(config),
    logger: new Logger({ level: 'error', access: 'off', now: Date.now }),
    clock: systemClock,
    build: { version: 'test', commit: 'test', bun: Bun.version },
    interfaceFiles: async () => madeUpInterface(data),
    note: () => undefined,
    listener: new Listener({ hostname: config.host, port: config.port, version: 'test' }),
    opening: openTestStore(config, mode),
    ...more,
  }
}
