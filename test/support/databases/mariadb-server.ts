import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { programPath } from '../programs.ts'
import { freePort } from '../store/postgres.ts'
import { serverOfTests, untilAccepting } from './local-server.ts'

/** A MariaDB server of its own on a free port of the loopback address. The user `tester` has the password `secret`. */
export class MariadbServer implements AsyncDisposable {
  readonly port = freePort()
  readonly #folder = mkdtempSync(join(tmpdir(), 'millrace-mariadb-'))
  #process: Bun.Subprocess | undefined

  static async start(): Promise<MariadbServer> {
    const server = new MariadbServer()
    const data = `--datadir=${join(server.#folder, 'data')}`
    const how = ['--no-defaults', '--auth-root-authentication-method=normal', '--skip-test-db', server.#user, data]
    const { exitCode, stderr } = Bun.spawnSync([programPath('mariadb-install-db'), ...how])
    if (exitCode !== 0) throw new Error(`mariadb-install-db failed: ${stderr}`)
    const init = `CREATE USER IF NOT EXISTS tester@'127.0.0.1' IDENTIFIED BY 'secret';
      GRANT ALL ON *.* TO tester@'127.0.0.1';\n`
    writeFileSync(join(server.#folder, 'init.sql'), init)
    await server.run()
    return server
  }

  async run(): Promise<void> {
    const file = (name: string) => resolve('test/support/certificates', name)
    const settings = [
      ...['--no-defaults', this.#user, `--datadir=${join(this.#folder, 'data')}`, `--port=${this.port}`],
      ...['--bind-address=127.0.0.1', '--skip-name-resolve', `--socket=${join(this.#folder, 'socket')}`],
      ...[`--init-file=${join(this.#folder, 'init.sql')}`, `--pid-file=${join(this.#folder, 'pid')}`],
      ...[
        `--ssl-cert=${file('service.pem')}`,
        `--ssl-key=${file('service.key')}`,
        '--innodb-flush-log-at-trx-commit=0',
      ],
    ]
    const log = join(this.#folder, 'log')
    this.#process = Bun.spawn([programPath('mariadbd'), ...settings], { stdout: Bun.file(log), stderr: Bun.file(log) })
    await untilAccepting(this.port, () => Bun.file(log).text())
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

  get #user(): string {
    return `--user=${Bun.spawnSync(['id', '-un']).stdout.toString().trim()}`
  }
}

export const mariadbServer = () => serverOfTests(() => MariadbServer.start())
