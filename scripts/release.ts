import { createHash } from 'node:crypto'
import { createReadStream, mkdirSync, rmSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'

/**
 * `bun scripts/release.ts`: builds the executables of a release with the same script as local builds, and writes their
 * SHA-256 checksums beside them. Everything is in `dist/release`; `sha256sum --check SHA256SUMS` verifies it there.
 */
async function release(): Promise<void> {
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  const sums: string[] = []
  for (const target of targets) {
    const name = target.replace('bun-', 'millrace-')
    const outfile = join(folder, name)
    const words = [join(root, 'scripts/build.ts'), '--target', target, '--outfile', outfile]
    const build = Bun.spawnSync([process.execPath, ...words], { cwd: root, stdio: ['ignore', 'inherit', 'inherit'] })
    if (build.exitCode !== 0) throw new Error(`${name} was not built: scripts/build.ts exited with ${build.exitCode}.`)
    sums.push(`${await sha256Of(outfile)}  ${name}\n`)
  }
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''))
  console.log(sums.join('').trimEnd())
}

const root = resolve(import.meta.dir, '..')
const folder = join(root, 'dist', 'release')

const targets = ['bun-linux-x64', 'bun-linux-arm64'] as const

async function sha256Of(path: string): Promise<string> {
  const hash = createHash('sha256')
  for await (const chunk of createReadStream(path)) hash.update(chunk)
  return hash.digest('hex')
}

await release()
