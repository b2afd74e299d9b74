import { posix } from 'node:path'
import { arrows, filesPerFolderMax, innerArrows, listFolders, packages } from './allowed-imports.ts'
import { type CodeLine, codeLines, type ImportLine, importLines } from './source-lines.ts'

/** One violation of an architecture rule. */
export type Breach = { file: string; line: number; rule: string; message: string }

/** Source files by their path below the repository's root. */
export type Sources = Readonly<Record<string, string>>

/** Folders that may not use a clock, a disk, a network or a framework. */
const pureFolders = ['domain', 'language']
const forbiddenNames = ['utils', 'helpers', 'common', 'types', 'index', 'manager']
const linesMax = 300

/** All violations in the sources. */
export function breaches(sources: Sources): Breach[] {
  const files = Object.entries(sources).map(([file, text]) => {
    return { file, text, imports: importLines(text), code: codeLines(text) }
  })
  const found = files.flatMap((source) => [
    ...nameBreaches(source),
    ...lengthBreaches(source),
    ...wordBreaches(source),
    ...(source.file.startsWith('src/') ? [...importBreaches(source), ...stateBreaches(source)] : []),
  ])
  return [...found, ...heapBreaches(files), ...cycleBreaches(files)].toSorted(
    (a, b) => a.file.localeCompare(b.file) || a.line - b.line,
  )
}

type Source = { file: string; text: string; imports: readonly ImportLine[]; code: readonly CodeLine[] }

function nameBreaches({ file }: Source): Breach[] {
  const name = posix.basename(file)
  const stem = name.replace(/(\.test|\.d)?\.tsx?$/, '')
  const at = (message: string) => ({ file, line: 1, rule: 'name', message })
  if (forbiddenNames.includes(stem)) return [at(`"${stem}" says nothing about what is inside; name the thing`)]
  if (!/^[a-z0-9]+(-[a-z0-9]+)*$/.test(stem)) return [at(`"${name}" is not in kebab-case`)]
  return []
}

function lengthBreaches({ file, text }: Source): Breach[] {
  const lines = text.split('\n')
  const count = lines.at(-1) === '' ? lines.length - 1 : lines.length
  if (count <= linesMax || lines.slice(0, 3).some((line) => /^\/\/ Long because \S/.test(line))) return []
  const message = `${count} lines, more than ${linesMax}: split it, or begin with "// Long because …"`
  return [{ file, line: linesMax + 1, rule: 'length', message }]
}

