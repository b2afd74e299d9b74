import type { Environment } from '../account/environment.ts'
import type { OutboundMemory } from '../outbound-request.ts'
import type { RedisRequest } from './redis.ts'
import type { SqlRequest, SqlResult } from './sql.ts'

/** Why a database did not do what it was asked. */
export class DatabaseError extends Error {
  readonly code: string
  /** Further facts about the error, such as the code of the server. */
  readonly facts: Readonly<Record<string, unknown>>

  constructor(code: string, message: string, facts: Readonly<Record<string, unknown>> = {}, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'DatabaseError'
    this.code = code
    this.facts = facts
  }
}

/** The run and the block that ask. */
export type DatabaseCaller = {
  workspaceId: string
  /** The variables for `{{NAME}}` in credentials. */
  environment: Pick<Environment, 'values'>
  blockName: string
  /** Aborts when nobody waits for the result any more: then the server is asked to stop, too. */
  signal: AbortSignal
  /** Counts replies while they arrive. */
  memory: OutboundMemory
}

/** Databases that users choose. Both reject with `DatabaseError` or `OutboundError`. */
export type Databases = {
  sql(request: SqlRequest, caller: DatabaseCaller): Promise<SqlResult>
  /** The reply as JSON data. */
  redis(request: RedisRequest, caller: DatabaseCaller): Promise<unknown>
}
