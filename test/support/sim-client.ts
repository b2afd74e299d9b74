import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cleanEnvironment } from './executable.ts'

/** The published command line of Sim, unmodified. */
const program = resolve(import.meta.dir, '../../node_modules/sim/dist/index.js')

export type SimAnswer = { code: number; out: string; words: string }

/**
 * Sim's command line for one service and one key. It keeps its settings below `folder` instead of the home folder, and
 * sends nothing to any other host: no usage data, and no question whether it is the newest version.
 */
export class SimClient {
  readonly #environment: Record<string, string | undefined>
  readonly #folder: string

  constructor({ url, apiKey, workspaceId, folder }: SimSettings) {
    this.#folder = join(folder, 'sim-home')
    mkdirSync(this.#folder, { recursive: true })
    const own = Object.entries(cleanEnvironment()).filter(([name]) => !/^(SIM_|HTTPS?_PROXY$|NODE_USE_ENV)/i.test(name))
    this.#environment = {
      ...Object.fromEntries(own),
      ...{ HOME: this.#folder, SIM_CONFIG_DIR: join(this.#folder, 'settings') },
      ...{ DO_NOT_TRACK: '1', SIM_TELEMETRY_DISABLED: '1', SIM_NO_UPDATE_CHECK: '1', CI: '1', NO_COLOR: '1' },
      ...{ SIM_ENDPOINT: url, SIM_API_KEY: apiKey, SIM_TIMEOUT_SECONDS: '60' },
      ...(workspaceId !== undefined && { SIM_WORKSPACE: workspaceId }),
    }
  }

  /** Runs a command to its end. `words` is its standard error. */
  async run(...args: string[]): Promise<SimAnswer> {
    const child = Bun.spawn([process.execPath, program, ...args], {
      cwd: this.#folder,
      env: this.#environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, words }
  }

  /** Runs a command, and reads its output as JSON. Throws when it fails. */
  async json<Printed = unknown>(...args: string[]): Promise<Printed> {
    const { code, out, words } = await this.run('--output', 'json', ...args)
    if (code !== 0) throw new Error(`sim ${args.join(' ')} ended with ${code}: ${words || out}`)
    return JSON.parse(out) as Printed
  }
}

export type SimSettings = { url: string; apiKey: string; workspaceId?: string; folder: string }
