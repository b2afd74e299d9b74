import { describe, expect, test } from 'bun:test'
import { existsSync, readdirSync } from 'node:fs'
import { join, posix } from 'node:path'
import '../../support/built.ts'
import { contents } from '../../../scripts/docs/contents.ts'
import { renderPage } from '../../../scripts/docs/markdown.ts'
import { registry } from '../../../src/blocks/registry.ts'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { runLocally } from '../../../src/cli/support/local-run.ts'
import { resolveConfig, settings } from '../../../src/config.ts'
import { readDocument } from '../../../src/domain/workflow/document.ts'
import { docsOfBlock } from '../../../src/ui/parts/docs-link.tsx'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { serve } from '../../support/running-service.ts'
import { arrows } from '../../unit/architecture/allowed-imports.ts'
import { type CodeBlock, codeBlocks, readText, root, userPages } from './docs-blocks.ts'
import { runBlocks } from './docs-session.ts'

const contributorPages = readdirSync(root).filter((file) => file.endsWith('.md') && file !== 'README.md')
const otherPages = ['src/README.md', 'bench/README.md', 'bench/HISTORY.md', 'Dockerfile', '.ci/run']
const pages = [...userPages, ...contributorPages, ...otherPages]

/** The languages of the code blocks that the tests run. */
const runLanguages = ['sh', 'ts', 'python']
/** The two commands at the beginning of the README, which CI runs. */
const isOwnCommand = ({ code }: CodeBlock) => /^npx --yes bun@[\d.]+ run (start|test)$/.test(code.trim())
const blocks = userPages.flatMap(codeBlocks).filter((block) => !isOwnCommand(block))

