import { expect, test } from 'bun:test'
import { mkdirSync, readFileSync, realpathSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { temporaryFolder } from '../../support/executable.ts'
import { tracerPath } from '../../support/programs.ts'

const keys = ['w/one/run1/a.txt', 'w/one/run1/b.txt', 'w/one/run2/c.txt', 'w/two/run3/d.txt', 'v/three/run4/e.txt']

test('a stored file and every folder above it are on disk before it is acknowledged', async () => {
  using folder = temporaryFolder()
  const data = join(realpathSync(folder.path), 'data')
  const { lines, flushed } = await traceOf(data, keys)
  for (const key of keys) {
    const acknowledgedAt = lines.findIndex((line) => line.includes(`"${key}\\n"`))
    expect(acknowledgedAt).toBeGreaterThan(0)
    const atOnce = flushed(lines.slice(0, acknowledgedAt))
    for (let path = dirname(join(data, 'files', key)); path.length >= data.length; path = dirname(path)) {
      expect(atOnce).toContain(path)
    }
  }
})

test('a folder that a killed process left is flushed, too', async () => {
  using folder = temporaryFolder()
  const data = join(realpathSync(folder.path), 'data')
  mkdirSync(join(data, 'files', 'w', 'one', 'run1'), { recursive: true })
  const { lines, flushed } = await traceOf(data, ['w/one/run1/a.txt'])
  for (const path of ['', 'files', 'files/w', 'files/w/one', 'files/w/one/run1']) {
    expect(flushed(lines)).toContain(join(data, path))
  }
})

test('folders are flushed once, not with every file', async () => {
  using folder = temporaryFolder()
  const data = join(realpathSync(folder.path), 'data')
  const many = Array.from({ length: 20 }, (_, n) => `w/one/run${n}/a.txt`)
  const { lines, flushed } = await traceOf(data, many)
  const all = flushed(lines)
  for (const path of ['', 'files', 'files/w']) expect(all.filter((one) => one === join(data, path))).toHaveLength(1)
  expect(all.filter((one) => one === join(data, 'files/w/one'))).toHaveLength(many.length)
})

/** The system calls of a process that stores files, in the order in which they ended. */
async function traceOf(data: string, files: readonly string[]) {
  mkdirSync(data, { recursive: true })
  const trace = `${data}.trace`
  const script = join(import.meta.dir, '../../support/files/store-files.ts')
  const strace = [tracerPath(), '-f', '-qq', '-y', '-s', '300', '-e', 'trace=fsync,fdatasync,write', '-o', trace]
  const child = Bun.spawn([...strace, process.execPath, script, data, ...files], {
    stdout: 'ignore',
    stderr: 'inherit',
  })
  expect(await child.exited).toBe(0)
  const lines = readFileSync(trace, 'utf8').split('\n')
  const begun = new Map<string, string>()
  const ended = lines.map((line) => {
    const thread = line.slice(0, line.indexOf(' '))
    if (line.endsWith('<unfinished ...>')) begun.set(thread, line)
    return line.includes('resumed>') ? `${begun.get(thread)} ${line}` : line.endsWith('<unfinished ...>') ? '' : line
  })
  const flushed = (some: readonly string[]) =>
    some
      .flatMap((line) => (/ = 0$/.test(line) ? [...line.matchAll(/f(?:data)?sync\(\d+<([^>]+)>/g)] : []))
      .map(([, path]) => path)
  return { lines: ended, flushed }
}
