import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A small file system in memory (`size` as in `8m`); undefined when this user may not mount one. */
export function smallDisk(size: string): ({ path: string } & Disposable) | undefined {
  const path = mkdtempSync(join(tmpdir(), 'millrace-small-'))
  const dispose = () => rmdirSync(path)
  if (!succeeds('mount', '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path)) {
    dispose()
    return undefined
  }
  return {
    path,
    [Symbol.dispose]() {
      // Lazily, so that a test that failed with files open leaves nothing mounted either.
      succeeds('umount', '--lazy', path)
      dispose()
    },
  }
}

/** Whether a command is there and ends well. */
export function succeeds(...command: string[]): boolean {
  try {
    return Bun.spawnSync(command).exitCode === 0
  } catch {
    return false
  }
}
