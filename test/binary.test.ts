import { beforeAll, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { executable, millrace, temporaryFolder } from './executable.ts'

const samples = resolve(import.meta.dir, '..', 'samples')

beforeAll(() => {
  executable()
}, 120_000)

describe('the executable by itself', () => {
  test('knows its version and the commit it was built from', async () => {
    const { code, out } = await millrace(['version', '--json'])
    expect(code).toBe(0)
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dir, '..', 'package.json'), 'utf8'))
    expect(JSON.parse(out)).toEqual({
      version,
      commit: expect.stringMatching(/^([0-9a-f]{12}\+?|unknown)$/),
      bun: Bun.version,
    })
  })

  test('keeps the exit codes: 0 done, 1 failed, 2 wrong usage', async () => {
    expect((await millrace(['--help'])).code).toBe(0)
    expect((await millrace(['run', 'missing.json'])).code).toBe(1)
    expect((await millrace(['sevre'])).code).toBe(2)
    expect((await millrace(['config', '--port', 'x'])).code).toBe(2)
  })

  test('obeys no .env and no bunfig.toml of the folder it is started in', async () => {
    using folder = temporaryFolder()
    const { path } = folder
    writeFileSync(join(path, '.env'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, '.env.production'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, '.env.local'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(join(path, 'preload.ts'), `require("fs").writeFileSync(${JSON.stringify(join(path, 'owned'))}, "")\n`)
    const { code, out } = await millrace(['config', '--json'], { cwd: path })
    expect(code).toBe(0)
    expect(JSON.parse(out).find((row: { name: string }) => row.name === 'MILLRACE_PORT').value).toBe(3000)
    expect(existsSync(join(path, 'owned'))).toBe(false)
  })

  test('runs a workflow file, its JavaScript in the sandbox, and prints the envelope', async () => {
    const { code, out, words } = await millrace(['run', join(samples, 'stock-check.json'), '--json'])
    expect({ code, words }).toEqual({ code: 0, words: '' })
    expect(JSON.parse(out)).toMatchObject({ success: true, output: { result: { articles: 3 } } })
  })

  test('survives a reader that has seen enough', async () => {
    const child = Bun.spawn(['sh', '-c', `"$1" config | head -1; exit 0`, 'sh', executable()], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('MILLRACE_HOST=127.0.0.1\n')
    expect(await new Response(child.stderr).text()).toBe('')
  })
})
