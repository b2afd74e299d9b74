import { describe, expect, test } from 'bun:test'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import type { RunOptions } from '../../../scripts/run-tests.ts'

const script = resolve(import.meta.dir, '../../..', 'scripts', 'run-tests.ts')

/** At the top of every test file of a project: counts the calls of `times` with a name, over all processes. */
const head = `
  import { appendFileSync, readFileSync } from 'node:fs'
  import { afterAll, describe, expect, test } from 'bun:test'
  const times = (name: string) => {
    appendFileSync(name, 'x')
    return readFileSync(name, 'utf8').length
  }
`

/** A separate project: a folder with test files, by their path below `test/`. */
function project(files: Record<string, string>): { folder: string } & Disposable {
  const folder = mkdtempSync(join(tmpdir(), 'millrace-run-tests-'))
  for (const [name, text] of Object.entries(files)) {
    const path = join(folder, 'test', name)
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, head + text)
  }
  return { folder, [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }) }
}

function start(folder: string, options: Partial<RunOptions>) {
  const all: RunOptions = { tiers: ['unit', 'service', 'ui', 'faults'], ...options }
  const program = `
    import { isPassing, runTests, summaryLines } from ${JSON.stringify(script)}
    const stop = new AbortController()
    process.once('SIGTERM', () => stop.abort())
    const result = await runTests(${JSON.stringify(folder)}, { ...${JSON.stringify(all)}, stop: stop.signal })
    console.log(isPassing(result) ? 'PASSING' : 'FAILING')
    for (const line of summaryLines(result)) console.log(line)
  `
  return Bun.spawn([process.execPath, '-e', program], { cwd: folder, stdout: 'pipe', stderr: 'pipe' })
}

/** Runs the tests of a project in another process, so that their failures do not count here. */
async function run(files: Record<string, string>, options: Partial<RunOptions> = {}) {
  using made = project(files)
  const child = start(made.folder, options)
  const [output] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  const lines = output.trimEnd().split('\n')
  const at = lines.findIndex((line) => line === 'PASSING' || line === 'FAILING')
  const names = [...new Bun.Glob('*').scanSync({ cwd: made.folder })]
  return {
    passing: lines[at] === 'PASSING',
    /** The last lines that a run prints. */
    summary: lines.slice(at + 2),
    output,
    times: Object.fromEntries(names.map((name) => [name, readFileSync(join(made.folder, name), 'utf8').length])),
  }
}

const flaky = (name: string) => `test('${name}', () => expect(times('${name}')).toBe(2))\n`
const broken = "test('broken', () => expect(times('broken')).toBe(0))\n"

describe('the test runner', () => {
  const files = {
    'unit/a.test.ts': "test('a', () => void times('a'))",
    'service/b.test.ts': "test('b', () => void times('b'))",
    'ui/c.test.ts': "test('c', () => void times('c'))",
    'faults/deep/d.test.ts': "test('d', () => void times('d'))",
    'support/e.test.ts': "test('e', () => void times('e'))",
  }

  test('runs the tests of all tiers once if they pass', async () => {
    expect(await run(files)).toMatchObject({
      passing: true,
      summary: ['4 passed, 0 failed'],
      times: { a: 1, b: 1, c: 1, d: 1 },
    })
  })

  test('runs one tier if it is named', async () => {
    expect(await run(files, { tiers: ['service'] })).toMatchObject({ summary: ['1 passed, 0 failed'], times: { b: 1 } })
  })

  test('runs only the files that match a word', async () => {
    const times = { b: 1, d: 1 }
    expect(await run(files, { words: ['b.test', 'deep/'] })).toMatchObject({ summary: ['2 passed, 0 failed'], times })
  })

  test('fails if no file matches', async () => {
    const none = await run(files, { words: ['nowhere'] })
    expect(none).toMatchObject({
      passing: false,
      summary: ['failed: no test file for "nowhere"', '0 passed, 1 failed'],
    })
    expect(await run({})).toMatchObject({
      passing: false,
      summary: ['failed: there is no test file', '0 passed, 1 failed'],
    })
  })
})

describe('a test that fails', () => {
  test('and passes alone is flaky: it is named, and counts as passed', async () => {
    const result = await run({
      'unit/a.test.ts': `
        describe('outer <&>', () => {
          describe('inner', () => test('noisy "one"', () => expect(times('noisy')).toBe(2)))
        })
      `,
      'unit/b.test.ts': "test('calm', () => void times('calm'))",
    })
    expect(result).toMatchObject({
      passing: true,
      summary: ['flaky: test/unit/a.test.ts > outer <&> > inner > noisy "one"', '1 flaky', '2 passed, 0 failed'],
      times: { noisy: 2, calm: 1 },
    })
  })

  test('and fails alone has failed, whatever else is flaky', async () => {
    const result = await run({ 'unit/a.test.ts': flaky('noisy') + broken })
    expect(result).toMatchObject({
      passing: false,
      summary: [
        'failed: test/unit/a.test.ts > broken',
        'flaky: test/unit/a.test.ts > noisy',
        '1 flaky',
        '1 passed, 1 failed',
      ],
      times: { noisy: 2, broken: 2 },
    })
  })

  test('and does not run when it is retried has failed', async () => {
    const file = "if (times('file') === 1) test('gone', () => expect(1).toBe(2))\n"
    const result = await run({ 'unit/a.test.ts': file + broken })
    expect(result.summary.at(-1)).toBe('0 passed, 2 failed')
  })

  test('and is skipped when it is retried has failed', async () => {
    const skipping = "test.skipIf(times('file') > 1)('sometimes', () => expect(1).toBe(2))"
    const result = await run({ 'unit/a.test.ts': skipping })
    expect(result.summary).toEqual(['failed: test/unit/a.test.ts > sometimes', '0 passed, 1 failed'])
  })

  test('is not retried when more than 15 fail', async () => {
    const result = await run({
      'unit/a.test.ts': "for (let n = 0; n < 16; n++) test('n ' + n, () => expect(times('n')).toBeGreaterThan(16))",
    })
    expect(result.summary.at(-1)).toBe('0 passed, 16 failed')
    expect(result.times).toEqual({ n: 16 })
  })

  test('in a hook is flaky in the same way', async () => {
    const result = await run({
      'unit/a.test.ts': `
        describe('group', () => {
          afterAll(() => expect(times('hook')).toBe(2))
          test('calm', () => {})
        })
      `,
    })
    expect(result.passing).toBe(true)
    expect(result.summary).toEqual(['flaky: test/unit/a.test.ts > group > (unnamed)', '1 flaky', '2 passed, 0 failed'])
  })
})

