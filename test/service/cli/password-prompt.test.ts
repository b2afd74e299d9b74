import { expect, test } from 'bun:test'
import { verifyPassword } from '../../../src/accounts/passwords.ts'
import '../../support/built.ts'
import { json, withStore } from '../../support/cli/folder.ts'
import { cleanEnvironment, executable, temporaryFolder } from '../../support/executable.ts'
import { storeSettings } from '../../support/store/test-store.ts'

test('a password typed at a terminal is hidden and can be corrected, and Ctrl-C cancels', async () => {
  using folder = temporaryFolder()
  const { path } = folder
  await json(path, 'init')
  const stored = () => withStore(path, async (store) => (await store.findPassword('owner@localhost'))?.passwordHash)
  const settings = await storeSettings(path)
  const type = async (keys: string) => {
    const asked = Promise.withResolvers<void>()
    let shown = ''
    const child = Bun.spawn([executable(), 'users', 'password', 'owner@localhost', '--data', path], {
      env: cleanEnvironment(settings),
      terminal: {
        data(_terminal, bytes) {
          shown += new TextDecoder().decode(bytes)
          if (shown.includes(': ')) asked.resolve()
        },
      },
    })
    await Promise.race([asked.promise, child.exited])
    child.terminal?.write(keys)
    return { code: await child.exited, shown }
  }
  const gaveUp = await type('secret-word\x03')
  expect(gaveUp.code).toBe(1)
  expect(await stored()).toBeUndefined()
  const set = await type('wrong\x15secret-worf\x7fd\r')
  expect(set.code).toBe(0)
  expect(set.shown).toContain('Password of owner@localhost: ')
  expect(set.shown).not.toMatch(/secret|wrong/)
  expect(await verifyPassword('secret-word', (await stored()) ?? '')).toBe(true)
}, 120_000)
