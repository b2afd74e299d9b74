import { expect } from 'bun:test'
import '../../support/built.ts'
import { type Ended, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { deploy, type Installation, init, type Serving, serve } from '../../support/running-service.ts'

const hook = (path: string, authentication: Record<string, string>) =>
  document({ name: path, blocks: [block('hook', 'webhook_trigger', { path, authentication })] })

export const talk = document({
  name: 'Talk',
  blocks: [
    block('talk', 'chat_trigger', { identifier: 'help', access: 'password', password: 'a long password' }),
    block('answer', 'response', { data: '"hello"' }),
  ],
  edges: ['talk > answer'],
})

/** An installation in which only workflows hold secrets: a password and three tokens. No service runs. */
export class SealedInstallation implements AsyncDisposable {
  readonly folder = temporaryFolder()
  /** The workflow with the password. */
  chatId = ''
  home: Installation = { userId: '', workspaceId: '', apiKey: '' }
  #service: Serving | undefined

  /** `settings`: those of the key. */
  static async make(settings: Record<string, string> = {}): Promise<SealedInstallation> {
    const made = new SealedInstallation()
    made.home = await init(made.folder.path)
    const { apiKey } = made.home
    const { url } = await made.serve(settings)
    made.chatId = (await deploy(url, apiKey, talk)).split('/').at(-2)!
    await deploy(url, apiKey, hook('bearer', { type: 'bearer', token: 'a-long-token' }))
    await deploy(url, apiKey, hook('header', { type: 'header', name: 'X-Token', value: 'a-long-token' }))
    await deploy(url, apiKey, hook('github', { type: 'signature', scheme: 'github', secret: 'a-secret' }))
    const headers = { authorization: 'Bearer a-long-token' }
    const accepted = await fetch(`${url}/api/webhooks/trigger/bearer`, { method: 'POST', headers, body: '{}' })
    expect(accepted.status).toBe(202)
    await made.#service!.kill('SIGTERM')
    return made
  }

  async serve(settings: Record<string, string> = {}): Promise<Serving> {
    this.#service = await serve(this.folder.path, settings)
    return this.#service
  }

  /** Why a service does not start. */
  async startError(settings: Record<string, string> = {}): Promise<string> {
    const error = await this.serve(settings).then(
      () => undefined,
      (error: Error) => error,
    )
    if (!error) throw new Error('The service has started')
    return error.message
  }

  command(settings: Record<string, string>, ...words: string[]): Promise<Ended> {
    return millrace(words, { environment: { ...settings, MILLRACE_DATA: this.folder.path } })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#service?.kill('SIGKILL')
    this.folder[Symbol.dispose]()
  }
}
