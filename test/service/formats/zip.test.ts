import { afterAll, describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import fc from 'fast-check'
import { Desk, valueInput } from '../../support/formats/desk.ts'
import { programPath } from '../../support/programs.ts'

const desk = new Desk()
const folder = mkdtempSync(join(tmpdir(), 'millrace-zip-'))
afterAll(async () => {
  await desk[Symbol.asyncDispose]()
  rmSync(folder, { recursive: true })
})

const large = 'some text '.repeat(100_000)
mkdirSync(join(folder, 'sub'))
writeFileSync(join(folder, 'a.txt'), 'Hello')
writeFileSync(join(folder, 'sub', 'ä ö.csv'), 'a,b\n1,2\n')
writeFileSync(join(folder, 'large.txt'), large)
writeFileSync(join(folder, 'empty'), '')
symlinkSync('/etc/passwd', join(folder, 'link'))

/** An archive of these files, made by the program zip. */
function zipped(name: string, ...options: string[]) {
  const path = join(folder, name)
  const files = ['a.txt', 'sub', 'large.txt', 'empty', 'link']
  const { exitCode, stdout } = Bun.spawnSync([programPath('zip'), '-r', ...options, path, ...files], { cwd: folder })
  if (exitCode !== 0) throw new Error(stdout.toString())
  return desk.fileAt(path)
}

describe('an archive of the program zip', () => {
  for (const [title, options] of [
    ['compressed', ['-9']],
    ['stored', ['-0']],
    ['with the large format', ['-fz']],
    ['with a comment', ['-z']],
  ] as const) {
    test(`is listed and extracted (${title})`, async () => {
      const archive = zipped(`${title}.zip`, '--symlinks', ...options)
      const { data } = await desk.do('zip_list', archive)
      const sizes = (data as { name: string; size: number; modifiedAt: string }[]).map(({ name, size }) => [name, size])
      expect(sizes.toSorted()).toEqual([
        ['a.txt', 5],
        ['empty', 0],
        ['large.txt', 1_000_000],
        // The path that the link points to.
        ['link', 11],
        ['sub/ä ö.csv', 8],
      ])
      const { files } = await desk.do('zip_extract', archive)
      const contents = Object.fromEntries(files.map(({ name, path }) => [name, readFileSync(path, 'utf8')]))
      expect(contents).toEqual({
        'a.txt': 'Hello',
        'sub/ä ö.csv': 'a,b\n1,2\n',
        'large.txt': large,
        empty: '',
        link: '/etc/passwd',
      })
      expect(files.find(({ name }) => name.endsWith('.csv'))?.type).toBe('text/csv')
    })
  }

  test('is extracted in part', async () => {
    const archive = zipped('part.zip')
    const names = async (entries: unknown) => {
      return (await desk.do('zip_extract', archive, { entries })).files.map(({ name }) => name)
    }
    expect(await names('a.txt')).toEqual(['a.txt'])
    expect(await names('*.csv')).toEqual(['sub/ä ö.csv'])
    expect((await names(['l*e*t', 'a.*'])).toSorted()).toEqual(['a.txt', 'large.txt'])
    expect(await desk.fails('zip_extract', archive, { entries: 'b.txt' })).toContain('no file with such a name')
  })

  test('is refused when it is encrypted, cut off or damaged', async () => {
    expect(await desk.fails('zip_extract', zipped('secret.zip', '-P', 'x'))).toContain('is encrypted')
    const bytes = readFileSync(zipped('whole.zip').file.path)
    expect(await desk.fails('zip_list', desk.file(bytes.subarray(0, bytes.length / 2)))).toContain('not a ZIP archive')
    const damaged = Buffer.from(bytes)
    damaged.fill(0xff, 63, 66)
    expect(await desk.fails('zip_extract', desk.file(damaged))).toContain('INVALID_DOCUMENT')
  })
})

describe('an archive written here', () => {
  test('is extracted by the program unzip', async () => {
    const entries = [
      { name: 'one.txt', text: 'Hello' },
      { name: 'dir/ü.txt', text: large },
      { name: '../../etc/passwd', text: 'up' },
      { name: '/absolute', text: 'abs' },
      { name: 'one.txt', text: 'again' },
      { name: 'one.txt', text: 'and again' },
      { name: 'a file', file: 0 },
    ]
    const { file } = desk.file('content')
    const { files, data } = await desk.do('zip_create', {
      kind: 'value',
      json: JSON.stringify(entries),
      files: [file],
    })
    expect(data).toEqual({ files: 7 })
    const into = join(folder, 'extracted')
    const command = [programPath('unzip'), '-q', files[0]?.path ?? '', '-d', into]
    const unzip = Bun.spawnSync(command, { env: { LC_ALL: 'C.UTF-8' } })
    expect(unzip.stderr.toString()).toBe('')
    expect(unzip.exitCode).toBe(0)
    for (const [name, text] of [
      ['one.txt', 'Hello'],
      ['dir/ü.txt', large],
      ['etc/passwd', 'up'],
      ['absolute', 'abs'],
      ['one (2).txt', 'again'],
      ['one (3).txt', 'and again'],
      ['a file', 'content'],
    ] as const) {
      expect(readFileSync(join(into, name), 'utf8')).toBe(text)
    }
  })

  test('returns the texts that were put into it', async () => {
    const texts = fc.array(fc.string({ unit: 'grapheme' }), { maxLength: 10 })
    await fc.assert(
      fc.asyncProperty(texts, async (list) => {
        const entries = list.map((text, at) => ({ name: `${at}`, text: text.toWellFormed() }))
        const { files } = await desk.do('zip_create', valueInput(entries))
        const extracted = await desk.do('zip_extract', desk.fileAt(files[0]?.path ?? ''))
        const found = extracted.files.map(({ name, path }) => ({ name, text: readFileSync(path, 'utf8') }))
        expect(found).toEqual(entries)
      }),
      { numRuns: 50 },
    )
  })

  test('needs names', async () => {
    expect(await desk.fails('zip_create', valueInput([{ name: '../..', text: '' }]))).toContain('cannot be the name')
  })
})
