import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { programPath } from '../programs.ts'
import { asPostgres, freePort, type PostgresServer } from './postgres.ts'

/** PgBouncer in transaction mode, in front of a server: statements of one client reach changing connections. */
export class PgBouncer implements AsyncDisposable {
  readonly #process: Bun.Subprocess
  readonly #port: number

  private constructor(process: Bun.Subprocess, port: number) {
    this.#process = process
    this.#port = port
  }

  static async start(server: PostgresServer): Promise<PgBouncer> {
    const port = freePort()
    const settings = join(server.folder, 'pgbouncer.ini')
    const lines = [
      ...['[databases]', `* = host=127.0.0.1 port=${server.port} user=postgres`],
      ...['[pgbouncer]', 'listen_addr = 127.0.0.1', `listen_port = ${port}`, `unix_socket_dir = ${server.folder}`],
      ...['auth_type = any', 'pool_mode = transaction', 'default_pool_size = 3'],
    ]
    writeFileSync(settings, lines.join('\n'))
    const child = Bun.spawn(asPostgres([programPath('pgbouncer'), '--quiet', settings]), {
      stdout: 'ignore',
      stderr: Bun.file(join(server.folder, 'pgbouncer.log')),
    })
    while (!(await accepts(port))) {
      if (child.exitCode !== null) throw new Error(`PgBouncer exited with ${child.exitCode}`)
      await Bun.sleep(20)
    }
    return new PgBouncer(child, port)
  }

  /** The address of a server's database, through PgBouncer. */
  url(address: string): string {
    const url = new URL(address)
    url.port = String(this.#port)
    return url.href
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#process.kill('SIGKILL')
    await this.#process.exited
  }
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}
