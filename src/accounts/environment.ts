import type { Clock } from '../domain/clock.ts'
import {
  type Environment,
  noEnvironment,
  variableContext,
  variableNameProblem,
  variableValueProblem,
} from '../domain/environment.ts'
import { AppError } from '../domain/errors.ts'
import { createRedactor, type Secret } from '../domain/redaction.ts'
import type { Store, VariableRow } from '../store/store.ts'
import type { SecretBox } from './secret-box.ts'

export type EnvironmentsOptions = {
  store: Pick<Store, 'listEnvironment' | 'setVariable' | 'unsetVariable'>
  box: Pick<SecretBox, 'seal' | 'open'>
  clock: Clock
  /** Environments remembered at most. */
  workspacesMax?: number
}

/**
 * The environments of workspaces, decrypted, in memory. One that is known is trusted for 3 s; for another 1.5 s it is
 * still served while the store is asked again in the background, so a busy workspace never waits; then runs wait for the
 * answer. Hence a change made by whatever process holds within 5 s; one that is made through this object holds at once.
 * Concurrent look-ups of one workspace share one query.
 */
export class Environments {
  readonly #store: EnvironmentsOptions['store']
  readonly #box: EnvironmentsOptions['box']
  readonly #clock: Clock
  readonly #workspacesMax: number
  readonly #known = new Map<string, Entry>()
  readonly #asked = new Map<string, Promise<Environment>>()

  constructor({ store, box, clock, workspacesMax = 1_000 }: EnvironmentsOptions) {
    this.#store = store
    this.#box = box
    this.#clock = clock
    this.#workspacesMax = workspacesMax
  }

  /** Rejects with `STORAGE_UNAVAILABLE` when a value cannot be decrypted: then no run of the workspace may start. */
  readonly of = (workspaceId: string): Environment | Promise<Environment> => {
    const entry = this.#known.get(workspaceId)
    if (entry !== undefined) {
      const ageMs = this.#clock.monotonic() - entry.askedAt
      if (ageMs < trustedMs) return entry.environment
      if (ageMs < servedMs) {
        // A failure is for the run that comes when the entry is too old to be served.
        this.#ask(workspaceId).catch(() => {})
        return entry.environment
      }
    }
    return this.#ask(workspaceId)
  }

  /** Seals and stores a variable. Whether it is new. INVALID_INPUT when the name or the value cannot be one. */
  async set(variable: { workspaceId: string; name: string; value: string; plain: boolean }): Promise<boolean> {
    const { workspaceId, name, value, plain } = variable
    assertVariable(name, value)
    const sealed = this.#box.seal(value, variableContext(workspaceId, name))
    try {
      return await this.#store.setVariable({ workspaceId, name, sealed, plain, at: this.#clock.now() })
    } finally {
      this.#forget(workspaceId)
    }
  }

  /** False when there is no such variable. */
  async unset(workspaceId: string, name: string): Promise<boolean> {
    try {
      return await this.#store.unsetVariable(workspaceId, name)
    } finally {
      this.#forget(workspaceId)
    }
  }

  /** What is being read now may be from before the change: it is not taken. */
  #forget(workspaceId: string): void {
    this.#known.delete(workspaceId)
    this.#asked.delete(workspaceId)
  }

  #ask(workspaceId: string): Promise<Environment> {
    const asked = this.#asked.get(workspaceId)
    if (asked) return asked
    if (this.#asked.size >= askedMax) {
      return Promise.reject(new AppError('OVERLOADED', 'Too many environments are being read', { retryAfterS: 1 }))
    }
    const isWanted = () => this.#asked.get(workspaceId) === asking
    const asking: Promise<Environment> = this.#read(workspaceId, isWanted).finally(() => {
      if (isWanted()) this.#asked.delete(workspaceId)
    })
    this.#asked.set(workspaceId, asking)
    return asking
  }

  async #read(workspaceId: string, isWanted: () => boolean): Promise<Environment> {
    // Taken before the query: what it answers may be as old as this.
    const askedAt = this.#clock.monotonic()
    const rows = await this.#store.listEnvironment(workspaceId)
    const known = this.#known.get(workspaceId)
    const environment = known && isSame(known.rows, rows) ? known.environment : this.#open(workspaceId, rows)
    if (isWanted()) this.#remember(workspaceId, { rows, environment, askedAt })
    return environment
  }

  #open(workspaceId: string, rows: readonly VariableRow[]): Environment {
    if (rows.length === 0) return noEnvironment
    const values = new Map<string, string>()
    const secrets: Secret[] = []
    for (const { name, sealed, plain } of rows) {
      // Not a TextDecoder: it would drop a byte order mark.
      const value = Buffer.from(this.#box.open(sealed, variableContext(workspaceId, name))).toString()
      values.set(name, value)
      if (!plain) secrets.push({ name, value })
    }
    return { values, redactor: createRedactor(secrets) }
  }

  #remember(workspaceId: string, entry: Entry): void {
    // Those in use are put again every few seconds, so the first of the map is one that is not.
    this.#known.delete(workspaceId)
    this.#known.set(workspaceId, entry)
    if (this.#known.size <= this.#workspacesMax) return
    const [oldest] = this.#known.keys()
    if (oldest !== undefined) this.#known.delete(oldest)
  }
}

type Entry = { rows: readonly VariableRow[]; environment: Environment; askedAt: number }

const trustedMs = 3_000
const servedMs = 4_500
const askedMax = 1_000

function assertVariable(name: string, value: string): void {
  const problems = [
    { path: 'name', message: variableNameProblem(name) },
    { path: 'value', message: variableValueProblem(value) },
  ]
  const details = problems.flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]))
  if (details.length === 0) return
  throw new AppError('INVALID_INPUT', details.map(({ message }) => message).join(' '), { details })
}

/** Sealing is never the same twice, so equal bytes are the same value. */
function isSame(before: readonly VariableRow[], after: readonly VariableRow[]): boolean {
  return (
    before.length === after.length &&
    before.every((row, index) => {
      const other = after[index]!
      return row.name === other.name && row.plain === other.plain && Buffer.compare(row.sealed, other.sealed) === 0
    })
  )
}
