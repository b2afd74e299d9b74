import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { SQL } from 'bun'

/** A PostgreSQL server of its own, in a temporary folder, on a free port of the loopback address. */
export class PostgresServer implements AsyncDisposable {
  readonly folder: string
  readonly port = freePort()
  readonly #data: string
  #settings: readonly string[] = []
  #process: Bun.Subprocess | undefined
  #databases = 0

  /** `disk`: the folder for the data. */
  private constructor(disk?: string) {
    this.folder = mkdtempSync(join(tmpdir(), 'millrace-postgres-'))
    this.#data = join(disk ?? this.folder, 'data')
    mkdirSync(this.#data, { mode: 0o700 })
    // PostgreSQL refuses to run as root.
    for (const each of [this.folder, this.#data]) if (isRoot) chownSync(each, ...postgresIds())
  }

  /**
   * `isDurable`: commits reach the disk, for tests that kill the server. `certificates`: a folder with `service.pem`
   * and `service.key`, for a server that offers TLS, and with `client-authority.pem`, which signs those of users.
   * `rules`: lines for pg_hba.conf, before those that trust everybody. `disk`: the folder for the data, by default the
   * server's; `isWalElsewhere`: without the write-ahead log.
   */
  static async start(options: StartOptions = {}): Promise<PostgresServer> {
    const { isDurable = false, certificates, settings = [], rules = [], disk, isWalElsewhere } = options
    const server = new PostgresServer(disk)
    const wal = isWalElsewhere ? ['--waldir', join(server.folder, 'wal')] : []
    const how = ['-A', 'trust', '-U', 'postgres', '-E', 'UTF8', '--locale=C', '--no-sync']
    server.#prepare('initdb', ['-D', server.#data, ...how, ...wal])
    const rulesFile = join(server.#data, 'pg_hba.conf')
    writeFileSync(rulesFile, `${rules.join('\n')}\n${readFileSync(rulesFile, 'utf8')}`)
    const fast = isDurable ? [] : ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off']
    const tls = certificates === undefined ? [] : server.#copyCertificates(certificates)
    server.#settings = [...settings, ...fast, ...tls]
    await server.run()
    return server
  }

  /** A standby server that receives everything that the primary commits. `name`: what it calls itself. */
  static async standbyOf(primary: PostgresServer, name: string): Promise<PostgresServer> {
    const server = new PostgresServer()
    const source = `host=127.0.0.1 port=${primary.port} user=postgres application_name=${name}`
    server.#prepare('pg_basebackup', [
      '-D',
      server.#data,
      '-R',
      '-X',
      'stream',
      '-c',
      'fast',
      '--no-sync',
      '-d',
      source,
    ])
    await server.run()
    return server
  }

  /** Makes a standby server the primary. */
  promote(): void {
    this.#prepare('pg_ctl', ['promote', '-w', '-D', this.#data])
  }

  #prepare(name: string, args: readonly string[]): void {
    const { exitCode, stderr } = Bun.spawnSync(asPostgres([program(name), ...args]))
    if (exitCode !== 0) throw new Error(`${name} failed: ${stderr}`)
  }

  #copyCertificates(folder: string): string[] {
    const names = ['service.pem', 'service.key', 'client-authority.pem'] as const
    for (const name of names) {
      const file = join(this.folder, name)
      copyFileSync(join(folder, name), file)
      chmodSync(file, 0o600)
      if (isRoot) chownSync(file, ...postgresIds())
    }
    const [certificate, key, authority] = names.map((name) => join(this.folder, name))
    return ['ssl=on', `ssl_cert_file=${certificate}`, `ssl_key_file=${key}`, `ssl_ca_file=${authority}`]
  }

  get isRunning(): boolean {
    return this.#process !== undefined && this.#process.exitCode === null && this.#process.signalCode === null
  }

  /** Starts the server process and waits until it accepts connections. */
  async run(): Promise<void> {
    const options = [
      `unix_socket_directories=${this.folder}`,
      'listen_addresses=127.0.0.1',
      'max_connections=300',
      ...this.#settings,
    ]
    this.#process = Bun.spawn(
      asPostgres([
        ...[program('postgres'), '-D', this.#data, '-p', String(this.port)],
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
    for (const pid of this.#processes()) signal(pid, 'SIGSTOP')
  }

  resume(): void {
    for (const pid of [...this.#processes()].toReversed()) signal(pid, 'SIGCONT')
  }

  /** The postmaster and its children. */
  *#processes(): Generator<number> {
    const { pid } = this.#process!
    yield pid
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
    for (const child of children.split(' ')) if (child !== '') yield Number(child)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // A test may have failed while the server was suspended.
    if (this.isRunning) this.resume()
    // SIGINT: disconnects everybody and stops.
    this.#process?.kill('SIGINT')
    await this.#process?.exited
    rmSync(this.folder, { recursive: true, force: true })
  }
}

/** A process of the server may have ended by itself. */
function signal(pid: number, name: 'SIGSTOP' | 'SIGCONT'): void {
  try {
    process.kill(pid, name)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

export type StartOptions = {
  isDurable?: boolean
  certificates?: string
  settings?: readonly string[]
  rules?: readonly string[]
  disk?: string
  isWalElsewhere?: boolean
}

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
