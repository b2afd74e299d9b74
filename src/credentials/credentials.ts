import { FreshCache } from '../accounts/fresh-cache.ts'
import { variableReference } from '../domain/account/environment.ts'
import type { Clock } from '../domain/clock.ts'
import { credentialContext } from '../domain/credential/credential.ts'
import { signsIn } from '../domain/credential/kinds.ts'
import { filledCredential, type OpenCredential } from '../domain/credential/open-credential.ts'
import { credentialProblems, defaultHosts, type WrittenCredential } from '../domain/credential/validate.ts'
import { AppError, problemsError } from '../domain/errors.ts'
import { newId } from '../domain/ids.ts'
import { OutboundError } from '../domain/outbound-request.ts'
import type { Secret } from '../domain/redaction/redactor.ts'
import type { CredentialRow } from '../store/credential-store.ts'
import type { Store } from '../store/store.ts'
import { basicAuthorization } from './authorization.ts'

export type CredentialsOptions = {
  store: Pick<Store, 'listCredentials' | 'getCredential' | 'createCredential' | 'updateCredential' | 'deleteCredential'>
  box: { seal(plain: string, context: string): Uint8Array; openText(sealed: Uint8Array, context: string): string }
  /** Hides secrets of a workspace in its logs, from now on. */
  hide(workspaceId: string, secrets: readonly Secret[]): void
  clock: Clock
  /** Maximum number of workspaces in memory. */
  workspacesMax?: number
}

/** A change of a credential. Absent members stay. A secret that is null is removed; one that is not named stays. */
export type CredentialEdit = {
  name?: string
  kind?: string
  hosts?: readonly string[]
  fields?: Readonly<Record<string, unknown>>
  secrets?: Readonly<Record<string, string | null>>
}

/** A credential and the names of its secrets that are set. */
export type ListedCredential = { row: CredentialRow; secrets: readonly string[] }

/**
 * The credentials of workspaces, decrypted in memory for their runs. A change made through this object applies
 * immediately; a change made by another process applies within 5 s (see `FreshCache`).
 */
export class Credentials {
  readonly #options: CredentialsOptions
  readonly #known: FreshCache<ReadonlyMap<string, OpenCredential>>

  constructor(options: CredentialsOptions) {
    this.#options = options
    const { clock, workspacesMax = 1_000 } = options
    this.#known = new FreshCache({ ask: (workspaceId) => this.#read(workspaceId), clock, entriesMax: workspacesMax })
  }