test('a skipped test fails the run', async () => {
  for (const skipped of ["test.skip('s', () => {})", "test.if(false)('s', () => {})", "test.todo('s')"]) {
    const result = await run({ 'unit/a.test.ts': `${skipped}\ntest('calm', () => {})` })
    expect(result.passing).toBe(false)
    expect(result.summary).toEqual(['failed: test/unit/a.test.ts > s was skipped', '1 passed, 1 failed'])
  }
})

describe('flaky tests', () => {
  const noisy = (...names: string[]) => names.map((name) => flaky(name)).join('')

  test('of a number up to three, in all tiers together, let a run pass', async () => {
    const result = await run({ 'unit/a.test.ts': noisy('a', 'b'), 'faults/b.test.ts': noisy('c') })
    expect(result.passing).toBe(true)
    expect(result.summary.slice(-2)).toEqual(['3 flaky', '3 passed, 0 failed'])
  })

  test('that are more than three fail it', async () => {
    const result = await run({ 'unit/a.test.ts': noisy('a', 'b'), 'faults/b.test.ts': noisy('c', 'd') })
    expect(result.passing).toBe(false)
    const count = '4 flaky; at most 3 may be, so they count as failed'
    expect(result.summary.slice(-2)).toEqual([count, '0 passed, 4 failed'])
  })

  test('fail a strict run, even a single one', async () => {
    const result = await run({ 'unit/a.test.ts': noisy('a') }, { strict: true })
    expect(result.passing).toBe(false)
    const count = '1 flaky; at most 0 may be, so they count as failed'
    expect(result.summary).toEqual(['flaky: test/unit/a.test.ts > a', count, '0 passed, 1 failed'])
  })
})

describe('a broken run', () => {
  test('fails at once when a test process crashes, and names the file', async () => {
    const result = await run({
      'unit/a.test.ts': "test('dies', () => { times('run'); process.kill(process.pid, 'SIGKILL') })",
      'unit/b.test.ts': flaky('noisy'),
      'service/c.test.ts': "test('later', () => void times('later'))",
    })
    expect(result.passing).toBe(false)
    expect(result.summary).toContain(
      'failed: the run of the unit tests broke: the test process of test/unit/a.test.ts crashed',
    )
    expect(result.summary.at(-1)).toBe('0 passed, 3 failed')
    expect(result.times).toEqual({ run: 1, noisy: 1 })
  })

  test('fails at once with an error that belongs to no test, and shows it', async () => {
    const result = await run({
      'unit/a.test.ts': "times('file')\nthrow new Error('broken file')",
      'unit/b.test.ts': "test('calm', () => {})",
    })
    expect(result.passing).toBe(false)
    const text = result.summary.join('\n')
    expect(text).toStartWith('failed: the run of the unit tests broke: an error outside of every test\n')
    expect(text).toContain('error: broken file')
    expect(result.summary.at(-1)).toBe('1 passed, 1 failed')
    expect(result.times).toEqual({ file: 1 })
  })
})

describe('the processes that a test starts', () => {
  const leaves = `
    const left = Bun.spawn(['sleep', '600'], { stdio: ['ignore', 'ignore', 'inherit'] })
    console.log('left', left.pid)
  `
  const leftIn = (output: string) => Number(/^left (\d+)$/m.exec(output)?.[1])
  const isRunning = (pid: number) => {
    try {
      return process.kill(pid, 0)
    } catch {
      return false
    }
  }
  const untilGone = async (pid: number) => {
    while (isRunning(pid)) await Bun.sleep(10)
  }

  test('end with the run when the test leaves them', async () => {
    const result = await run({ 'unit/a.test.ts': `test('leaves one', () => {${leaves}})` })
    expect(result).toMatchObject({ passing: true, summary: ['1 passed, 0 failed'] })
    await untilGone(leftIn(result.output))
  })

  test('end with the run when it is stopped', async () => {
    using made = project({ 'unit/a.test.ts': `test('waits', async () => {${leaves}; await left.exited})` })
    const child = start(made.folder, {})
    const waits = new Response(child.stderr).text()
    let output = ''
    for await (const text of child.stdout.pipeThrough(new TextDecoderStream())) {
      output += text
      if (leftIn(output) > 0) child.kill('SIGTERM')
    }
    expect(output).toContain('FAILING')
    await Promise.all([waits, child.exited, untilGone(leftIn(output))])
  })
})
