import { mkdirSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { cleanEnvironment } from './executable.ts'

/** The published inspector of the protocol, unmodified. */
const program = resolve(
  import.meta.dir,
  '../../node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js',
)

export type InspectorAnswer = { code: number; out: string; words: string }

/** The command line mode of the inspector for one service and one key. It keeps its settings below `folder`. */
export class McpInspector {
  readonly #environment: Record<string, string | undefined>
  readonly #folder: string
  readonly #server: readonly string[]

  constructor({ url, apiKey, folder }: { url: string; apiKey: string; folder: string }) {
    this.#folder = join(folder, 'inspector-home')
    mkdirSync(this.#folder, { recursive: true })
    this.#environment = { ...cleanEnvironment(), HOME: this.#folder, CI: '1', NO_COLOR: '1' }
    this.#server = [`${url}/mcp`, '--transport', 'http', '--header', `Authorization: Bearer ${apiKey}`]
  }

  async run(...args: string[]): Promise<InspectorAnswer> {
    const child = Bun.spawn([process.execPath, program, '--cli', ...this.#server, '--format', 'json', ...args], {
      cwd: this.#folder,
      env: this.#environment,
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
    })
    const [out, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
    return { code: await child.exited, out, words }
  }

  /** Calls a method, and reads its result. Throws when the inspector fails. */
  async json<Result = unknown>(method: string, ...args: string[]): Promise<Result> {
    const { code, out, words } = await this.run('--method', method, ...args)
    if (code !== 0) throw new Error(`${method} ended with ${code}: ${words || out}`)
    return (JSON.parse(out) as { result: Result }).result
  }
}