describe('the code in the documents', () => {
  for (const page of userPages) {
    const run = blocks.filter((block) => {
      return block.page === page && runLanguages.includes(block.language) && block.notRun === undefined
    })
    if (run.length === 0) continue
    test(`of ${page} works`, () => runBlocks(page, run), 180_000)
  }

  test('is run, except for a few blocks with a reason', () => {
    const left = blocks.filter(({ language, notRun }) => runLanguages.includes(language) && notRun !== undefined)
    const list = left.map(({ page, line, notRun }) => `${page}:${line}: ${notRun}`)
    console.log(`These blocks are not run:\n  ${list.join('\n  ')}`)
    expect(list.length).toBeLessThanOrEqual(12)
  })

  test('names its language, and JSON blocks are valid', () => {
    for (const { page, line, language, code, notRun } of blocks) {
      expect([page, line, language]).toEqual([page, line, expect.stringMatching(/^[a-z]+$/)])
      if (language !== 'json' || notRun !== undefined) continue
      expect([page, line, isJson(code)]).toEqual([page, line, true])
    }
  })

  test('of the README creates a workflow that returns the documented output', async () => {
    const json = codeBlocks('README.md').find(({ language }) => language === 'json')!
    const reading = readDocument(JSON.parse(json.code))
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
})

describe('a link', () => {
  const isMarkdown = (page: string) => page.endsWith('.md')
  const rendered = new Map(
    pages.filter(isMarkdown).map((page) => {
      const links: string[] = []
      const note = (href: string) => {
        links.push(href)
        return href
      }
      return [page, { ...renderPage(readText(page), { link: note, image: note }), links }] as const
    }),
  )
  /** The ids of a page's headings. */
  const anchorsOf = (page: string) => {
    const { headings = [] } = rendered.get(page) ?? {}
    return headings.map(({ anchor }) => anchor)
  }

  test('between documents leads to an existing file and heading', () => {
    for (const [page, { links }] of rendered) {
      for (const link of links.filter((href) => !/^[a-z]+:/.test(href))) {
        const [path = '', anchor] = link.split('#')
        const target = path === '' ? page : posix.join(posix.dirname(page), path)
        expect([page, link, existsSync(join(root, target))]).toEqual([page, link, true])
        if (anchor === undefined) continue
        expect([page, link, anchorsOf(target).includes(anchor)]).toEqual([page, link, true])
      }
    }
  })

  test('in the interface leads to an existing page and heading of the documentation', async () => {
    const links = [...registry.keys()].map(docsOfBlock)
    for await (const file of new Bun.Glob('src/ui/**/*.{ts,tsx}').scan({ cwd: root })) {
      links.push(...[...readText(file).matchAll(/['"`](\/docs(?:\/[\w#-]+)?)['"`]/g)].map((match) => match[1]!))
    }
    expect(links.length).toBeGreaterThan(registry.size + 5)
    for (const link of links.filter((each) => each !== '/docs')) {
      const [name, anchor] = link.slice('/docs/'.length).split('#')
      expect([link, userPages.includes(`docs/${name}.md`)]).toEqual([link, true])
      if (anchor !== undefined)
        expect([link, anchorsOf(`docs/${name}.md`)]).toEqual([link, expect.arrayContaining([anchor])])
    }
  })

  test('in the table of contents leads to every page once', () => {
    const listed = contents.flatMap((group) => group.pages).map((name) => `docs/${name}.md`)
    expect(listed.toSorted()).toEqual(userPages.filter((page) => page.startsWith('docs/')).toSorted())
  })
})

describe('the documented settings', () => {
  test('all exist', () => {
    const names = new Set([...settings.map(({ name }) => name), 'MILLRACE_BUILD_COMMIT'])
    for (const page of pages) {
      const named = [...readText(page).matchAll(/\bMILLRACE_[A-Z0-9_]+\b/g)].map(([name]) => name)
      expect([page, named.filter((name) => !names.has(name))]).toEqual([page, []])
    }
  })

  test('are complete in the table, with their defaults and ranges', () => {
    const rows = [...readText('docs/configuration.md').matchAll(/^\| *`(MILLRACE_\w+)` *\| *(.+?) *\| *(.+?) *\|/gm)]
    expect(rows.map((row) => row[1]!).toSorted()).toEqual(settings.map(({ name }) => name).toSorted())
    for (const [, name, shown, allowed] of rows) {
      const { member, default: standard } = settings.find((setting) => setting.name === name)!
      const read = (text: string) => {
        const { config, problems } = resolveConfig({ environment: { [name!]: text.replaceAll('`', '') } })
        return problems.length > 0 ? 'not allowed' : config[member]
      }
      const isNone = standard === null || (Array.isArray(standard) && standard.length === 0)
      expect([name, shown === 'none' ? 'none' : read(shown!)]).toEqual([name, isNone ? 'none' : read(String(standard))])
      const ends = /^([\d.]+(?: [KMGT]B)?) to ([\d.]+(?: [KMGT]B)?)$/.exec(allowed!)
      if (ends) expect([name, ends.slice(1).map(read)]).not.toContain('not allowed')
    }
  })
})

describe('the documented command line', () => {
  const help = async (...words: string[]) => {
    const terminal = new MemoryTerminal()
    const code = await runCommandLine([...words, '--help'], { terminal, environment: {} })
    return { code, text: terminal.out }
  }
  /** The commands that a help text lists, with the name of their group. */
  const commandsIn = ({ text }: { text: string }) => {
    const list = text.split('\nCommands:\n')[1]?.split('\n\n')[0] ?? ''
    return [...list.matchAll(/^ {2}([a-z]+(?: [a-z]+)?) {2}/gm)].map((match) => match[1]!)
  }

  test('shows only valid commands', async () => {
    const lines = pages.flatMap((page) => {
      const text = readText(page).replaceAll(/\\\n\s*/g, ' ')
      return [...text.matchAll(/(?:^ *|[(|;&] *|`)(?:dist\/)?millrace ([a-z][^`\n|;&)]*)/gm)].map((match) => match[1]!)
    })
    expect(lines.length).toBeGreaterThan(30)
    for (const line of lines) {
      const [first = '', second = ''] = line.trim().split(' ')
      const isGroup =
        ['keys', 'users', 'workspaces', 'env', 'credentials', 'workflows', 'processes'].includes(first) &&
        /^[a-z]/.test(second)
      const { code, text } = await help(first, ...(isGroup ? [second] : []))
      expect([line, code]).toEqual([line, 0])
      const flags = [...line.matchAll(/ (--[a-z-]+)/g)].map((match) => match[1]!)
      const known = ['--help', ...settings.map(({ flag }) => `--${flag}`), ...(text.match(/--[a-z-]+/g) ?? [])]
      expect([line, flags.filter((flag) => !known.includes(flag))]).toEqual([line, []])
    }
  })

  test('lists every command on its page', async () => {
    const spans = [...readText('docs/command-line.md').matchAll(/^\| (`[^|]+`) *\|/gm)].map((row) =>
      [...row[1]!.matchAll(/`([a-z ]+)/g)].map((match) => match[1]!.trim()),
    )
    const shown = new Set<string>()
    for (const row of spans) {
      // A row such as `keys create`, `list`, `revoke` names its group once.
      const group = /^(\w+) /.exec(row[0]!)?.[1]
      for (const span of row) shown.add(group && !span.includes(' ') ? `${group} ${span}` : span)
    }
    for (const name of commandsIn(await help())) {
      const inner = commandsIn(await help(name))
      for (const command of inner.length > 0 ? inner : [name]) expect(shown).toContain(command)
    }
  })
})

test('the documents name every route of the API', async () => {
  using folder = temporaryFolder()
  const service = await serve(folder.path)
  const api = (await (await fetch(`${service.url}/swagger/json`)).json()) as { paths: Record<string, unknown> }
  await service.kill('SIGTERM')
  const text = userPages.map(readText).join('\n').replaceAll(variables, '*')
  // The dashboard signs people in and out with the first; only the sample workflow calls the second.
  const internal = ['/api/session', '/sample/quotes']
  const paths = Object.keys(api.paths).filter((path) => !internal.includes(path))
  const missing = paths.filter((path) => !isNamed(path.replaceAll(variables, '*'), text))
  expect(missing).toEqual([])
})

test('the README is short, and lists every block type', () => {
  const readme = readText('README.md')
  expect(readme.trimEnd().split('\n').length).toBeLessThanOrEqual(180)
  const table = readme.split('### Blocks')[1]!.split('\n\n')[1]!
  const named = [...table.matchAll(/^\| ([^|]+)\|/gm)].flatMap((row) => row[1]!.match(/(?<=`)\w+(?=`)/g) ?? [])
  expect(named.toSorted()).toEqual([...registry.keys()].toSorted())
})

test('the map lists every folder of the source, and each folder has its allowed imports', () => {
  const map = readText('src/README.md')
  for (const { name } of readdirSync(join(root, 'src'), { withFileTypes: true })) {
    if (name === 'README.md') continue
    expect([name, map.includes(`| \`${name}\``)]).toEqual([name, true])
    expect(Object.keys(arrows)).toContain(name)
  }
})

test('the commands in the README are scripts, and the documents name only the current version of Bun', () => {
  const { scripts } = JSON.parse(readText('package.json')) as { scripts: Record<string, string> }
  const commands = [...readText('README.md').matchAll(/npx --yes bun@([\d.]+) run (\w+)/g)]
  expect(new Set(commands.map((match) => match[2]))).toEqual(new Set(['start', 'test']))
  for (const [, , script] of commands) expect(scripts[script!]).toBeString()
  const versions = pages.flatMap((page) => [...readText(page).matchAll(/bun@([\d.]+\d)/g)].map((match) => match[1]!))
  expect(new Set(versions)).toEqual(new Set([Bun.version]))
})

test('the lock file contains no host name', () => {
  expect(readText('bun.lock')).not.toMatch(/https?:\/\//)
})

const variables = /\{\w+\}|<\w+>|\$\{?\w+\}?/g

/** Whether a text has a path, in full or with `…` for its beginning. */
function isNamed(path: string, text: string): boolean {
  const endings = path.split('/').map((_, index, steps) => `…/${steps.slice(index).join('/')}`)
  return [path, ...endings].some((form) => new RegExp(`${RegExp.escape(form)}(?![\\w/*-])`).test(text))
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}
