import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { storeSettings } from './store/test-store.ts'

const root = resolve(import.meta.dir, '../..')
const path = join(root, 'dist', 'millrace')

/** The path of the compiled executable. Builds it if it is missing or older than its sources. */
export function executable(): string {
  if (!existsSync(path) || isOlderThanSources()) {
    const { exitCode, stderr } = Bun.spawnSync([process.execPath, join(root, 'scripts/build.ts')], { cwd: root })
    if (exitCode !== 0) throw new Error(`The executable could not be built: ${stderr.toString()}`)
  }
  return path
}

function isOlderThanSources(): boolean {
  const builtAt = statSync(path).mtimeMs
  const files = new Bun.Glob('{src,docs,samples}/**/*').scanSync({ cwd: root })
  return [...files, 'package.json'].some((file) => statSync(join(root, file)).mtimeMs > builtAt)
}

export type Ended = { code: number; out: string; words: string }

/** Runs a command to its end. `words` is its standard error. */
export async function millrace(
  args: readonly string[],
  options: { cwd?: string; environment?: Record<string, string> } = {},
): Promise<Ended> {
  const data = args[args.indexOf('--data') + 1 || args.length] ?? options.environment?.['MILLRACE_DATA']
  const settings = data === undefined ? {} : await storeSettings(resolve(options.cwd ?? '.', data))
  const child = Bun.spawn([executable(), ...args], {
    ...(options.cwd === undefined ? {} : { cwd: options.cwd }),
    env: cleanEnvironment({ ...settings, ...options.environment }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, words }
}

/** A folder that is deleted at the end of its scope. */
export function temporaryFolder(): { path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-test-'))
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

/** The environment of the tests without the developer's own settings. */
export function cleanEnvironment(more: Record<string, string> = {}): Record<string, string | undefined> {
  const own = Object.entries(Bun.env).filter(([name]) => !name.startsWith('MILLRACE_'))
  return { ...Object.fromEntries(own), ...more }
}
