import { afterEach, expect, test } from 'bun:test'
import { RunMemory } from '../../../src/engine/run/run-memory.ts'
import { block, document } from '../../support/make.ts'
import { World } from './world.ts'

const MB = 1_048_576
const run = (executionId: string, workspaceId = 'a') => ({ executionId, workspaceId })
const memoryOf = (bytesMax = 100 * MB) => new RunMemory({ bytesMax, shareFactor: 4 })

let world: World | undefined
afterEach(() => world?.stop())

test('a run with little is not counted', () => {
  const memory = memoryOf()
  memory.hold(run('1'), MB)
  expect(memory.bytes).toBe(0)
  memory.hold(run('1'), MB + 1)
  expect(memory.bytes).toBe(MB + 1)
})

test('a run counts with the most that it held, until it is released', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 5 * MB)
  memory.hold(run('1'), 3 * MB)
  expect(memory.heldBy(run('1'))).toBe(5 * MB)
  memory.release(run('1'))
  memory.release(run('1'))
  expect(memory.bytes).toBe(0)
})

test('a lone workspace gets 80 %, and another one still has room', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 79 * MB)
  expect(memory.hasRoom('a')).toBe(true)
  memory.hold(run('2'), 2 * MB)
  expect(memory.hasRoom('a')).toBe(false)
  expect(memory.hasRoom('b')).toBe(true)
  memory.hold(run('3', 'b'), 10 * MB)
  expect(memory.hasRoom('b')).toBe(true)
})

test('the oldest run of a workspace may always go on, and then the next one', () => {
  const memory = memoryOf()
  memory.hold(run('1'), 60 * MB)
  memory.hold(run('2'), 60 * MB)
  expect([memory.mayGrow(run('1')), memory.mayGrow(run('2'))]).toEqual([true, false])
  memory.hold(run('1'), 90 * MB)
  memory.release(run('1'))
  expect(memory.mayGrow(run('2'))).toBe(true)
})

test('the callback is called when memory becomes free, and only then', () => {
  const memory = memoryOf()
  let calls = 0
  memory.onFree(() => calls++)
  memory.release(run('1'))
  expect(calls).toBe(0)
  memory.hold(run('1'), 2 * MB)
  memory.release(run('1'))
  expect(calls).toBe(1)
})

const large = document({
  blocks: [
    block('start', 'api_trigger'),
    block('f', 'function', { code: "return 'x'.repeat(3e6)" }),
    block('g', 'function', { code: 'return 1' }),
  ],
  edges: ['start > f', 'f > g'],
})

test('a synchronous run beyond the share of its workspace fails before its next block, and the error names the setting', async () => {
  world = new World({ limits: { runsBytesMax: 4 * MB } })
  world.runner.memory.hold({ executionId: 'other', workspaceId: 'ws' }, 3 * MB)
  const { record } = await world.run(large)
  expect(record.failure?.code).toBe('EXECUTION_FAILED')
  expect(record.failure?.message).toContain('MILLRACE_RUNS_BYTES_MAX')
  expect(record.root.children.map(({ name }) => name)).toEqual(['start', 'f'])
  expect(world.runner.memory.bytes).toBe(3 * MB)
})

test('a synchronous run that is alone may hold more than the limit of all runs', async () => {
  world = new World({ limits: { runsBytesMax: MB } })
  expect(await world.output(large)).toMatchObject({ result: 1 })
  expect(world.runner.memory.bytes).toBe(0)
})
