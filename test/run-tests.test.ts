import { describe, expect, test } from 'bun:test'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'

const script = resolve(import.meta.dir, '..', 'scripts', 'run-tests.ts')

/** At the top of every file of a world: counts how often a place in it was reached, over all processes. */
const head = `
  import { appendFileSync, readFileSync } from 'node:fs'
  import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
  const times = (name: string) => {
    appendFileSync(name, 'x')
    return readFileSync(name, 'utf8').length
  }
`

/** Runs the tests of a folder of its own, in a process of its own: their failures are none of this run. */
async function runWorld(files: Record<string, string>) {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-run-tests-'))
  try {
    for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), head + text)
    const program = `
      import { runTests } from ${JSON.stringify(script)}
      console.log(JSON.stringify(await runTests(${JSON.stringify(folder)}, [])))
    `
    const child = Bun.spawn([process.execPath, '-e', program], { cwd: folder, stdout: 'pipe', stderr: 'ignore' })
    const lines = (await new Response(child.stdout).text()).trimEnd().split('\n')
    const timesOf = (name: string) => readFileSync(join(folder, name), 'utf8').length
    // Counted now: the folder goes.
    const counted = Object.fromEntries(
      [...new Bun.Glob('*').scanSync({ cwd: folder })].filter((name) => !(name in files)).map((n) => [n, timesOf(n)]),
    )
    return {
      counts: JSON.parse(lines.at(-1) ?? '') as unknown,
      output: lines.join('\n'),
      said: lines.filter((line) => line.startsWith('failed')),
      left: lines.filter((line) => line.startsWith('left ')).map((line) => Number(line.slice(5))),
      counted,
    }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

describe('a run of all tests', () => {
  test('says nothing when all pass, and runs none again', async () => {
    const run = await runWorld({ 'a.test.ts': "test('one', () => void times('one'))\ntest.skip('two', () => {})" })
    expect(run).toMatchObject({ counts: { passed: 1, failed: 0 }, said: [], counted: { one: 1 } })
  })

  test('takes a test for passed that failed beside the others and passes alone, and names it', async () => {
    const run = await runWorld({
      'a.test.ts': `
        describe('outer <&>', () => {
          describe('inner', () => test('noisy "one"', () => expect(times('noisy')).toBe(2)))
        })
      `,
      'b.test.ts': "test('calm', () => void times('calm'))",
    })
    expect(run).toMatchObject({
      counts: { passed: 2, failed: 0 },
      said: ['failed once, passed alone: a.test.ts > outer <&> > inner > noisy "one"'],
      counted: { noisy: 2, calm: 1 },
    })
  })

  test('takes a test for failed that fails alone, too, and no other for it', async () => {
    const run = await runWorld({
      'a.test.ts': `
        test('noisy', () => expect(times('noisy')).toBe(2))
        test('broken', () => expect(times('broken')).toBe(0))
      `,
    })
    expect(run).toMatchObject({
      counts: { passed: 1, failed: 1 },
      said: ['failed once, passed alone: a.test.ts > noisy', 'failed: a.test.ts > broken'],
      counted: { noisy: 2, broken: 2 },
    })
  })

  test('takes a test for failed that alone does not run', async () => {
    const run = await runWorld({
      'a.test.ts': `
        if (times('file') === 1) test('gone', () => expect(1).toBe(2))
        test('broken', () => expect(1).toBe(2))
      `,
    })
    expect(run.counts).toEqual({ passed: 0, failed: 2 })
  })

  test('runs none again when many failed', async () => {
    const run = await runWorld({
      'a.test.ts': "for (let n = 0; n < 16; n++) test('noisy ' + n, () => expect(times('noisy')).toBeGreaterThan(16))",
    })
    expect(run.counts).toEqual({ passed: 0, failed: 16 })
    expect(run.counted).toEqual({ noisy: 16 })
  })

  test('takes a hook for passed that failed once', async () => {
    const run = await runWorld({
      'a.test.ts': `
        describe('group', () => {
          afterAll(() => expect(times('hook')).toBe(2))
          test('calm', () => {})
        })
      `,
    })
    expect(run.counts).toEqual({ passed: 2, failed: 0 })
    expect(run.said).toEqual(['failed once, passed alone: a.test.ts > group > (unnamed)'])
  })

  test('is run once more when the runner died', async () => {
    const dies = (runs: number) => `test('dies', () => times('run') <= ${runs} && process.kill(process.pid, 'SIGKILL'))`
    const once = await runWorld({ 'a.test.ts': dies(1), 'b.test.ts': "test('calm', () => {})" })
    expect(once).toMatchObject({ counts: { passed: 2, failed: 0 }, said: [], counted: { run: 2 } })
    expect(once.output).toContain('run once more as a whole: the runner ended with SIGKILL\n')
    const twice = await runWorld({ 'a.test.ts': dies(9), 'b.test.ts': "test('calm', () => {})" })
    expect(twice.counts).toEqual({ passed: 0, failed: 1 })
    expect(twice.counted).toEqual({ run: 2 })
  })

  test('has not passed with an error that belongs to no test, whatever its failures do', async () => {
    const breaks = (runs: number) => ({
      'a.test.ts': `if (times('file') <= ${runs}) throw new Error('broken file')\ntest('calm', () => {})`,
      'b.test.ts': "test('noisy', () => expect(times('noisy')).toBeGreaterThan(2))",
    })
    const once = await runWorld(breaks(1))
    expect(once).toMatchObject({
      counts: { passed: 2, failed: 0 },
      said: ['failed once, passed alone: b.test.ts > noisy'],
      counted: { file: 2, noisy: 3 },
    })
    const always = await runWorld(breaks(9))
    expect(always.counts).toEqual({ passed: 1, failed: 1 })
    expect(always.output).toMatch(/^failed: the runner ended with 1\n[\s\S]*error: broken file$/m)
  })

  test('ends although a process goes on that a test left', async () => {
    const run = await runWorld({
      'a.test.ts': `
        test('leaves one', () => {
          const left = Bun.spawn(['sleep', '600'], { stdio: ['ignore', 'ignore', 'inherit'] })
          console.log('left', left.pid)
        })
      `,
    })
    // Throws if it is gone.
    for (const pid of run.left) process.kill(pid)
    expect(run).toMatchObject({ counts: { passed: 1, failed: 0 }, left: [expect.any(Number)] })
  })
})
