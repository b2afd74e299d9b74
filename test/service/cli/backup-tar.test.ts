import { Database } from 'bun:sqlite'
import { expect, test } from 'bun:test'
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { json } from '../../support/cli/folder.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { programPath } from '../../support/programs.ts'

test('other programs can read a backup', async () => {
  using folder = temporaryFolder()
  const at = (...names: string[]) => join(folder.path, ...names)
  await json(at('data'), 'init')
  await json(at('data'), 'backup', at('backup.tar'))
  mkdirSync(at('out'))
  expect(Bun.spawnSync([programPath('tar'), '-xf', at('backup.tar'), '-C', at('out')]).exitCode).toBe(0)
  const database = new Database(at('out', 'millrace.db'), { readonly: true })
  expect(database.query('SELECT count(*) AS count FROM keys').get()).toEqual({ count: 1 })
  database.close()
})
