import { existsSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { type Config, storeKindOf } from '../../config.ts'
import { systemClock } from '../../domain/clock.ts'
import { localHost } from '../../domain/local-address.ts'
import type { PostgresStoreOptions } from '../../store/postgres/postgres-store.ts'
import type { Store } from '../../store/store.ts'
import { CommandError } from '../command.ts'
import { build } from '../commands/version.ts'

/** Whether the installation is in a PostgreSQL database, and not in the data folder. */
export function usesPostgres(config: Pick<Config, 'store'>): boolean {
  return storeKindOf(config) === 'postgres'
}

/** Opens the installation's store for a command; creates an empty one when there is none. */
export async function openStoreForCommand(config: Config): Promise<Store> {
  if (usesPostgres(config)) return await openPostgres(config, { connectionsMax: 2 })
  const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.ts')
  return await openSqliteStore({ directory: config.data, sync: config.sync, mode: 'direct' })
}

export type ServiceStoreOptions = {
  /** The port that the service listens on. */
  port: number
  /** See `SqliteStoreOptions`. */
  onLost(lost: readonly string[]): void
}

/** Opens the installation's store for the service. */
export async function openStoreForService(config: Config, { port, onLost }: ServiceStoreOptions): Promise<Store> {
  if (usesPostgres(config)) {
    const url = config.advertiseUrl ?? ownAddress(config.host, port)
    const usesFolder = config.s3Bucket === undefined
    return await openPostgres(config, { serves: { version: build.version, clock: systemClock, url, usesFolder } })
  }
  const { openSqliteStore } = await import('../../store/sqlite/sqlite-store.ts')
  return await openSqliteStore({ directory: config.data, sync: config.sync, mode: 'workers', onLost })
}

/** Where the installation is, for messages. Without the password of a database. */
export function placeOf(config: Pick<Config, 'store' | 'data'>): string {
  return usesPostgres(config) ? `the PostgreSQL database ${withoutPassword(config.store)}` : config.data
}

/** Whether the place exists; only a look at the database tells whether it holds an installation. */
export async function mayHoldInstallation(config: Config): Promise<boolean> {
  if (usesPostgres(config)) return true
  const { databasePath } = await import('../../store/sqlite/open.ts')
  return existsSync(databasePath(config.data))
}

/** Refuses a command that works on files of a data folder only. `instead`: what to use with PostgreSQL. */
export function refusePostgres(config: Pick<Config, 'store'>, command: string, instead: string): void {
  if (usesPostgres(config)) {
    throw new CommandError(`millrace ${command} works only for installations on SQLite. Nothing was changed.`, instead)
  }
}

async function openPostgres(
  { store: url, secretKey }: Config,
  options: Omit<PostgresStoreOptions, 'url'>,
): Promise<Store> {
  if (secretKey === undefined) {
    throw new CommandError(
      'MILLRACE_STORE names a PostgreSQL database, but MILLRACE_SECRET_KEY is not set.',
      'Set it to the same text of at least 32 characters for every process: it encrypts stored secrets.',
    )
  }
  const { openPostgresStore } = await import('../../store/postgres/postgres-store.ts')
  return await openPostgresStore({ url, ...options })
}

/** Where other processes reach this one if no setting says so: the address that it listens on, or its machine's. */
function ownAddress(host: string, port: number): string {
  const isAny = host === '0.0.0.0' || host === '::' || host === '[::]'
  const addresses = Object.values(networkInterfaces()).flatMap((list) => list ?? [])
  const outward = addresses.find(({ internal, family }) => !internal && family === 'IPv4')?.address
  return `http://${isAny ? (outward ?? '127.0.0.1') : localHost(host)}:${port}`
}

/** An address of a database for messages. */
export function withoutPassword(address: string): string {
  return address.replace(/^(\w+:\/\/[^:@/]*):[^/]*@/, '$1@').replace(/\?.*$/, '')
}
