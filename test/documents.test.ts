import { expect, test } from 'bun:test'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { dirname, join, resolve } from 'node:path'
import { registry } from '../src/blocks/registry.ts'
import { runCommandLine } from '../src/cli/command-line.ts'
import { runLocally } from '../src/cli/local-run.ts'
import { resolveConfig, settings } from '../src/config.ts'
import { readDocument } from '../src/domain/document.ts'
import { arrows } from './architecture-rules.ts'
import { MemoryTerminal } from './cli/memory-terminal.ts'

const root = resolve(import.meta.dir, '..')
const pages = [
  'README.md',
  'src/README.md',
  'bench/README.md',
  'bench/HISTORY.md',
  'CHANGELOG.md',
  'Dockerfile',
  '.ci/run',
]
const read = (path: string) => readFileSync(join(root, path), 'utf8')

test('every setting that the documents name is one', () => {
  const names = new Set(settings.map(({ name }) => name))
  names.add('MILLRACE_BUILD_COMMIT')
  for (const page of pages) {
    const named = [...read(page).matchAll(/\bMILLRACE_[A-Z0-9_]+\b/g)].map(([name]) => name)
    expect([page, named.filter((name) => !names.has(name))]).toEqual([page, []])
  }
})

test('every command line that the documents show is one', async () => {
  const lines = pages.flatMap((page) =>
    [...read(page).matchAll(/(?:^ +(?:dist\/)?|`(?:dist\/)?)millrace ([a-z][^`\n]*)/gm)].map((match) => match[1]!),
  )
  expect(lines.length).toBeGreaterThan(10)
  for (const line of lines) {
    const [first = '', second = ''] = line.split(' ')
    const grouped = ['keys', 'users', 'workspaces', 'env', 'workflows'].includes(first) && /^[a-z]/.test(second)
    const words = grouped ? [first, second] : [first]
    const flags = [...line.matchAll(/ (--[a-z-]+)/g)].map((match) => match[1]!)
    const terminal = new MemoryTerminal()
    expect([line, await runCommandLine([...words, '--help'], { terminal, environment: {} })]).toEqual([line, 0])
    const known = ['--help', ...settings.map(({ flag }) => `--${flag}`), ...terminal.out.matchAll(/--[a-z-]+/g)].map(
      String,
    )
    expect([line, flags.filter((flag) => !known.includes(flag))]).toEqual([line, []])
  }
})

test('the workflow that the README writes runs as the README says', async () => {
  const json = /```json\n(.*?)```/s.exec(read('README.md'))![1]!
  const reading = readDocument(JSON.parse(json))
  if ('details' in reading) throw new Error(JSON.stringify(reading.details))
  const { output } = await runLocally({
    document: reading.document,
    input: { name: 'Ada' },
    config: resolveConfig({}).config,
    environment: {},
    progress: undefined,
    warn: (text) => {
      throw new Error(text)
    },
  })
  expect(output).toMatchObject({ result: 'Hello, Ada. You have 3 letters.' })
})

test('the README lists every block type', () => {
  const table = read('README.md').split('### Blocks')[1]!.split('\n\n')[1]!
  const named = [...table.matchAll(/^\| ([^|]+)\|/gm)].flatMap((row) =>
    [...row[1]!.matchAll(/`(\w+)`/g)].map((m) => m[1]!),
  )
  expect(named.toSorted()).toEqual([...registry.keys()].toSorted())
})

test('the map lists every folder of the source, and the rules know it', () => {
  const map = read('src/README.md')
  for (const { name } of readdirSync(join(root, 'src'), { withFileTypes: true })) {
    if (name === 'README.md') continue
    expect([name, map.includes(`| \`${name}\``)]).toEqual([name, true])
    expect(Object.keys(arrows)).toContain(name)
  }
})

test('links between the documents lead somewhere', () => {
  for (const page of pages.filter((page) => page.endsWith('.md'))) {
    for (const [, target] of read(page).matchAll(/\]\(([^)#]+)\)/g)) {
      if (/^https?:/.test(target!)) continue
      expect([target, existsSync(join(root, dirname(page), target!))]).toEqual([target, true])
    }
  }
})

test('the two commands of the README are scripts, on exactly one version of Bun everywhere', () => {
  const { scripts } = JSON.parse(read('package.json')) as { scripts: Record<string, string> }
  const commands = [...read('README.md').matchAll(/npx --yes bun@([\d.]+) run (\w+)/g)]
  expect(new Set(commands.map((match) => match[2]))).toEqual(new Set(['start', 'test']))
  for (const [, , script] of commands) expect(scripts[script!]).toBeString()
  const versions = pages.flatMap((page) => [...read(page).matchAll(/bun@([\d.]+\d)/g)].map((match) => match[1]!))
  expect(new Set(versions)).toEqual(new Set([Bun.version]))
})

test('the lock file names no host', () => {
  expect(read('bun.lock')).not.toMatch(/https?:\/\//)
})
