import { cleanEnvironment, executable, millrace } from './executable.ts'
import { type Installation, type Serving, serve } from './running-service.ts'
import { PostgresServer } from './store/postgres.ts'

/**
 * Some processes that serve one PostgreSQL database, on this machine. They name a bucket that does not exist, because a
 * process that keeps files in a folder would be the only one; their workflows store no files.
 */
export class TestCluster implements AsyncDisposable {
  readonly server: PostgresServer
  readonly installation: Installation
  readonly environment: Record<string, string>
  readonly #folder: string
  readonly #processes = new Set<Serving>()

  private constructor(parts: {
    server: PostgresServer
    installation: Installation
    environment: Record<string, string>
    folder: string
  }) {
    this.server = parts.server
    this.installation = parts.installation
    this.environment = parts.environment
    this.#folder = parts.folder
  }

  /** `folder`: where the processes run. `more`: further settings. */
  static async create(folder: string, more: Record<string, string> = {}): Promise<TestCluster> {
    const server = await PostgresServer.start({ isDurable: true })
    const environment = {
      MILLRACE_STORE: await server.createDatabase(),
      MILLRACE_SECRET_KEY: 'a secret key with more than 32 characters',
      MILLRACE_S3_BUCKET: 'unused',
      MILLRACE_S3_REGION: 'unused',
      AWS_ACCESS_KEY_ID: 'unused',
      AWS_SECRET_ACCESS_KEY: 'unused',
      ...more,
    }
    const made = await millrace(['init', '--json'], { environment: { ...environment, MILLRACE_DATA: folder } })
    if (made.code !== 0) throw new Error(`init exited with ${made.code}: ${made.words}`)
    return new TestCluster({ server, installation: JSON.parse(made.out) as Installation, environment, folder })
  }

  /** The processes that were started and not killed. */
  get processes(): Serving[] {
    return [...this.#processes]
  }

  async start(more: Record<string, string> = {}): Promise<Serving> {
    const process = await serve(this.#folder, { ...this.environment, ...more })
    this.#processes.add(process)
    return process
  }

  async kill(process: Serving, signal: 'SIGKILL' | 'SIGTERM' = 'SIGKILL'): Promise<void> {
    this.#processes.delete(process)
    await process.kill(signal)
  }

  /** Runs a command of the executable on the database. */
  command(args: readonly string[]): Bun.Subprocess<'ignore', 'pipe', 'pipe'> {
    const env = cleanEnvironment({ ...this.environment, MILLRACE_DATA: this.#folder })
    return Bun.spawn([executable(), ...args], { env, stdin: 'ignore', stdout: 'pipe', stderr: 'pipe' })
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.processes.map((process) => this.kill(process, 'SIGKILL')))
    await this.server[Symbol.asyncDispose]()
  }
}
