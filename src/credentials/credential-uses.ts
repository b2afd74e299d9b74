import type { Clock, Timer } from '../domain/clock.ts'
import { hasOwnHost } from '../domain/credential/kinds.ts'
import type { OpenCredential } from '../domain/credential/open-credential.ts'
import { forgetOldest } from '../domain/forget-oldest.ts'
import type { CredentialUse } from '../store/credential-store.ts'

export type CredentialUsesOptions = {
  record(uses: readonly CredentialUse[]): Promise<void>
  clock: Clock
  credentialsMax?: number
}

/**
 * Records when credentials were last used and what their services said: in the background, at most once a minute per
 * credential unless the outcome changes. Nobody waits for it, and it is lost when the disk fails.
 */
export class CredentialUses {
  readonly #options: CredentialUsesOptions
  readonly #credentialsMax: number
  /** By credential and its last change: the last recorded use, oldest first. */
  readonly #noted = new Map<string, { at: number; isRefused: boolean }>()
  #waiting = new Map<string, CredentialUse>()
  #timer: Timer | undefined
  #writing: Promise<void> | undefined

  constructor(options: CredentialUsesOptions) {
    this.#options = options
    this.#credentialsMax = options.credentialsMax ?? 10_000
  }

  /** `status`: of the response. 401 and 407 refuse the credential; other statuses from 400 on say nothing about it. */
  readonly note = ({ id, kind, updatedAt }: OpenCredential, status: number): void => {
    const key = `${id} ${updatedAt}`
    const { clock } = this.#options
    const isRefused = status === 401 || status === 407
    const now = clock.monotonic()
    const last = this.#noted.get(key)
    if (last && now - last.at < minuteMs && last.isRefused === isRefused) return
    this.#noted.delete(key)
    this.#noted.set(key, { at: now, isRefused })
    forgetOldest(this.#noted, this.#credentialsMax)
    const problem = hasOwnHost(kind)
      ? 'The server refused the user or the password.'
      : `The service responded with ${status}.`
    const state = isRefused
      ? { state: { state: 'failing', problem } as const }
      : status < 400
        ? { state: { state: 'ok', problem: null } as const }
        : {}
    this.#waiting.set(id, { ...this.#waiting.get(id), id, at: clock.now(), ...state })
    this.#timer ??= clock.setTimer(gatherMs, () => void this.#write())
  }

  /** Writes the pending uses. */
  async stop(): Promise<void> {
    this.#timer?.cancel()
    await this.#writing
    await this.#write()
  }

  #write(): Promise<void> {
    this.#timer = undefined
    const uses = [...this.#waiting.values()]
    this.#waiting = new Map()
    if (uses.length === 0) return Promise.resolve()
    this.#writing = this.#options.record(uses).catch(() => {})
    return this.#writing
  }
}

const minuteMs = 60_000
/** Credentials used at about the same time are written together. */
const gatherMs = 1_000
