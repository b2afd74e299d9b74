import { SQL } from 'bun'
import type { PoolUse } from '../store.ts'
import type { PostgresAddress } from './address.ts'
import { isAnswer, silent, unavailable } from './failures.ts'
import { Pool } from './pool.ts'
import { type Connection, Use } from './use.ts'

/** One PostgreSQL server: a pool for calls, and a connection for questions about the server itself. */
export class Server {
  readonly #pool: Pool
  /** Apart from the pool, so that a question does not wait behind calls. */
  readonly #questions: Pool
  #asked: Promise<CommitAnswer> | undefined

  constructor(address: PostgresAddress, host: PostgresAddress['hosts'][number], connectionsMax: number) {
    const open = () => openClient(address, host)
    this.#pool = new Pool(open, connectionsMax)
    this.#questions = new Pool(open, 1)
  }

  get poolUse(): PoolUse {
    return this.#pool.inUse
  }

  use<Result>(use: Use, work: (connection: Connection) => Promise<Result>): Promise<Result> {
    return this.#pool.use(use, work)
  }

  /** Whether a commit works now. Callers at the same time share the question. Never rejects. */
  askWhetherCommits(): Promise<CommitAnswer> {
    this.#asked ??= this.#ask(makeCommit)
      .then(
        () => 'commits' as const,
        (error: unknown) => (isAnswer(error) ? ('refuses' as const) : ('silent' as const)),
      )
      .finally(() => {
        this.#asked = undefined
      })
    return this.#asked
  }

  /** Whether it is a standby server; what went wrong if it does not say. Never rejects. */
  async askWhetherStandby(): Promise<boolean | Error> {
    try {
      const [row] = await this.#ask(selectStandby, [''])
      return row?.['isStandby'] === true
    } catch (error) {
      return error as Error
    }
  }

  /** Uses under way may take this long. */
  async close(timeoutS = 0): Promise<void> {
    await Promise.allSettled([this.#pool.close(timeoutS), this.#questions.close(0)])
  }

  async #ask(text: string, values: string[] = []): Promise<Record<string, unknown>[]> {
    const use = new Use()
    // If this process was suspended, the answer may have arrived: read it before calling the server silent.
    const timer = setTimeout(() => setImmediate(() => use.giveUp(silent())), answerMsMax)
    try {
      return await this.#questions.use(use, async (connection) => await connection.query(text, values))
    } finally {
      clearTimeout(timer)
    }
  }
}

/**
 * `refuses`: the server says why it cannot commit. `silent`: it hangs, is not there, or cannot finish a commit, because
 * its disk or its standby server does not respond.
 */
export type CommitAnswer = 'commits' | 'refuses' | 'silent'

/** The server of an address; of several servers, the first one that accepts changes. */
export async function findPrimary(address: PostgresAddress, connectionsMax: number): Promise<Server> {
  const servers = address.hosts.map((host) => new Server(address, host, connectionsMax))
  if (servers.length === 1) return servers[0]!
  const answers = await Promise.all(servers.map((server) => server.askWhetherStandby()))
  const primary = servers[answers.indexOf(false)]
  await Promise.all(servers.map((server) => (server === primary ? undefined : server.close())))
  if (primary) return primary
  const problem = answers.find((answer) => answer !== true)
  throw problem ?? unavailable('All PostgreSQL servers in MILLRACE_STORE are standby servers, which accept no changes.')
}

/** A client with one connection, which is made when it is needed. */
function openClient(
  { database, username, password, tls, prepares }: PostgresAddress,
  { hostname, port }: PostgresAddress['hosts'][number],
): SQL {
  const parts = { adapter: 'postgres', hostname, port, database, username, password, max: 1 } as const
  const timeouts = { connectionTimeout: connectSecondsMax, idleTimeout: idleSecondsMax }
  const options = { ...parts, ...timeouts, bigint: true, prepare: prepares }
  if (typeof tls === 'object') return new SQL({ ...options, tls })
  // Only an address can say that TLS is used if the server offers it.
  return new SQL(new URL(`postgres://host/?sslmode=${tls === 'never' ? 'disable' : 'prefer'}`), options)
}

// Only a statement with a value is prepared.
const selectStandby = 'SELECT pg_is_in_recovery() AND $1::text IS NOT NULL AS "isStandby"'

const makeCommit = `
  INSERT INTO millrace.marks AS m (name, value) VALUES ('commits', 1)
  ON CONFLICT (name) DO UPDATE SET value = m.value + 1`

/** With the patience of calls (connection.ts), callers get a response within two seconds. */
const answerMsMax = 750
const connectSecondsMax = 2
const idleSecondsMax = 300
