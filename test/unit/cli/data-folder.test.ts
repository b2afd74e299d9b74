import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { call, json, type Made } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'

test('init makes a private folder, which does not contain the key that it prints', async () => {
  using folder = temporaryFolder()
  const path = join(folder.path, 'new', 'data')
  const { apiKey } = await json<Made>(path, 'init')
  expect(statSync(path).mode & 0o777).toBe(0o700)
  for (const file of readdirSync(path)) expect(readFileSync(join(path, file)).includes(apiKey)).toBe(false)
})

test('commands report a folder without an installation, and create none', async () => {
  using folder = temporaryFolder()
  for (const words of [
    ['keys', 'list'],
    ['keys', 'create', '--name', 'x'],
    ['workspaces', 'list'],
    ['workspaces', 'create', '--name', 'x'],
    ['workspaces', 'share', 'x', 'y', '--role', 'viewer'],
    ['users', 'list'],
    ['users', 'create', 'a@example.com'],
    ['users', 'password', 'a@example.com'],
    ['users', 'plan', 'a@example.com', 'pro'],
  ]) {
    const { code, words: said } = await call(join(folder.path, 'none'), ...words)
    expect(code).toBe(1)
    expect(said).toContain('There is no installation in')
    expect(said).toContain('millrace init --data')
  }
  expect(existsSync(join(folder.path, 'none'))).toBe(false)
})
