import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { programPath } from '../programs.ts'
import { freePort } from '../store/postgres.ts'
import { serverOfTests, untilAccepting } from './local-server.ts'

/** A Redis server of its own on free ports of the loopback address, one of them with TLS. Its password is `secret`. */
export class RedisServer implements AsyncDisposable {
  readonly port = freePort()
  readonly tlsPort = freePort()
  readonly #folder = mkdtempSync(join(tmpdir(), 'millrace-redis-'))
  #process: Bun.Subprocess | undefined

  static async start(): Promise<RedisServer> {
    const server = new RedisServer()
    await server.run()
    return server
  }

  async run(): Promise<void> {
    const file = (name: string) => resolve('test/support/certificates', name)
    const settings = [
      ...[
        '--port',
        String(this.port),
        '--bind',
        '127.0.0.1',
        '--dir',
        this.#folder,
        '--save',
        '',
        '--appendonly',
        'no',
      ],
      ...['--requirepass', 'secret', '--tls-port', String(this.tlsPort), '--tls-auth-clients', 'no'],
      ...['--tls-cert-file', file('service.pem'), '--tls-key-file', file('service.key')],
      ...['--tls-ca-cert-file', file('authority.pem')],
    ]
    this.#process = Bun.spawn([programPath('redis-server'), ...settings], {
      stdout: Bun.file(join(this.#folder, 'log')),
      stderr: 'ignore',
    })
    await untilAccepting(this.tlsPort, () => Bun.file(join(this.#folder, 'log')).text())
  }

  /** SIGKILL. */
  async kill(): Promise<void> {
    this.#process?.kill('SIGKILL')
    await this.#process?.exited
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.kill()
    rmSync(this.#folder, { recursive: true, force: true })
  }
}

export const redisServer = () => serverOfTests(() => RedisServer.start())
