import { expect, test } from 'bun:test'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../src/domain/errors.ts'
import { serverOf, takeLock } from '../../../src/store/lock.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { smallDisk } from '../../support/store/small-disk.ts'

const lockModule = join(import.meta.dir, '../../../src/store/lock.ts')

/**
 * Another process that takes the lock, reports it, and runs until it is killed. It keeps a reference to the lock, which
 * would otherwise be garbage-collected.
 */
async function lockInOtherProcess(directory: string) {
  const script = `globalThis.kept = require(${JSON.stringify(lockModule)}).takeLock(${JSON.stringify(directory)}); console.log('held'); setInterval(() => {}, 1000)`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  const reader = child.stdout.getReader()
  expect(new TextDecoder().decode((await reader.read()).value)).toBe('held\n')
  return child
}

function refusal(directory: string): AppError {
  try {
    takeLock(directory).release()
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('The lock was not refused')
}

test('a directory that another process serves is refused, with the ID of that process', async () => {
  using folder = temporaryFolder()
  const child = await lockInOtherProcess(folder.path)
  const error = refusal(folder.path)
  expect(error.code).toBe('CONFLICT')
  expect(error.message).toContain(`process ${child.pid}.`)
  child.kill('SIGKILL')
  await child.exited
})

test('a full disk does not prevent the lock, and leaves no empty process-ID file', () => {
  using disk = smallDisk('64k')
  expect(() => writeFileSync(join(disk.path, 'filling'), new Uint8Array(100_000))).toThrow('ENOSPC')
  const lock = takeLock(disk.path)
  expect(existsSync(join(disk.path, 'millrace.pid'))).toBe(false)
  lock.release()
})

test('the lock of a killed process is free immediately, even if its process ID is in use again', async () => {
  using folder = temporaryFolder()
  const child = await lockInOtherProcess(folder.path)
  child.kill('SIGKILL')
  await child.exited
  writeFileSync(join(folder.path, 'millrace.pid'), '1\n')
  takeLock(folder.path).release()
})

test('reading the owner of a lock does not prevent a start', async () => {
  using folder = temporaryFolder()
  expect(serverOf(folder.path)).toBeUndefined()
  const script = `const { serverOf } = require(${JSON.stringify(lockModule)}); console.log('looks'); for (;;) serverOf(${JSON.stringify(folder.path)})`
  const child = Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe' })
  await child.stdout.getReader().read()
  for (let start = 0; start < 100; start += 1) takeLock(folder.path).release()
  child.kill('SIGKILL')
  await child.exited
  const lock = takeLock(folder.path)
  expect(serverOf(folder.path)).toBe(`process ${process.pid}`)
  lock.release()
})
