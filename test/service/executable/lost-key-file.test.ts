import { expect, test } from 'bun:test'
import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { SealedInstallation } from './sealed-installation.ts'

const replace = (file: string) => writeFileSync(file, `${Buffer.alloc(32, 7).toString('base64')}\n`)

test.each([
  ['another', replace, 'encrypted with another key'],
  ['no', (file: string) => rmSync(file), 'their key is missing'],
])(
  'the service does not start with %s key file',
  async (_, change, message) => {
    await using installation = await SealedInstallation.make()
    const file = join(installation.folder.path, 'millrace.key')
    const key = readFileSync(file)
    change(file)
    const left = readdirSync(installation.folder.path).includes('millrace.key')
    const refused = await installation.startError()
    expect(refused).toContain('serve exited with 1')
    expect(refused).toContain(message)
    expect(refused).toContain('millrace env discard')
    expect(await installation.command({}, 'env', 'set', 'A', 'value')).toMatchObject({
      code: 1,
      words: expect.stringContaining(message),
    })
    // A lost key is not replaced automatically.
    expect(readdirSync(installation.folder.path).includes('millrace.key')).toBe(left)
    writeFileSync(file, key)
    await installation.serve()
  },
  120_000,
)

test('the service starts with its key file and another key as a setting', async () => {
  await using installation = await SealedInstallation.make()
  const other = { MILLRACE_SECRET_KEY: 'k'.repeat(32) }
  const file = join(installation.folder.path, 'millrace.key')
  const key = readFileSync(file)
  await installation.command({}, 'env', 'set', 'A', 'a value')
  rmSync(file)
  expect(await installation.startError()).toContain(`MILLRACE_SECRET_KEY is not set, and there is no ${file}`)
  expect(await installation.startError(other)).toContain('encrypted with another key')
  writeFileSync(file, key)
  const { url } = await installation.serve(other)
  const headers = { authorization: 'Bearer a-long-token' }
  const accepted = await fetch(`${url}/api/webhooks/trigger/bearer`, { method: 'POST', headers, body: '{}' })
  expect(accepted.status).toBe(202)
}, 120_000)
