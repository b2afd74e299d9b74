import { Database } from 'bun:sqlite'
import { describe, expect, test } from 'bun:test'
import { existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { packTar, type TarEntry } from 'modern-tar'
import { makeKeyFile } from '../../../src/accounts/key-file.ts'
import { writeArchive } from '../../../src/cli/backups/archive.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { takeLock } from '../../../src/store/lock.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'

async function call(...words: string[]) {
  const terminal = new MemoryTerminal()
  const code = await runCommandLine(words, { terminal, environment: {} })
  return { code, out: terminal.out, words: terminal.words }
}

/** A folder with an installation in its subfolder `data`. */
async function installed() {
  const folder = temporaryFolder()
  const at = (...names: string[]) => join(folder.path, ...names)
  expect((await call('init', '--data', at('data'), '--json')).code).toBe(0)
  return { at, [Symbol.dispose]: () => folder[Symbol.dispose]() }
}

const filesIn = (folder: string) =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !/^millrace\.(lock|db-wal|db-shm)$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name).slice(folder.length + 1))
    .toSorted()

describe('a backup', () => {
  test('contains the database, the key file and the files, is private to its owner, and restores them all', async () => {
    using here = await installed()
    const { at } = here
    makeKeyFile(at('data'))
    mkdirSync(at('data', 'files', 'w', 'f', 'e'), { recursive: true })
    const large = crypto.getRandomValues(new Uint8Array(65_536)).toBase64().repeat(50)
    writeFileSync(at('data', 'files', 'w', 'f', 'e', 'größe 1.txt'), large)
    writeFileSync(at('data', 'files', 'w', 'empty'), '')
    const long = `${'n'.repeat(120)}/${'m'.repeat(200)}`
    mkdirSync(at('data', 'files', long, '..'), { recursive: true })
    writeFileSync(at('data', 'files', long), 'deep')

    const made = await call('backup', at('backup.tar'), '--data', at('data'), '--json')
    expect(made).toMatchObject({ code: 0, words: '' })
    expect(JSON.parse(made.out)).toEqual({
      file: at('backup.tar'),
      bytes: statSync(at('backup.tar')).size,
      databaseBytes: expect.any(Number),
      key: true,
      files: 3,
      left: 0,
      tookMs: expect.any(Number),
    })
    expect(statSync(at('backup.tar')).mode & 0o777).toBe(0o600)
    expect(readdirSync(at('.')).toSorted()).toEqual(['backup.tar', 'data'])

    const restored = await call('restore', at('backup.tar'), '--data', at('new', 'data'), '--json')
    expect(restored).toMatchObject({ code: 0, words: '' })
    expect(JSON.parse(restored.out)).toEqual({
      data: at('new', 'data'),
      databaseBytes: JSON.parse(made.out).databaseBytes,
      key: true,
      files: 3,
    })
    const names = ['files/w/empty', 'files/w/f/e/größe 1.txt', `files/${long}`, 'millrace.db', 'millrace.key']
    expect(filesIn(at('new', 'data'))).toEqual(names.toSorted())
    for (const name of names.filter((name) => name !== 'millrace.db')) {
      expect(readFileSync(at('new', 'data', name)).equals(readFileSync(at('data', name)))).toBe(true)
      expect(statSync(at('new', 'data', name)).mode & 0o777).toBe(0o600)
    }
    expect(statSync(at('new', 'data')).mode & 0o777).toBe(0o700)
    const keys = (folder: string) => call('keys', 'list', '--json', '--data', folder)
    expect((await keys(at('new', 'data'))).out).toBe((await keys(at('data'))).out)
    const database = new Database(at('new', 'data', 'millrace.db'))
    expect(database.query('PRAGMA auto_vacuum').get()).toEqual({ auto_vacuum: 2 })
    database.close()
  })

  test('replaces a file only with --force', async () => {
    using here = await installed()
    const { at } = here
    writeFileSync(at('backup.tar'), 'precious')
    const refused = await call('backup', at('backup.tar'), '--data', at('data'))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.words).toContain('--force')
    expect(readFileSync(at('backup.tar'), 'utf8')).toBe('precious')
    expect((await call('backup', at('backup.tar'), '--data', at('data'), '--force')).code).toBe(0)
    expect((await call('restore', at('backup.tar'), '--data', at('new'))).code).toBe(0)
  })

  test('that fails leaves no file behind, and keeps the backup that it was to replace', async () => {
    using here = await installed()
    const { at } = here
    expect((await call('backup', at('backup.tar'), '--data', at('data'))).code).toBe(0)
    const before = readFileSync(at('backup.tar'))
    const database = readFileSync(at('data', 'millrace.db'))
    database.fill(0xa5, 4096 * 2)
    writeFileSync(at('data', 'millrace.db'), database)
    const refused = await call('backup', at('backup.tar'), '--data', at('data'), '--force')
    expect(refused.code).toBe(1)
    expect(refused.words).toContain('is damaged')
    expect(readFileSync(at('backup.tar')).equals(before)).toBe(true)
    expect(readdirSync(at('.')).toSorted()).toEqual(['backup.tar', 'data'])
  })

  test.each([
    ['nothing', 'There is no installation in'],
    ['folder', 'does not exist'],
    ['files', 'is inside a folder that the backup contains'],
  ])('that cannot start says why (%s)', async (fault, message) => {
    using here = await installed()
    const { at } = here
    mkdirSync(at('data', 'files'))
    const file = { nothing: at('x.tar'), folder: at('none', 'x.tar'), files: at('data', 'files', 'x.tar') }[fault]!
    const refused = await call('backup', file, '--data', fault === 'nothing' ? at('none') : at('data'))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.words).toContain(message)
    expect(existsSync(at('none'))).toBe(false)
  })
})

