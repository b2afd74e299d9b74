import { expect, test } from 'bun:test'
import { chmodSync, existsSync, mkdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { AppError } from '../../../src/domain/errors.ts'
import { takeLock } from '../../../src/store/lock.ts'
import { temporaryFolder } from '../../support/executable.ts'

function refusal(directory: string): AppError {
  try {
    takeLock(directory).release()
  } catch (error) {
    if (error instanceof AppError) return error
  }
  throw new Error('The lock was not refused')
}

test('a directory that cannot be locked is refused, and the error says what to check', () => {
  using folder = temporaryFolder()
  // A folder in place of the file cannot be opened, even by root.
  mkdirSync(join(folder.path, 'millrace.lock'))
  const error = refusal(folder.path)
  expect(error.code).toBe('STORAGE_UNAVAILABLE')
  expect(error.message).toContain('Check its owner, its mode and the disk.')
})

test('one process cannot take the lock twice, but can take it again after releasing it', () => {
  using folder = temporaryFolder()
  const lock = takeLock(join(folder.path, 'new'))
  expect(refusal(join(folder.path, 'new')).message).toContain(`in use by process ${process.pid}.`)
  lock.release()
  lock.release()
  const again = takeLock(join(folder.path, 'new'))
  expect(refusal(join(folder.path, 'new')).code).toBe('CONFLICT')
  again.release()
  expect(existsSync(join(folder.path, 'new', 'millrace.pid'))).toBe(false)
})

test('a missing process id only makes the message shorter', () => {
  using folder = temporaryFolder()
  const lock = takeLock(folder.path)
  writeFileSync(join(folder.path, 'millrace.pid'), 'garbage')
  expect(refusal(folder.path).message).toContain('is in use by another process. Stop that process')
  lock.release()
})

test('only its owner can open the lock file, also one of an earlier version', () => {
  using folder = temporaryFolder()
  const file = join(folder.path, 'millrace.lock')
  chmodSync(folder.path, 0o755)
  const modes: string[] = []
  for (const before of [undefined, 0o644]) {
    if (before !== undefined) chmodSync(file, before)
    const lock = takeLock(folder.path)
    modes.push((statSync(file).mode & 0o777).toString(8))
    // A second attempt must not drop the lock.
    expect(refusal(folder.path).code).toBe('CONFLICT')
    expect(refusal(folder.path).code).toBe('CONFLICT')
    lock.release()
  }
  expect(modes).toEqual(['600', '600'])
})
