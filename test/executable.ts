import { existsSync, mkdtempSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dir, '..')
const path = join(root, 'dist', 'millrace')

/** The path of the executable. `bun run test` builds it before the tests; called alone, a test builds one that is missing or old. */
export function executable(): string {
  if (isCurrent()) return path
  const built = Bun.spawnSync([process.execPath, join(root, 'scripts', 'build.ts'), '--silent'], { stderr: 'pipe' })
  if (built.exitCode !== 0) throw new Error(`The executable cannot be built:\n${built.stderr}`)
  return path
}

/** Whether the executable is younger than everything that it is made of. */
function isCurrent(): boolean {
  if (!existsSync(path)) return false
  const builtAt = statSync(path).mtimeMs
  const glob = new Bun.Glob('{src,samples,scripts}/**/*')
  const files = ['package.json', 'bun.lock', ...glob.scanSync({ cwd: root })]
  return files.every((file) => statSync(join(root, file)).mtimeMs <= builtAt)
}

export type Ended = { code: number; out: string; words: string }

/** Runs the executable to its end, in a folder and with an environment of its own. */
export async function millrace(words: readonly string[], options: { cwd?: string; env?: Record<string, string> } = {}) {
  const child = Bun.spawn([executable(), ...words], {
    cwd: options.cwd ?? tmpdir(),
    env: { PATH: process.env['PATH'] ?? '', ...options.env },
    stdin: 'ignore',
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const [out, err, code] = await Promise.all([child.stdout.text(), child.stderr.text(), child.exited])
  return { code, out, words: err } satisfies Ended
}

/** A folder that is gone when the test's scope ends. */
export function temporaryFolder(): { path: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-'))
  return { path: folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}
