import { bench, do_not_optimize, run } from 'mitata'
import type { Program } from '../src/domain/run/program.ts'
import { Engine } from '../src/sandbox/engine.ts'
import { compileEngine } from '../src/sandbox/engine-file.ts'
import { Machine } from '../src/sandbox/machine.ts'
import { Sandbox } from '../src/sandbox/sandbox.ts'

/**
 * How much does one run of user code cost, and which is the cheapest way to isolate runs from one another?
 * `bun bench/sandbox.ts`
 */
const memoryBytesMax = 64 * 1_048_576
const module = compileEngine(memoryBytesMax)
const program: Program = { id: 'bench', source: 'return a.x + 1', parameters: ['a'] }
const bounds = { timeoutMs: 5_000, ends: () => undefined }
const { signal } = new AbortController()
const request = { program, values: [{ x: 1 }], timeoutMs: 5_000, signal }

const machine = new Machine({
  module,
  memoryBytesMax,
  warmBytesMax: 32 * 1_048_576,
  now: Date.now,
  random: Math.random,
})
machine.run(program, '[{"x":1}]', bounds)
bench('machine: a run, with its memory restored', () => do_not_optimize(machine.run(program, '[{"x":1}]', bounds)))

let count = 0
bench('machine: the first run of a program', () => {
  count++
  do_not_optimize(machine.run({ ...program, id: `new ${count}` }, '[{"x":1}]', bounds))
})

const host = { call: () => undefined, interrupted: () => false, now: Date.now, random: Math.random }
const snapshot = new Engine(module, host, { memoryBytesMax }).snapshot()
bench('instead of restoring memory: a new engine from a snapshot', () => {
  do_not_optimize(new Engine(module, host, { snapshot }))
}).gc('inner')
bench('instead of restoring memory: a new engine and a new context', () => {
  do_not_optimize(new Engine(module, host, { memoryBytesMax }))
}).gc('inner')

const sandbox = new Sandbox({ workersMax: 2 })
const turn = () => new Promise((resolve) => setImmediate(resolve))
for (let time = 0; time < 500; time++) {
  await Promise.all([sandbox.run(request), turn()])
}
bench('sandbox: 1 at a time', async () => {
  await turn()
  await sandbox.run(request)
})
bench('sandbox: 32 at a time', () => Promise.all(Array.from({ length: 32 }, () => sandbox.run(request))))

const { benchmarks } = await run()
console.log('\nruns a second')
for (const { alias, runs } of benchmarks) {
  const nanoseconds = runs[0]?.stats?.avg
  if (nanoseconds === undefined) continue
  const runsEach = alias.includes('32 at a time') ? 32 : 1
  console.log(
    `${Math.round((runsEach * 1e9) / nanoseconds)
      .toLocaleString('en')
      .padStart(9)}  ${alias}`,
  )
}
await sandbox.stop()
