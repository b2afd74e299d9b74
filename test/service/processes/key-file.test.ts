import { expect, test } from 'bun:test'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/executable.ts'

test('processes that start at the same time create one key file', async () => {
  using folder = temporaryFolder()
  const module = join(import.meta.dir, '../../../src/accounts/key-file.ts')
  const script = `
    const { makeKeyFile } = await import(${JSON.stringify(module)})
    console.log(Buffer.from(makeKeyFile(${JSON.stringify(folder.path)})[0]).toString('hex'))`
  const children = Array.from({ length: 6 }, () =>
    Bun.spawn([process.execPath, '-e', script], { stdout: 'pipe', stderr: 'inherit' }),
  )
  const keys = await Promise.all(children.map((child) => new Response(child.stdout).text()))
  expect(new Set(keys).size).toBe(1)
  expect(keys[0]).toMatch(/^[0-9a-f]{64}\n$/)
  expect(readdirSync(folder.path)).toEqual(['millrace.key'])
})
