import { mkdtempSync, rmdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '../programs.ts'

/** A small file system in memory (`size` as in `8m`). Only root may mount one. */
export function smallDisk(size: string): { path: string } & Disposable {
  const path = mkdtempSync(join(tmpdir(), 'millrace-small-'))
  const dispose = () => rmdirSync(path)
  const { exitCode, stderr } = Bun.spawnSync([programPath('mount'), '-t', 'tmpfs', '-o', `size=${size}`, 'tmpfs', path])
  if (exitCode !== 0) {
    dispose()
    throw new Error(`This test needs to mount a file system, which only root may do: ${stderr}`)
  }
  return {
    path,
    [Symbol.dispose]() {
      // Lazily, so that a test that fails with open files leaves nothing mounted.
      Bun.spawnSync(['umount', '--lazy', path])
      dispose()
    },
  }
}