  /**
   * The credential of this name for a run with these variables; undefined when there is none. Throws
   * `CREDENTIAL_FAILED` when it names a variable that is not set.
   */
  async find(
    workspaceId: string,
    name: string,
    variables: ReadonlyMap<string, string>,
  ): Promise<OpenCredential | undefined> {
    const credential = (await this.#known.get(workspaceId))?.get(name)
    if (!credential) return undefined
    if (credential.isLost) {
      const message = `The secrets of the credential "${name}" were lost with their key. Set them again.`
      throw new OutboundError('CREDENTIAL_FAILED', message)
    }
    const filled = filledCredential(credential, (variable) => {
      const value = variables.get(variable)
      if (value !== undefined) return value
      const message = `The credential "${name}" needs the environment variable {{${variable}}}, which is not set.`
      throw new OutboundError('CREDENTIAL_FAILED', message)
    })
    this.#hide(filled)
    return filled
  }

  /** By name. */
  async list(workspaceId: string): Promise<ListedCredential[]> {
    return (await this.#options.store.listCredentials(workspaceId)).map((row) => this.#listed(row))
  }

  /** NOT_FOUND when there is none of this name. */
  async get(workspaceId: string, name: string): Promise<ListedCredential> {
    return this.#listed(await this.#row(workspaceId, name))
  }

  /** INVALID_INPUT lists everything that is wrong. CONFLICT when the name is taken. */
  async create(workspaceId: string, written: WrittenCredential, by: string): Promise<ListedCredential> {
    const { name, kind, hosts, fields, secrets } = checked(written)
    const id = newId()
    const sealed = this.#seal(workspaceId, id, secrets)
    const at = this.#options.clock.now()
    this.#hide({ ...written, id, workspaceId, state: 'untested', problem: null, updatedAt: at, tokenVersion: 0 })
    try {
      const credential = { id, workspaceId, name, kind, hosts, fields, sealed, at, by }
      return this.#listed(await this.#options.store.createCredential(credential))
    } finally {
      this.#known.invalidate(workspaceId)
    }
  }

  /** Like `create`; NOT_FOUND when there is none of this name. */
  async change(workspaceId: string, name: string, edit: CredentialEdit, by: string): Promise<ListedCredential> {
    const row = await this.#row(workspaceId, name)
    const before = this.#opened(row)
    const kept = edit.kind === undefined || edit.kind === row.kind ? before.secrets : {}
    const secrets = Object.fromEntries(
      Object.entries({ ...kept, ...edit.secrets }).filter((pair): pair is [string, string] => pair[1] !== null),
    )
    const { fields = row.fields, kind = row.kind } = edit
    // Default hosts follow the field that they come from.
    const follows = kind === row.kind && row.hosts.join() === defaultHosts(row).join()
    const hosts = edit.hosts ?? (follows ? [] : row.hosts)
    const written = checked({ name: edit.name ?? row.name, kind, hosts, fields, secrets })
    const keepsToken =
      written.kind === row.kind &&
      JSON.stringify(written.fields) === JSON.stringify(row.fields) &&
      JSON.stringify(secrets) === JSON.stringify(before.secrets)
    const sealed = this.#seal(workspaceId, row.id, secrets)
    this.#hide({ ...before, ...written })
    try {
      const change = { ...written, sealed, at: this.#options.clock.now(), by, keepsToken }
      return this.#listed(await this.#options.store.updateCredential(row.id, change))
    } finally {
      this.#known.invalidate(workspaceId)
    }
  }

  /** False when there is none of this name. */
  async delete(workspaceId: string, name: string): Promise<boolean> {
    try {
      return await this.#options.store.deleteCredential(workspaceId, name)
    } finally {
      this.#known.invalidate(workspaceId)
    }
  }

  async #row(workspaceId: string, name: string): Promise<CredentialRow> {
    const row = await this.#options.store.getCredential(workspaceId, name)
    if (!row) throw new AppError('NOT_FOUND', `The workspace has no credential "${name.slice(0, 100)}".`)
    return row
  }

  async #read(workspaceId: string): Promise<ReadonlyMap<string, OpenCredential>> {
    const rows = await this.#options.store.listCredentials(workspaceId)
    const opened = rows.map((row) => this.#opened(row))
    for (const credential of opened) this.#hide(credential)
    return new Map(opened.map((credential) => [credential.name, credential]))
  }

  #opened(row: CredentialRow): OpenCredential {
    const { id, workspaceId, name, kind, hosts, fields, state, problem, updatedAt, tokenVersion } = row
    const lost = row.sealed.length === 0 ? { isLost: true as const } : {}
    return {
      ...{ id, workspaceId, name, kind, hosts, fields, state, problem, updatedAt, tokenVersion },
      ...{ secrets: this.#secretsOf(row), ...lost },
    }
  }

  #listed(row: CredentialRow): ListedCredential {
    return { row: withSignInState(row), secrets: Object.keys(this.#secretsOf(row)) }
  }

  /** None when their key was lost. */
  #secretsOf({ id, workspaceId, sealed }: CredentialRow): Readonly<Record<string, string>> {
    if (sealed.length === 0) return {}
    const text = this.#options.box.openText(sealed, credentialContext(workspaceId, id))
    return JSON.parse(text) as Record<string, string>
  }

  #seal(workspaceId: string, id: string, secrets: Readonly<Record<string, string>>): Uint8Array {
    return this.#options.box.seal(JSON.stringify(secrets), credentialContext(workspaceId, id))
  }

  /** A value with `{{NAME}}` is hidden when it is filled in, and its variable is hidden by itself. */
  #hide(credential: OpenCredential): void {
    const hidden = secretsOf([credential]).filter(({ value }) => value.search(variableReference) < 0)
    this.#options.hide(credential.workspaceId, hidden)
  }
}

/** Everything that logs must not show of some credentials. */
export function secretsOf(credentials: Iterable<OpenCredential>): Secret[] {
  const hidden: Secret[] = []
  for (const { name, kind, fields, secrets } of credentials) {
    for (const value of Object.values(secrets)) hidden.push({ name, value })
    if (kind !== 'basic') continue
    // The encoded pair does not contain the encoded password.
    const value = basicAuthorization(String(fields['username'] ?? ''), secrets['password'] ?? '')
    hidden.push({ name, value: value.slice('Basic '.length) })
  }
  return hidden
}

/** Whether requests can be sent with a credential: its secrets may have been lost with their key. */
export function isReady({ row }: ListedCredential): boolean {
  return row.state !== 'needs_sign_in' && row.sealed.length > 0
}

/** A credential that nobody has signed in with yet needs that. */
function withSignInState(row: CredentialRow): CredentialRow {
  if (!signsIn(row.kind) || row.token !== null || row.state !== 'untested') return row
  return { ...row, state: 'needs_sign_in', problem: 'Nobody has signed in yet.' }
}

/** The header that requests with a credential get; undefined for kinds that set none, or several. */
export function headerOf({ kind, fields }: Pick<CredentialRow, 'kind' | 'fields'>): string | undefined {
  if (kind === 'header') return typeof fields['name'] === 'string' ? fields['name'] : undefined
  return ['basic', 'bearer', 'digest', 'aws_sigv4'].includes(kind) ? 'Authorization' : undefined
}

function checked(given: WrittenCredential): WrittenCredential {
  const written = given.hosts.length === 0 ? { ...given, hosts: defaultHosts(given) } : given
  const problems = credentialProblems(written)
  if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  return written
}
