import {
  type Environment,
  noEnvironment,
  variableContext,
  variableNameProblem,
  variableValueProblem,
} from '../domain/account/environment.ts'
import type { Clock } from '../domain/clock.ts'
import { problemsError } from '../domain/errors.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import { createRedactor, type Redactor, type Secret } from '../domain/redaction/redactor.ts'
import type { VariableRow } from '../store/account-store.ts'
import type { Store } from '../store/store.ts'
import { FreshCache } from './fresh-cache.ts'
import type { SecretBox } from './secret-box.ts'

export type EnvironmentsOptions = {
  store: Pick<Store, 'listEnvironment' | 'setVariable' | 'unsetVariable'>
  box: Pick<SecretBox, 'seal' | 'open'>
  clock: Clock
  /** Maximum number of environments in memory. */
  workspacesMax?: number
}

/**
 * The decrypted environments of workspaces, in memory. A change made through this object applies immediately; a change
 * made by another process applies within 5 s (see `FreshCache`).
 */
export class Environments {
  readonly #store: EnvironmentsOptions['store']
  readonly #box: EnvironmentsOptions['box']
  readonly #clock: Clock
  readonly #known: FreshCache<Known>
  /** By workspace. A workspace takes a few bytes here, and a kilobyte with secrets in its documents. */
  readonly #written = new Map<string, WrittenSecrets>()

  constructor({ store, box, clock, workspacesMax = 1_000 }: EnvironmentsOptions) {
    this.#store = store
    this.#box = box
    this.#clock = clock
    const ask = (workspaceId: string, before: Known | undefined) => this.#read(workspaceId, before)
    this.#known = new FreshCache({ ask, clock, entriesMax: workspacesMax })
  }

  /** Rejects with `STORAGE_UNAVAILABLE` when a value cannot be decrypted. Then no run of the workspace may start. */
  readonly of = (workspaceId: string): Environment | Promise<Environment> => {
    const known = this.#known.known(workspaceId)
    if (known) return known.environment
    return Promise.resolve(this.#known.get(workspaceId)).then((read) => read?.environment ?? noEnvironment)
  }

  /**
   * Hides further secrets of a workspace: those that authors wrote in documents. Also applies to runs in progress, and
   * until the service stops, because runs of earlier versions may still be recorded.
   */
  readonly hide = (workspaceId: string, secrets: readonly Secret[]): void => {
    if (secrets.length > 0) this.#writtenIn(workspaceId).add(secrets)
  }

  /** Hides a secret that is replaced from time to time, such as a token: the latest ones of each `key`. */
  readonly hideLatest = (workspaceId: string, key: string, secret: Secret): void => {
    this.#writtenIn(workspaceId).addLatest(key, secret)
  }

  #writtenIn(workspaceId: string): WrittenSecrets {
    const known = this.#written.get(workspaceId)
    if (known) return known
    const written = new WrittenSecrets()
    this.#written.set(workspaceId, written)
    return written
  }

  /** Removes the secrets of all workspaces in memory from JSON text, because a log line may contain any of them. */
  readonly redact = (jsonText: string): string => {
    let text = jsonText
    for (const { environment } of this.#known.values()) text = environment.redactor?.redact(text) ?? text
    return text
  }

  /** Seals and stores a variable. Throws INVALID_INPUT for an invalid name or value. */
  async set(variable: SetVariable): Promise<{ isNew: boolean; updatedAt: number }> {
    const { workspaceId, name, value, plain } = variable
    assertVariable(name, value)
    const sealed = this.#box.seal(value, variableContext(workspaceId, name))
    try {
      const updatedAt = this.#clock.now()
      return { isNew: await this.#store.setVariable({ workspaceId, name, sealed, plain, at: updatedAt }), updatedAt }
    } finally {
      this.#known.invalidate(workspaceId)
    }
  }

  /** Returns false when the variable does not exist. */
  async unset(workspaceId: string, name: string): Promise<boolean> {
    try {
      return await this.#store.unsetVariable(workspaceId, name)
    } finally {
      this.#known.invalidate(workspaceId)
    }
  }

  async #read(workspaceId: string, before: Known | undefined): Promise<Known> {
    const rows = await this.#store.listEnvironment(workspaceId)
    if (before && isSame(before.rows, rows)) return before
    return { rows, environment: this.#open(workspaceId, rows) }
  }

  #open(workspaceId: string, rows: readonly VariableRow[]): Environment {
    const values = new Map<string, string>()
    const secrets: Secret[] = []
    for (const { name, sealed, plain } of rows) {
      // A TextDecoder would drop a byte order mark.
      const value = Buffer.from(this.#box.open(sealed, variableContext(workspaceId, name))).toString()
      values.set(name, value)
      if (!plain) secrets.push({ name, value })
    }
    return new WorkspaceEnvironment(values, secrets, this.#writtenIn(workspaceId))
  }
}

/** Secrets in documents and credentials of one workspace, at most `writtenMax`: the latest. */
class WrittenSecrets {
  readonly #byValue = new Map<string, Secret>()
  readonly #latest = new Map<string, readonly Secret[]>()
  /** Counts the changes. */
  version = 0

  get all(): Iterable<Secret> {
    return [...this.#byValue.values(), ...[...this.#latest.values()].flat()]
  }

  /** Responses of requests with a former token may still arrive. */
  addLatest(key: string, secret: Secret): void {
    const before = this.#latest.get(key) ?? []
    if (before.some(({ value }) => value === secret.value)) return
    this.#latest.set(key, [secret, ...before].slice(0, latestMax))
    this.version += 1
  }

  add(secrets: readonly Secret[]): void {
    for (const secret of secrets) {
      if (this.#byValue.has(secret.value)) continue
      this.#byValue.set(secret.value, secret)
      this.version += 1
    }
    while (this.#byValue.size > writtenMax) forgetOldest(this.#byValue, writtenMax)
  }
}

const writtenMax = 1_000
const latestMax = 3

/** The variables of a workspace. Its redactor also hides the secrets in documents that became known since. */
class WorkspaceEnvironment implements Environment {
  readonly values: ReadonlyMap<string, string>
  readonly #secrets: readonly Secret[]
  readonly #written: WrittenSecrets
  #redactor: Redactor | undefined
  #version = -1

  constructor(values: ReadonlyMap<string, string>, secrets: readonly Secret[], written: WrittenSecrets) {
    this.values = values
    this.#secrets = secrets
    this.#written = written
  }

  get redactor(): Redactor | undefined {
    if (this.#version !== this.#written.version) {
      this.#redactor = createRedactor([...this.#secrets, ...this.#written.all])
      this.#version = this.#written.version
    }
    return this.#redactor
  }
}

export type SetVariable = { workspaceId: string; name: string; value: string; plain: boolean }

/** An environment and the rows it was decrypted from. */
type Known = { rows: readonly VariableRow[]; environment: Environment }

function assertVariable(name: string, value: string): void {
  const problems = [
    { path: 'name', message: variableNameProblem(name) },
    { path: 'value', message: variableValueProblem(value) },
  ]
  const details = problems.flatMap(({ path, message }) => (message === undefined ? [] : [{ path, message }]))
  if (details.length === 0) return
  throw problemsError('INVALID_INPUT', details)
}

/** Each sealing uses a new nonce, so equal bytes mean an unchanged value. */
function isSame(before: readonly VariableRow[], after: readonly VariableRow[]): boolean {
  return (
    before.length === after.length &&
    before.every((row, index) => {
      const other = after[index]!
      return row.name === other.name && row.plain === other.plain && Buffer.compare(row.sealed, other.sealed) === 0
    })
  )
}
