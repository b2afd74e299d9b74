import { lookup } from 'node:dns/promises'
import { AppError } from '../../domain/errors.ts'
import { hostsText, type PostgresAddress } from './address.ts'
import { isMistake, unavailable } from './failures.ts'

/** Explains in one sentence why a start failed, and names the servers, because their address may be wrong. */
export async function startError(error: unknown, address: PostgresAddress): Promise<unknown> {
  if (!(error instanceof AppError) || error.code !== 'STORAGE_UNAVAILABLE') return error
  if (isMistake(error.cause)) return new AppError('CONFLICT', error.message, { cause: error.cause })
  const problem = (await unknownHost(address)) ?? (error.cause as Error | undefined)?.message ?? 'it does not answer'
  return unavailable(
    `PostgreSQL at ${hostsText(address)} cannot be used: ${problem}. Check MILLRACE_STORE and the server.`,
    error.cause,
  )
}

/** The client does not say why it could not connect. */
async function unknownHost({ hosts }: PostgresAddress): Promise<string | undefined> {
  for (const { hostname } of hosts) {
    try {
      await lookup(hostname)
    } catch {
      return `no address is known for the name ${hostname}`
    }
  }
  return undefined
}