/** Words that are not allowed in code. */
function wordBreaches({ file, code }: Source): Breach[] {
  const rules = [
    { rule: 'any', pattern: /(?<![\w$.#])any(?![\w$(:])/, message: '`any` turns off type checks; use `unknown`' },
    { rule: 'default export', pattern: /\bexport\s+default\b|\bas\s+default\b/, message: 'export it by its name' },
  ]
  if (file.startsWith('src/') && file !== 'src/config.ts') {
    const message = 'only src/config.ts reads the environment; take the value as a parameter'
    rules.push({ rule: 'environment', pattern: /\b(process|Bun|import\.meta)\s*\.\s*env\b/, message })
  }
  // A declaration file describes the import of an asset, which is a default export.
  if (file.endsWith('.d.ts')) rules.splice(1, 1)
  return code.flatMap(({ line, text }) =>
    rules.filter(({ pattern }) => pattern.test(text)).map(({ rule, message }) => ({ file, line, rule, message })),
  )
}

function importBreaches({ file, imports }: Source): Breach[] {
  const from = folderOf(file)
  const allowed = arrows[from]
  if (!allowed) return [{ file, line: 1, rule: 'arrow', message: `"${from}" is not in the table of allowed imports` }]
  return imports.flatMap((one) => {
    const message = one.target.startsWith('.')
      ? arrowMessage(file, from, allowed, one)
      : packageMessage(from, one.target)
    if (message === undefined) return []
    return [{ file, line: one.line, rule: one.target.startsWith('.') ? 'arrow' : 'package', message }]
  })
}

function arrowMessage(file: string, from: string, allowed: readonly string[], one: ImportLine): string | undefined {
  const target = resolveImport(file, one.target)
  if (!/\.[a-z]+$/.test(one.target)) return `"${one.target}" has no ending; write .ts`
  // The executable contains the sample of the first start, the ready workflows, and connectors. They are data.
  if (from === 'cli' && /^samples\/[a-z-]+\.json$/.test(target)) return undefined
  if (from === 'http' && /^samples\/gallery\/[a-z-]+\.json$/.test(target)) return undefined
  if (from === 'connectors' && /^connectors\/[a-z-]+\.json$/.test(target)) return undefined
  if (!target.startsWith('src/')) return `${target} lies outside src/`
  const to = folderOf(target)
  if (to === from) return innerMessage(file, target, one)
  if (allowed.includes('*') || allowed.includes(to) || allowed.includes(target.slice(4))) return undefined
  if (allowed.includes(`type:${to}`)) return one.typeOnly ? undefined : `${from} may import only types of ${to}`
  return `${from} may not import ${to}`
}

/** Checks an import between two inner folders of the same folder. */
function innerMessage(file: string, target: string, one: ImportLine): string | undefined {
  for (const [base, folders] of Object.entries(innerArrows)) {
    if (!file.startsWith(`${base}/`) || !target.startsWith(`${base}/`)) continue
    const from = innerFolderOf(base, file)
    const to = innerFolderOf(base, target)
    if (from === undefined || to === undefined || from === to) continue
    const allowed = folders[from]
    if (!allowed) return `${base}/${from} is not in the table of inner imports`
    if (allowed.includes(to) || allowed.includes(target.slice(base.length + 1))) continue
    if (allowed.includes(`type:${to}`) && one.typeOnly) continue
    return `${base}/${from} may not import ${to}${allowed.includes(`type:${to}`) ? ', except its types' : ''}`
  }
  return undefined
}

/** `compile` for `src/engine/compile/plan.ts` in `src/engine`; undefined for a file directly in the folder. */
function innerFolderOf(base: string, file: string): string | undefined {
  const [folder, ...rest] = file.slice(base.length + 1).split('/')
  return rest.length === 0 ? undefined : folder
}

/** Folders with too many files at one level. */
function heapBreaches(files: readonly Source[]): Breach[] {
  const byFolder = Map.groupBy(files, ({ file }) => posix.dirname(file))
  return [...byFolder].flatMap(([folder, { length }]) => {
    if (length <= filesPerFolderMax || listFolders.includes(folder)) return []
    const message = `${folder} has ${length} files at one level, more than ${filesPerFolderMax}: sort them into folders`
    return [{ file: folder, line: 1, rule: 'heap', message }]
  })
}

function packageMessage(from: string, target: string): string | undefined {
  if (target.startsWith('node:') || target === 'bun') {
    return pureFolders.includes(from) ? `${from} is pure: no ${target}` : undefined
  }
  const name = target.startsWith('@') ? target.split('/').slice(0, 2).join('/') : target.split('/')[0]!
  const folders = packages[name]
  if (!folders) return `${name} is not in the table of packages`
  return folders.includes('*') || folders.includes(from) ? undefined : `${name} belongs to ${folders.join(', ')} only`
}

/** State of a module, which two apps in one process would share. */
function stateBreaches({ file, code }: Source): Breach[] {
  return code.flatMap(({ line, text, depth }) => {
    const message = depth === 0 ? moduleState(text) : classState(text)
    return message === undefined ? [] : [{ file, line, rule: 'state', message }]
  })
}

function moduleState(text: string): string | undefined {
  if (/^(export\s+)?(let|var)\s/.test(text)) return 'a module must not keep variables; give the state an owner'
  const match = /^(export\s+)?const\s+[\w$]+\s*(:[^=]*(?:=>[^=]*)*)?=\s*(.*)$/.exec(text)
  if (!match) return undefined
  const [, exported, annotation = '', value = ''] = match
  if (/\b[Rr]eadonly/.test(annotation)) return undefined
  if (/^new (WeakMap|WeakSet|Array|AbortController|EventTarget|EventEmitter)\b/.test(value)) {
    return 'a module must not keep such an object; give it an owner'
  }
  // A private set with initial values is a list of names. An empty set is state.
  if (/^new (Map|Set)\b/.test(value) && (exported || !/^new \w+(<[^(]*>)?\((?!\s*\))/.test(value))) {
    return 'a module must not keep collections; give them an owner, or use ReadonlyMap or ReadonlySet'
  }
  if (/^(\[\s*\]|\{\s*\})/.test(value)) return 'an empty collection of a module is state; give it an owner'
  if (exported && /^\[/.test(value) && !/\bas const\b/.test(text) && /\]\s*$/.test(text)) {
    return 'an exported array can be changed by everyone; say `as const` or `readonly`'
  }
  return undefined
}

function classState(text: string): string | undefined {
  if (!/^\s*(public |private |protected )?static\s+(?!readonly\b|async\b|get\b|set\b|\{)[#\w$]+\s*[:=!]/.test(text))
    return undefined
  return 'a static field is state of the module; make it readonly, or give it an owner'
}

/**
 * Folders below `src/` whose files may still import each other's types in a cycle. Values may form a cycle nowhere.
 * Nothing may be added here.
 */
const typeCyclesIn = ['ui']

/** Files that import each other in a cycle. Reports one breach per cycle. */
function cycleBreaches(files: readonly Source[]): Breach[] {
  const graph = new Map(files.map((source) => [source.file, source]))
  const state = new Map<string, 'open' | 'done'>()
  const found: Breach[] = []
  const visit = (file: string, path: readonly string[]) => {
    state.set(file, 'open')
    for (const one of graph.get(file)?.imports ?? []) {
      if (!one.target.startsWith('.') || (one.typeOnly && !countsTypes(file))) continue
      const target = resolveImport(file, one.target)
      if (!graph.has(target) || state.get(target) === 'done') continue
      if (state.get(target) === 'open') {
        const ring = [...path.slice(path.indexOf(target)), target]
        found.push({ file, line: one.line, rule: 'cycle', message: ring.join(' → ') })
      } else visit(target, [...path, target])
    }
    state.set(file, 'done')
  }
  for (const { file } of files) if (!state.has(file)) visit(file, [file])
  return found
}

function countsTypes(file: string): boolean {
  return file.startsWith('src/') && !typeCyclesIn.includes(folderOf(file))
}

function resolveImport(file: string, target: string): string {
  return posix.join(posix.dirname(file), target)
}

/** `engine` for `src/engine/compile/plan.ts`, `app.ts` for `src/app.ts`. */
function folderOf(file: string): string {
  return file.split('/')[1]!
}
