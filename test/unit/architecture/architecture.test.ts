import { describe, expect, test } from 'bun:test'
import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { breaches } from './architecture-rules.ts'
import { blank, importLines } from './source-lines.ts'

const root = resolve(import.meta.dir, '../../..')

/** Every source file of the project. */
function projectSources(): Record<string, string> {
  const glob = new Bun.Glob('{src,test,bench,scripts}/**/*.{ts,tsx}')
  const files = [...glob.scanSync({ cwd: root })].toSorted()
  return Object.fromEntries(files.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]))
}

test('the project follows its architecture rules', () => {
  const sources = projectSources()
  expect(Object.keys(sources)).toContain('src/main.ts')
  const lines = breaches(sources).map(({ file, line, rule, message }) => `${file}:${line}: ${rule}: ${message}`)
  expect(lines).toEqual([])
}, 60_000)

describe('the architecture check', () => {
  const of = (sources: Record<string, string>) =>
    breaches(sources).map(({ file, line, rule }) => `${file}:${line} ${rule}`)

  test('reports a forbidden import in any syntax', () => {
    const other = { 'src/blocks/api.ts': 'export const api = 1\n', 'src/store/store.ts': 'export type Store = {}\n' }
    const from = (text: string) => of({ ...other, 'src/engine/plan.ts': text })
    expect(from("import { api } from '../blocks/api.ts'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("\nimport {\n  api,\n} from '../blocks/api.ts'\n")).toEqual(['src/engine/plan.ts:2 arrow'])
    expect(from("export { api } from '../blocks/api.ts'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("import '../blocks/api.ts'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("const x = await import('../blocks/api.ts')\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("type X = import('../store/store.ts').Store\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("import { join } from '../../test/make.ts'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("import { codes } from '../domain/errors'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(from("import { codes } from '../domain/errors.ts'\n")).toEqual([])
    expect(from("import first from '../../samples/first.json'\n")).toEqual(['src/engine/plan.ts:1 arrow'])
    expect(of({ 'src/cli/x.ts': "import first from '../../samples/first.json'\n" })).toEqual([])
    expect(of({ 'src/attic/old.ts': 'export const old = 1\n' })).toEqual(['src/attic/old.ts:1 arrow'])
  })

  test('allows type imports where only types are allowed', () => {
    const from = (text: string) => of({ 'src/store/store.ts': 'export const s = 1\n', 'src/events/writer.ts': text })
    expect(from("import type { Store } from '../store/store.ts'\n")).toEqual([])
    expect(from("import { type Store, type Row } from '../store/store.ts'\n")).toEqual([])
    expect(from("import { type Store, s } from '../store/store.ts'\n")).toEqual(['src/events/writer.ts:1 arrow'])
    expect(from("import { s } from '../store/store.ts'\n")).toEqual(['src/events/writer.ts:1 arrow'])
  })

  test('allows blocks to import only block.ts from the engine', () => {
    const from = (file: string) => of({ 'src/blocks/wait.ts': `import { x } from '../engine/${file}'\n` })
    expect(from('block.ts')).toEqual([])
    expect(from('plan.ts')).toEqual(['src/blocks/wait.ts:1 arrow'])
  })

  test('reports a forbidden import inside a folder', () => {
    const files = { 'src/engine/run/walk.ts': 'export const w = 1\n', 'src/engine/block.ts': 'export const b = 1\n' }
    const from = (file: string, text: string) => of({ ...files, [file]: text })
    const plan = 'src/engine/compile/plan.ts'
    expect(from(plan, "import { w } from '../run/walk.ts'\n")).toEqual([`${plan}:1 arrow`])
    expect(from(plan, "import type { w } from '../run/walk.ts'\n")).toEqual([])
    expect(from(plan, "import { b } from '../block.ts'\n")).toEqual([])
    expect(from('src/engine/jobs/jobs.ts', "import { w } from '../run/walk.ts'\n")).toEqual([])
    expect(from('src/engine/attic/old.ts', "import { w } from '../run/walk.ts'\n")).toEqual([
      'src/engine/attic/old.ts:1 arrow',
    ])
  })

  test('reports a folder with too many files, except lists of similar files', () => {
    const many = (folder: string, count: number) =>
      of(Object.fromEntries(Array.from({ length: count }, (_, index) => [`${folder}/file-${index}.ts`, ''])))
    expect(many('src/engine/run', 26)).toEqual(['src/engine/run:1 heap'])
    expect(many('src/engine/run', 25)).toEqual([])
    expect(many('src/blocks', 26)).toEqual([])
  })

  test('does not mistake text for an import', () => {
    const text = [
      '// import { api } from "../blocks/api.ts"',
      '/* import "../blocks/api.ts" */',
      'const a = `import { api } from "../blocks/api.ts"`',
      'const b = "import \'../blocks/api.ts\'"',
    ].join('\n')
    expect(of({ 'src/engine/plan.ts': text })).toEqual([])
  })

  test('reports a cycle of imports, including types except in a few folders', () => {
    const ring = {
      'src/engine/a.ts': "import { b } from './b.ts'\n",
      'src/engine/b.ts': "import { c } from './c.ts'\n",
      'src/engine/c.ts': "\nimport { a } from './a.ts'\n",
    }
    expect(of(ring)).toEqual(['src/engine/c.ts:2 cycle'])
    expect(breaches(ring)[0]?.message).toBe('src/engine/a.ts → src/engine/b.ts → src/engine/c.ts → src/engine/a.ts')
    expect(of({ ...ring, 'src/engine/c.ts': "import type { a } from './a.ts'\n" })).toEqual(['src/engine/c.ts:1 cycle'])
    const pair = (type: string) => ({
      'src/ui/a.ts': "import { b } from './b.ts'\n",
      'src/ui/b.ts': `import ${type}{ a } from './a.ts'\n`,
    })
    expect(of(pair('type '))).toEqual([])
    expect(of(pair(''))).toEqual(['src/ui/b.ts:1 cycle'])
  })

  test('reports a package outside of its folders', () => {
    const from = (folder: string, name: string) => of({ [`src/${folder}/x.ts`]: `import { y } from '${name}'\n` })
    expect(from('language', 'acorn')).toEqual([])
    expect(from('engine', 'acorn')).toEqual(['src/engine/x.ts:1 package'])
    expect(from('http', '@elysiajs/swagger')).toEqual([])
    expect(from('accounts', 'elysia')).toEqual(['src/accounts/x.ts:1 package'])
    expect(from('events', 'bun:sqlite')).toEqual(['src/events/x.ts:1 package'])
    expect(from('sandbox', 'quickjs-wasi/quickjs.wasm')).toEqual([])
    expect(from('engine', 'left-pad')).toEqual(['src/engine/x.ts:1 package'])
    expect(from('domain', 'node:fs')).toEqual(['src/domain/x.ts:1 package'])
    expect(from('store', 'node:fs')).toEqual([])
  })

  test('allows only one file to read the environment', () => {
    const from = (file: string, text: string) => of({ [file]: text })
    expect(from('src/http/server.ts', '\nconst a = process.env.HOME\n')).toEqual(['src/http/server.ts:2 environment'])
    expect(from('src/http/server.ts', 'const a = Bun.env["HOME"]\n')).toEqual(['src/http/server.ts:1 environment'])
    expect(from('src/http/server.ts', '// process.env is for config.ts\n')).toEqual([])
    expect(from('src/config.ts', 'const a = process.env\n')).toEqual([])
    expect(from('test/x.test.ts', 'const a = process.env\n')).toEqual([])
  })

  test('reports state of a module', () => {
    const from = (text: string) => of({ 'src/engine/x.ts': text })
    const breach = ['src/engine/x.ts:1 state']
    expect(from('let count = 0\n')).toEqual(breach)
    expect(from('export let count = 0\n')).toEqual(breach)
    expect(from('const cache = new Map<string, number>()\n')).toEqual(breach)
    expect(from('export const seen: Set<string> = new Set()\n')).toEqual(breach)
    expect(from('const rows: string[] = []\n')).toEqual(breach)
    expect(from('const rows: Record<string, string> = {}\n')).toEqual(breach)
    expect(from('export const names = [\n  "a",\n]\n')).toEqual(breach)
    expect(from('class A {\n  static count = 0\n}\n')).toEqual(['src/engine/x.ts:2 state'])
    expect(from('export const names = [\n  "a",\n] as const\n')).toEqual([])
    expect(from('export const names: readonly string[] = ["a"]\n')).toEqual([])
    expect(from('export const known: ReadonlySet<string> = new Set(["a"])\n')).toEqual([])
    expect(from('const known = new Set(["a"])\n')).toEqual([])
    expect(from('export const known = new Set(["a"])\n')).toEqual(breach)
    expect(from('function f() {\n  let count = 0\n  const rows = []\n  return [count, rows]\n}\n')).toEqual([])
    expect(from('class A {\n  static readonly max = 3\n  static of(): A {\n    return new A()\n  }\n}\n')).toEqual([])
  })

  test('reports a file that is too long, unless it says why', () => {
    const lines = (count: number) => 'const a = 1\n'.repeat(count)
    expect(of({ 'src/engine/x.ts': lines(300) })).toEqual([])
    expect(of({ 'src/engine/x.ts': lines(301) })).toEqual(['src/engine/x.ts:301 length'])
    expect(of({ 'src/engine/x.ts': `// Long because it is one table.\n${lines(400)}` })).toEqual([])
    expect(of({ 'test/x.test.ts': lines(301) })).toEqual(['test/x.test.ts:301 length'])
  })

  test('reports any, default exports and meaningless file names', () => {
    const from = (text: string) => of({ 'src/engine/x.ts': text })
    expect(from('const a: any = 1\n')).toEqual(['src/engine/x.ts:1 any'])
    expect(from('const a = b as any\n')).toEqual(['src/engine/x.ts:1 any'])
    expect(from('function f(a: Record<string, any>) {}\n')).toEqual(['src/engine/x.ts:1 any'])
    expect(from('const a = AbortSignal.any([]) // any of them\nconst b = "any"\n')).toEqual([])
    expect(from('export default 1\n')).toEqual(['src/engine/x.ts:1 default export'])
    expect(from('const a = 1\nexport { a as default }\n')).toEqual(['src/engine/x.ts:2 default export'])
    for (const name of ['utils', 'helpers', 'common', 'types', 'index', 'manager', 'camelCase']) {
      expect(of({ [`src/engine/${name}.ts`]: 'export const a = 1\n' })).toEqual([`src/engine/${name}.ts:1 name`])
    }
  })

  test('recognises strings, templates and regular expressions', () => {
    expect(blank("a = 'x//y' // z", { strings: true })).toBe("a = '    '     ")
    expect(blank('a = `b${c + `d${e}`}f` /* g */', { strings: true })).toBe('a = ` ${c + ` ${e}`} `        ')
    expect(blank("a = /['\"]/.test(b) ? 'c' : d / e / f", { strings: true })).toBe(
      "a = /    /.test(b) ? ' ' : d / e / f",
    )
    expect(blank('`${{ a: 1 }}` // b', { strings: true })).toBe('`${{ a: 1 }}`     ')
    expect(importLines("const a = /'/\nimport { b } from './b.ts'\n")).toEqual([
      { line: 2, target: './b.ts', typeOnly: false },
    ])
  })
})
