import { chmodSync, chownSync, copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'

/** A PostgreSQL server of its own, in a temporary folder, on a free port of the loopback address. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string
  readonly port: number
  #process: Bun.Subprocess | undefined
  #databases = 0

  private constructor(folder: string, port: number) {
    this.folder = folder
    this.port = port
  }

  /**
   * `isDurable`: commits reach the disk, for tests that kill the server. `certificates`: a folder with `service.pem`
   * and `service.key`, for a server that offers TLS.
   */
  static async start({ isDurable = false, certificates, settings = [] }: StartOptions = {}): Promise<PostgresServer> {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
    const server = new PostgresServer(folder, freePort())
    mkdirSync(join(folder, 'data'), { mode: 0o700 })
    // PostgreSQL refuses to run as root.
    for (const each of [folder, join(folder, 'data')]) if (isRoot) chownSync(each, ...postgresIds())
    const made = Bun.spawnSync(
      asPostgres([
        program('initdb'),
        '-D',
        join(folder, 'data'),
        '-A',
        'trust',
        '-U',
        'postgres',
        '-E',
        'UTF8',
        '--locale=C',
        '--no-sync',
      ]),
    )
    if (made.exitCode !== 0) throw new Error(`initdb failed: ${made.stderr}`)
    const fast = isDurable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
    await server.run([
      ...settings,
      ...fast,
      ...(certificates === undefined ? [] : server.#copyCertificates(certificates)),
    ])
    return server
  }

  #copyCertificates(folder: string): string[] {
    const names = ['service.pem', 'service.key'] as const
    for (const name of names) {
      const file = join(this.folder, name)
      copyFileSync(join(folder, name), file)
      chmodSync(file, 0o600)
      if (isRoot) chownSync(file, ...postgresIds())
    }
    const [certificate, key] = names.map((name) => join(this.folder, name))
    return ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`]
  }

  /** Starts the server process and waits until it accepts connections. */
  async run(settings: readonly string[] = []): Promise<void> {
    const options = [
      `unix_socket_directories=${this.folder}`,
      'listen_addresses=127.0.0.1',
      'max_connections=300',
      ...settings,
    ]
    this.#process = Bun.spawn(
      asPostgres([
        ...[program('postgres'), '-D', join(this.folder, 'data'), '-p', String(this.port)],
        ...options.flatMap((option) => ['-c', option]),
      ]),
      { stdout: Bun.file(join(this.folder, 'log')), stderr: Bun.file(join(this.folder, 'log')) },
    )
    const endAt = Date.now() + 30_000
    while (Bun.spawnSync([program('pg_isready'), '-h', '127.0.0.1', '-p', String(this.port)]).exitCode !== 0) {
      if (Date.now() > endAt || this.#process.exitCode !== null) {
        throw new Error(`PostgreSQL did not start: ${await Bun.file(join(this.folder, 'log')).text()}`)
      }
      await Bun.sleep(50)
    }
  }

  /** The process ID of the server, whose children do the work. */
  get pid(): number {
    return this.#process!.pid
  }

  /** The address of a database. */
  url(database: string): string {
    return `postgres://postgres@127.0.0.1:${this.port}/${database}`
  }

  /** Creates an empty database and returns its address. */
  async createDatabase(): Promise<string> {
    this.#databases += 1
    const name = `test_${this.#databases}`
    const sql = new SQL(this.url('postgres'), { max: 1 })
    try {
      await sql.unsafe(`CREATE DATABASE ${name}`)
    } finally {
      await sql.close()
    }
    return this.url(name)
  }

  /** SIGKILL to the server and all its processes. */
  async kill(): Promise<void> {
    const server = this.#process
    if (!server) return
    // The postmaster is the child of `setpriv`, which has replaced itself by it.
    process.kill(server.pid, 'SIGKILL')
    await server.exited
  }

  /** The server hangs: its connections stay open, and nothing answers. */
  suspend(): void {
    // The postmaster first, so that it starts no other process.
    for (const pid of this.#processes()) process.kill(pid, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of [...this.#processes()].toReversed()) process.kill(pid, 'SIGCONT')
  }

  /** The postmaster and its children. */
  *#processes(): Generator<number> {
    const { pid } = this.#process!
    yield pid
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.trim().split(' ')) yield Number(child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A test may have failed while the server was suspended.
    if (this.#process?.exitCode === null) this.resume()
    // SIGINT: disconnects everybody and stops.
    this.#process?.kill('SIGINT')
    await this.#process?.exited
    rmSync(this.folder, { recursive: true, force: true })
  }
}

export type StartOptions = { isDurable?: boolean; certificates?: string; settings?: readonly string[] }

const isRoot = process.getuid?.() === 0

/** Runs a command as the user of PostgreSQL's programs, which refuse to run as root. */
export function asPostgres(command: string[]): string[] {
  return isRoot ? ['setpriv', '--reuid=postgres', '--regid=postgres', '--clear-groups', ...command] : command
}

function postgresIds(): [number, number] {
  const [uid, gid] = ['-u', '-g'].map((flag) => Number(Bun.spawnSync(['id', flag, 'postgres']).stdout.toString()))
  return [uid!, gid!]
}

/** Debian keeps the programs of each version in a folder of its own, outside the PATH. */
function program(name: string): string {
  const found = Bun.which(name) ?? [...new Bun.Glob(`/usr/lib/postgresql/*/bin/${name}`).scanSync()].sort().at(-1)
  if (!found) throw new Error(`This test needs ${name}: install the package "postgresql".`)
  return found
}

export function freePort(): number {
  using listener = Bun.listen({ hostname: '127.0.0.1', port: 0, socket: { data() {} } })
  return listener.port
}
