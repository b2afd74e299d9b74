import { describe, expect, test } from 'bun:test'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { runCommandLine } from '../../../src/cli/command-line.ts'
import { settings } from '../../../src/config.ts'
import { MemoryTerminal } from '../../support/cli/memory-terminal.ts'

async function call(words: string, environment: Record<string, string> = {}) {
  const terminal = new MemoryTerminal()
  const code = await runCommandLine(words === '' ? [] : words.split(' '), { terminal, environment })
  return { code, out: terminal.out, words: terminal.words }
}

const folder = mkdtempSync(join(tmpdir(), 'millrace-cli-'))
function file(name: string, text: string): string {
  const path = join(folder, name)
  writeFileSync(path, text)
  return path
}

/** Every command with its full name, as the help lists them. */
const groups = ['keys', 'workspaces', 'workflows']
const single = ['serve', 'init', 'run', 'config', 'doctor', 'health', 'version']

describe('help', () => {
  test.each(['--help', '-h', 'help'])('%s lists every command', async (words) => {
    const { code, out } = await call(words)
    expect(code).toBe(0)
    for (const name of [...single, ...groups]) expect(out).toMatch(new RegExp(`^  ${name} `, 'm'))
  })

  test.each(['keys', 'users', 'workspaces', 'env', 'workflows'])('of %s names each of its commands', async (group) => {
    const line = (await call('help')).out.split('\n').find((each) => each.startsWith(`  ${group} `))
    const names = [...(await call(`${group} --help`)).out.matchAll(new RegExp(`^  ${group} (\\S+)`, 'gm'))]
    expect(names.length).toBeGreaterThan(0)
    for (const [, name] of names) expect(line).toMatch(new RegExp(`\\b${name}\\b`))
  })

  test.each(single)('%s --help shows the usage and valid examples', async (name) => {
    const { code, out } = await call(`${name} --help`)
    expect(code).toBe(0)
    expect(out).toContain(`Usage: millrace ${name}`)
    const examples = out.split('Examples:\n')[1]!.trim().split('\n')
    for (const example of examples) expect(example.trim()).toStartWith(`millrace ${name}`)
    expect(await call(`help ${name}`)).toEqual({ code, out, words: '' })
  })

  test.each(groups)('%s --help lists its commands, and each command has its own help', async (group) => {
    const { code, out } = await call(`${group} --help`)
    expect(code).toBe(0)
    const names = [...out.matchAll(new RegExp(`^  ${group} (\\S+)`, 'gm'))].map((match) => match[1]!)
    expect(names.length).toBeGreaterThan(0)
    for (const name of names) {
      const inner = await call(`${group} ${name} --help`)
      expect(inner.code).toBe(0)
      expect(inner.out).toContain(`Usage: millrace ${group} ${name}`)
      expect(inner.out).toContain(`  millrace ${group} ${name}`)
    }
  })
})

describe('a wrong command line exits with 2 and suggests a correction', () => {
  test.each([
    ['sevre', 'Unknown command "sevre". Did you mean "serve"?'],
    ['constructor', 'Unknown command "constructor".'],
    ['keys lst', 'Unknown command "keys lst". Did you mean "list"?'],
    ['keys', 'millrace keys needs one of: create, list, revoke.'],
    ['config --jsn', 'Unknown flag --jsn. Did you mean "json"?'],
    ['--prot 80', 'Unknown flag --prot. Did you mean "port"?'],
    ['run', 'FILE|ID is missing'],
    ['version extra', 'Too many arguments: "extra" is not expected.'],
    ['workflows activate hello', 'VERSION is missing'],
    ['workflows export --key k', 'Name a workflow to print, or a folder for all workflows: --out DIR.'],
    ['config --config /nowhere/at.all', 'The settings file /nowhere/at.all cannot be read'],
  ])('%s', async (words, message) => {
    const result = await call(words)
    expect(result.code).toBe(2)
    expect(result.out).toBe('')
    expect(result.words).toContain(message)
  })
})

describe('settings', () => {
  test('config --json prints every setting with its value, default and description, and masks secrets', async () => {
    const path = file(
      'good.env',
      'MILLRACE_PORT=4000\nMILLRACE_SECRET_KEY="0123456789abcdef0123456789abcdef"\nOTHER=1\n',
    )
    const { code, out } = await call(`config --json --config ${path} --host 0.0.0.0`, {
      MILLRACE_API_KEY: 'mrk_secret',
    })
    expect(code).toBe(0)
    const rows = JSON.parse(out) as { name: string; value: unknown; default: unknown; description: string }[]
    expect(rows.map(({ name }) => name)).toEqual(settings.map(({ name }) => name))
    for (const row of rows) expect(Object.keys(row)).toEqual(['name', 'value', 'default', 'description'])
    const value = (name: string) => rows.find((row) => row.name === name)?.value
    expect(value('MILLRACE_PORT')).toBe(4000)
    expect(value('MILLRACE_HOST')).toBe('0.0.0.0')
    expect(value('MILLRACE_SECRET_KEY')).toBe('***')
    expect(value('MILLRACE_API_KEY')).toBe('***')
    expect(value('MILLRACE_S3_BUCKET')).toBeNull()
    expect(value('MILLRACE_OUTBOUND_ALLOW')).toEqual([])
    expect(out).not.toContain('0123456789abcdef')
    expect(out).not.toContain('mrk_secret')
  })

  test('config prints values with their source, and masks secrets', async () => {
    const { out } = await call('config --body-bytes-max 1MB', { MILLRACE_API_KEY: 'mrk_secret' })
    expect(out).toContain('MILLRACE_BODY_BYTES_MAX=1MB   (flag; default 10MB)')
    expect(out).toContain('MILLRACE_API_KEY=***   (environment; default )')
    expect(out).not.toContain('mrk_secret')
  })

  test('all invalid values are reported at once, by every command', async () => {
    const { code, out, words } = await call('doctor --sync maybe', { MILLRACE_PORT: 'tcp://10.0.0.1:80' })
    expect(code).toBe(2)
    expect(out).toBe('')
    expect(words).toContain(
      'MILLRACE_PORT is "tcp://10.0.0.1:80" in the environment; allowed: a whole number from 0 to 65535.',
    )
    expect(words).toContain('MILLRACE_SYNC is "maybe" on the command line; allowed: full, normal.')
  })

  test('a misspelt name is an error in the file and a warning in the environment', async () => {
    const path = file('misspelt.env', 'MILLRACE_PROT=1\n')
    const inFile = await call(`config --config ${path}`)
    expect(inFile.code).toBe(2)
    expect(inFile.words).toContain('Unknown setting MILLRACE_PROT. Did you mean "MILLRACE_PORT"?')
    const around = await call('config', { MILLRACE_PROT: '1' })
    expect(around.code).toBe(0)
    expect(around.words).toContain('Unknown setting MILLRACE_PROT. Did you mean "MILLRACE_PORT"?')
  })

  test('an error in the file is reported with its line', async () => {
    const { code, words } = await call(`config --config ${file('broken.env', 'MILLRACE_PORT=1\n???\n')}`)
    expect(code).toBe(2)
    expect(words).toContain('broken.env, line 2: expected NAME=value')
  })
})

test('version prints the version, the commit and the version of Bun', async () => {
  expect((await call('version')).out).toMatch(/^millrace .+ \(Bun \d+\.\d+\.\d+, commit .+\)\n$/)
  expect(JSON.parse((await call('--version --json')).out)).toEqual({
    version: expect.any(String),
    commit: expect.any(String),
    bun: Bun.version,
  })
})
