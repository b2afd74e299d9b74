import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { wordingBreaches } from './language-rules.ts'

const root = resolve(import.meta.dir, '../../..')

/** These two files quote the phrases that the rules reject. */
const quoting = /architecture\/language(-rules|\.test)\.ts$/

test('the project is written in plain English', () => {
  const patterns = ['{src,test,bench,scripts}/**/*.{ts,tsx,md}', 'docs/*.md', '*.md']
  const all = patterns.flatMap((pattern) => [...new Bun.Glob(pattern).scanSync({ cwd: root })])
  const files = all.filter((file) => !quoting.test(file)).toSorted()
  expect(files).toContain('README.md')
  expect(files).toContain('src/main.ts')
  const found = files.flatMap((file) => wordingBreaches(file, readFileSync(resolve(root, file), 'utf8')))
  expect(found.map(({ file, line, message }) => `${file}:${line}: ${message}`)).toEqual([])
}, 60_000)

const linesOf = (file: string, text: string) => wordingBreaches(file, text).map(({ line }) => line)

describe('the language rules', () => {
  test('report comments and headings that begin with "Of", "What" or "Whoever"', () => {
    expect(linesOf('a.ts', '/** Of a run that ended. */\n')).toEqual([1])
    expect(linesOf('a.ts', '/**\n * What a run cost.\n */\n')).toEqual([2])
    expect(linesOf('a.ts', 'const a = 1 // Of one workflow.\n')).toEqual([1])
    expect(linesOf('a.ts', '// The list\n// Of continued comments.\n')).toEqual([])
    expect(linesOf('a.md', '## What ran\n')).toEqual([1])
    expect(linesOf('a.md', '## Runs\n\nWhat starts it? A trigger.\n')).toEqual([])
  })

  test('report banned phrases in comments, in strings and in prose', () => {
    expect(linesOf('a.ts', "const a = 'for whoever asks'\n")).toEqual([1])
    expect(linesOf('a.ts', '// Who sends this is unknown: what is expected is not set.\n')).toEqual([1])
    expect(linesOf('a.ts', 'const a = `it says of ${b} that is none`\n')).toEqual([1, 1])
    expect(linesOf('a.md', 'A run by hand lets it be.\n')).toEqual([1, 1])
  })

  test('ignore code, and code blocks in Markdown', () => {
    expect(linesOf('a.ts', 'const whoever = what.is / it.is\n')).toEqual([])
    expect(linesOf('a.md', '```sh\nwhoever\n```\n\n`whoever` is a name.\n')).toEqual([])
  })

  test('report lines of more than 120 columns, except tables and links', () => {
    const long = 'word '.repeat(25)
    expect(linesOf('a.ts', `// ${long}\n`)).toEqual([1])
    expect(linesOf('a.md', `${long}\n`)).toEqual([1])
    expect(linesOf('a.md', `| ${long} |\n`)).toEqual([])
    expect(linesOf('a.ts', `// ${'x'.repeat(117)}\n`)).toEqual([])
  })
})
