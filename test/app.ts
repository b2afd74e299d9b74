import { type App, startApp } from '../src/app.ts'
import { allowListOf, proxiesOf } from '../src/cli/allow-list.ts'
import { priceTableOf } from '../src/cli/price-table.ts'
import { type Config, resolveConfig } from '../src/config.ts'
import { type Clock, systemClock } from '../src/domain/clock.ts'
import { Listener } from '../src/http/listener.ts'
import { openSqliteStore } from '../src/store/sqlite/sqlite-store.ts'
import { Logger } from '../src/telemetry/logger.ts'
import { madeUpInterface } from './http/interface-files.ts'

/** The whole service in this process, on a folder and a free port. `flags` are settings as on the command line. */
export async function startTestApp(
  data: string,
  flags: Record<string, string> = {},
  clock: Clock = systemClock,
): Promise<App & { config: Config }> {
  const { config } = resolveConfig({ flags: { data, port: '0', sync: 'normal', ...flags } })
  const logger = new Logger({ level: 'error', access: 'off', now: Date.now })
  const listener = new Listener({ hostname: config.host, port: config.port, version: 'test' })
  const opening = openSqliteStore({ directory: config.data, sync: config.sync, mode: 'workers' })
  const app = await startApp({
    config,
    outboundAllow: allowListOf(config),
    isProxy: proxiesOf(config),
    priceOf: priceTableOf(config),
    logger,
    clock,
    build: { version: 'test', commit: 'test', bun: Bun.version },
    interfaceFiles: async () => madeUpInterface(data),
    listener,
    opening,
  })
  return { ...app, config }
}