describe('restoring', () => {
  test('into a folder with an installation or a running service changes nothing', async () => {
    using here = await installed()
    const { at } = here
    await call('backup', at('backup.tar'), '--data', at('data'))
    const before = filesIn(at('data'))
    const refused = await call('restore', at('backup.tar'), '--data', at('data'))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.words).toContain('already contains an installation')
    expect(filesIn(at('data'))).toEqual(before)

    mkdirSync(at('new'))
    const lock = takeLock(at('new'))
    const served = await call('restore', at('backup.tar'), '--data', at('new'))
    expect(served.code).toBe(1)
    expect(served.words).toContain(`process ${process.pid}`)
    lock.release()
    expect((await call('restore', at('backup.tar'), '--data', at('new'))).code).toBe(0)
  })

  test('removes the leftovers of a killed restore', async () => {
    using here = await installed()
    const { at } = here
    await call('backup', at('backup.tar'), '--data', at('data'))
    mkdirSync(at('new', '.restore-abc'), { recursive: true })
    writeFileSync(at('new', '.restore-abc', 'millrace.db'), 'half')
    expect((await call('restore', at('backup.tar'), '--data', at('new'))).code).toBe(0)
    expect(filesIn(at('new'))).toEqual(['millrace.db'])
  })

  const file = (name: string, more: Partial<TarEntry['header']> = {}): TarEntry => ({
    header: { name, size: more.type === undefined ? 1 : 0, ...more },
    body: more.type === undefined ? 'x' : '',
  })
  test.each([
    ['a name that leads outside', file('files/../../evil')],
    ['a name that leads outside directly', file('../evil')],
    ['an absolute name', file('/tmp/evil')],
    ['a name with a dot', file('files/./evil')],
    ['an empty part', file('files//evil')],
    ['a name with backslashes', file('files/..\\evil')],
    ['a symbolic link', file('files/evil', { type: 'symlink', linkname: '/etc/passwd' })],
    ['a hard link', file('files/evil', { type: 'link', linkname: '/etc/passwd' })],
    ['a device', file('files/evil', { type: 'character-device' })],
    ['a folder', file('files/', { type: 'directory' })],
    ['another file', file('millrace.lock')],
    ['the name of the folder itself', file('files')],
  ])('rejects %s, and restores nothing', async (_, entry) => {
    using here = await installed()
    const { at } = here
    const database = readFileSync(at('data', 'millrace.db'))
    const good: TarEntry = { header: { name: 'millrace.db', size: database.length }, body: new Uint8Array(database) }
    writeFileSync(at('odd.tar'), await packTar([good, entry]))
    const refused = await call('restore', at('odd.tar'), '--data', at('new'))
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.words).toContain('is not a backup')
    expect(filesIn(at('new'))).toEqual([])
    expect(readdirSync(at('.')).toSorted()).toEqual(['data', 'new', 'odd.tar'])
  })

  test('rejects a duplicate name, and a link as the parent of a file', async () => {
    using here = await installed()
    const { at } = here
    const database = readFileSync(at('data', 'millrace.db'))
    const good: TarEntry = { header: { name: 'millrace.db', size: database.length }, body: new Uint8Array(database) }
    const twice = { path: at('twice'), name: 'files/a' }
    writeFileSync(twice.path, 'x')
    await writeArchive(at('twice.tar'), [{ path: at('data', 'millrace.db'), name: 'millrace.db' }, twice, twice])
    expect((await call('restore', at('twice.tar'), '--data', at('new'))).code).toBe(1)
    const link = file('files/a', { type: 'symlink', linkname: at('target') })
    writeFileSync(at('link.tar'), await packTar([good, link, file('files/a/b')]))
    mkdirSync(at('target'))
    expect((await call('restore', at('link.tar'), '--data', at('new'))).code).toBe(1)
    expect(filesIn(at('target'))).toEqual([])
    expect(filesIn(at('new'))).toEqual([])
  })

  test('rejects an archive that is truncated anywhere, or whose bytes changed', async () => {
    using here = await installed()
    const { at } = here
    mkdirSync(at('data', 'files'))
    writeFileSync(at('data', 'files', 'a'), 'x'.repeat(700))
    await call('backup', at('backup.tar'), '--data', at('data'))
    const whole = readFileSync(at('backup.tar'))
    const refuse = async (bytes: Uint8Array) => {
      writeFileSync(at('bad.tar'), bytes)
      const refused = await call('restore', at('bad.tar'), '--data', at('new'))
      expect(refused.code).toBe(1)
      expect(filesIn(at('new'))).toEqual([])
    }
    for (let end = 0; end < whole.length; end += 4_096 + 512) await refuse(whole.subarray(0, end))
    for (let end = whole.length - 4_096; end < whole.length; end += 512) await refuse(whole.subarray(0, end))
    // Includes the bytes of the file `a`. The padding between and after the entries has no meaning.
    const a = whole.length - 1_024 - 1_024 - 1_024 - 512
    for (let at = 0; at < a + 512 + 700; at += 1_999) {
      const bytes = new Uint8Array(whole)
      bytes[at]! ^= 1
      await refuse(bytes)
    }
    await refuse(new TextEncoder().encode('This is not an archive.'.repeat(100)))
  })

  test('rejects an archive that the backup command did not write', async () => {
    using here = await installed()
    const { at } = here
    const body = readFileSync(at('data', 'millrace.db'))
    writeFileSync(at('own.tar'), await packTar([{ header: { name: 'millrace.db', size: body.length }, body }]))
    const refused = await call('restore', at('own.tar'), '--data', at('new'))
    expect(refused).toMatchObject({ code: 1, words: expect.stringContaining('no checksum') })
    await writeArchive(at('empty.tar'), [])
    const empty = await call('restore', at('empty.tar'), '--data', at('new'))
    expect(empty).toMatchObject({ code: 1, words: expect.stringContaining('contains no millrace.db') })
    expect(filesIn(at('new'))).toEqual([])
  })

  test('rejects the database of another program or of a newer version', async () => {
    using here = await installed()
    const { at } = here
    const archive = async (name: string, change: (database: Database) => void) => {
      await Bun.write(at('x.db'), readFileSync(at('data', 'millrace.db')))
      const database = new Database(at('x.db'))
      change(database)
      database.run('PRAGMA journal_mode = DELETE')
      database.close()
      await writeArchive(at(name), [{ path: at('x.db'), name: 'millrace.db' }])
      return call('restore', at(name), '--data', at('new'))
    }
    const foreign = await archive('foreign.tar', (database) => database.run('PRAGMA application_id = 7'))
    expect(foreign).toMatchObject({ code: 1, words: expect.stringContaining('was not created by Millrace') })
    const newer = await archive('newer.tar', (database) => database.run('PRAGMA user_version = 999'))
    expect(newer).toMatchObject({ code: 1, words: expect.stringContaining('a newer version of Millrace') })
    expect(filesIn(at('new'))).toEqual([])
  })

  test('does not include the targets of links, because a backup contains only regular files', async () => {
    using here = await installed()
    const { at } = here
    mkdirSync(at('data', 'files'))
    writeFileSync(at('secret'), 'elsewhere')
    symlinkSync(at('secret'), at('data', 'files', 'link'))
    await call('backup', at('backup.tar'), '--data', at('data'))
    expect(readFileSync(at('backup.tar')).includes('elsewhere')).toBe(false)
    expect((await call('restore', at('backup.tar'), '--data', at('new'))).code).toBe(0)
  })
})
