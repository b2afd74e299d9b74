import { resolve } from 'node:path'
import { AppError, messageOf } from '../../domain/errors.ts'
import type { MoveSource, MoveTarget } from '../../store/move/sides.ts'
import { hostsText, parseAddress } from '../../store/postgres/address.ts'
import { withPostgresSource } from '../../store/postgres/move/source.ts'
import { withPostgresTarget } from '../../store/postgres/move/target.ts'
import { withSqliteSource } from '../../store/sqlite/move/source.ts'
import { withSqliteTarget } from '../../store/sqlite/move/target.ts'
import { CommandError, UsageError } from '../command.ts'
import { withoutPassword } from '../installation/open-store.ts'

/** One side of a move. `name` is for messages. */
export type Side = { flag: '--from' | '--to'; name: string } & (
  | { kind: 'sqlite'; folder: string }
  | { kind: 'postgres'; url: string; hosts: string }
)

/** The side that a data folder or the address of a database names. Throws `UsageError`. */
export function sideOf(flag: Side['flag'], text: string | undefined): Side {
  if (text === undefined || text === '') {
    throw new UsageError(`${flag} is missing.`, `Write ${flag} DIR for a data folder, or ${flag} postgres://… .`)
  }
  if (!/^postgres(ql)?:\/\//.test(text)) return { kind: 'sqlite', flag, name: text, folder: resolve(text) }
  try {
    return { kind: 'postgres', flag, name: withoutPassword(text), url: text, hosts: hostsText(parseAddress(text)) }
  } catch (error) {
    throw new UsageError(messageOf(error).replace('MILLRACE_STORE', flag))
  }
}

export function isSame(one: Side, other: Side): boolean {
  if (one.kind === 'sqlite') return other.kind === 'sqlite' && one.folder === other.folder
  return other.kind === 'postgres' && one.url === other.url
}

export function withSource<Result>(side: Side, work: (source: MoveSource) => Promise<Result>): Promise<Result> {
  return explained(side, () =>
    side.kind === 'sqlite' ? withSqliteSource(side.folder, work) : withPostgresSource(side.url, work),
  )
}

export function withTarget<Result>(side: Side, work: (target: MoveTarget) => Promise<Result>): Promise<Result> {
  return explained(side, () =>
    side.kind === 'sqlite' ? withSqliteTarget(side.folder, work) : withPostgresTarget(side.url, work),
  )
}

/** The stores explain their errors to users of the service, who set `MILLRACE_STORE`. */
async function explained<Result>(side: Side, work: () => Promise<Result>): Promise<Result> {
  try {
    return await work()
  } catch (error) {
    if (side.kind === 'sqlite' || !(error instanceof AppError)) throw error
    if (error.code !== 'STORAGE_UNAVAILABLE') {
      throw new CommandError(error.message.replaceAll('MILLRACE_STORE', side.flag), undefined, error)
    }
    const reason = error.cause === undefined ? error.message : messageOf(error.cause)
    throw new CommandError(`PostgreSQL at ${side.hosts} (${side.flag}) cannot be used: ${reason}`, undefined, error)
  }
}
