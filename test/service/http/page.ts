import { hashToken, newToken } from '../../../src/accounts/sessions.ts'
import type { Role } from '../../../src/domain/account/role.ts'
import type { HttpResult, HttpWorld } from './world.ts'

/** The requests of the dashboard's pages for a signed-in user. */
export class Page {
  readonly #world: HttpWorld
  readonly #cookie: string
  readonly userId: string

  /** For the owner, or for another account. */
  static async of(world: HttpWorld, userId = world.userId): Promise<Page> {
    const token = newToken()
    const session = { hash: hashToken(token), userId, createdAt: Date.now(), expiresAt: Date.now() + 3_600_000 }
    await world.store.createSession(session)
    return new Page(world, userId, `millrace_session=${token}`)
  }

  /** For a new account with a role in the owner's workspace. */
  static async ofMember(world: HttpWorld, role: Role): Promise<Page> {
    const userId = await world.accounts.addUser()
    await world.accounts.addMember(userId, world.workspaceId, role)
    return Page.of(world, userId)
  }

  private constructor(world: HttpWorld, userId: string, cookie: string) {
    this.#world = world
    this.userId = userId
    this.#cookie = cookie
  }

  call(method: string, path: string, body?: unknown, headers: Record<string, string> = {}): Promise<HttpResult> {
    return this.#world.call(method, path, {
      key: null,
      ...(body === undefined ? {} : { body }),
      headers: { cookie: this.#cookie, 'sec-fetch-site': 'same-origin', ...headers },
    })
  }

  get(path: string): Promise<HttpResult> {
    return this.call('GET', path)
  }

  /** Reads a stream of events to its end. */
  async watch(path: string): Promise<{ status: number; text: string }> {
    const response = await fetch(this.#world.url + path, { headers: { cookie: this.#cookie } })
    return { status: response.status, text: await response.text() }
  }

  post(path: string, body?: unknown): Promise<HttpResult> {
    return this.call('POST', path, body)
  }
}
