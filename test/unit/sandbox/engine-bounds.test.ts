import { expect, test } from 'bun:test'
import { boundEngine } from '../../../src/sandbox/engine-bounds.ts'

const section = (id: number, ...body: number[]) => [id, body.length, ...body]
const text = (value: string) => [value.length, ...new TextEncoder().encode(value)]
const header = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0]
const types = section(1, 2, ...[0x60, 0, 1, 0x7f], ...[0x60, 1, 0x7f, 1, 0x7f])
const imports = section(2, 1, ...text('env'), ...text('host_interrupt'), 0, 0)
const memory = section(5, 1, 0, 1)
const globals = section(6, 1, 0x7f, 1, 0x41, 0, 0x0b)
const functions = (...indexes: number[]) => section(3, indexes.length, ...indexes)
const exported = (...names: string[]) =>
  section(7, names.length, ...names.flatMap((name, index) => [...text(name), 0, index + 1]))
const code = (...bodies: number[][]) =>
  section(10, bodies.length, ...bodies.flatMap((body) => [body.length + 2, 0, ...body, 0x0b]))

/** `(loop (br 0))`, then an unreachable constant. */
const spin = [0x03, 0x40, 0x0c, 0, 0x0b, 0x41, 7]
const grow = [0x20, 0, 0x40, 0]
const size = [0x3f, 0]
/** Fills a number of bytes of memory with 9, and returns the 9. */
const fill = [0x41, 0, 0x41, 9, 0x20, 0, 0xfc, 0x0b, 0, 0x41, 0, 0x2d, 0, 0]

const file = Uint8Array.from([
  ...header,
  ...types,
  ...imports,
  ...functions(0, 1, 0, 1),
  ...memory,
  ...globals,
  ...exported('spin', 'grow', 'size', 'fill'),
  ...code(spin, grow, size, fill),
])

type Calls = {
  spin(): number
  grow(pages: number): number
  size(): number
  fill(bytes: number): number
  pages: WebAssembly.Global<'i32'>
}

/** The small engine above with bounds. The engine calls `interrupted` to ask its host whether to stop. */
function instance(interrupted: () => number, pagesMax = 4): Calls {
  const module = new WebAssembly.Module(boundEngine(file, pagesMax))
  const { exports } = new WebAssembly.Instance(module, { env: { host_interrupt: interrupted } })
  return exports as unknown as Calls
}

test('an endless loop asks its host repeatedly, and ends when the host says so', () => {
  let asked = 0
  const { spin } = instance(() => (++asked === 10 ? 1 : 0))
  expect(spin).toThrow('Unreachable')
  expect(asked).toBe(10)
})

test('moving much memory counts as a long loop', () => {
  let asked = 0
  const { fill } = instance(() => {
    asked++
    return 0
  }, 100)
  expect(fill(64)).toBe(9)
  expect(asked).toBe(0)
  for (let time = 0; time < 20; time++) fill(4 * 1_048_576)
  expect(asked).toBe(20)
})

test('memory grows up to its maximum, and the host can shrink it', () => {
  const { grow, size, pages } = instance(() => 0)
  expect([size(), grow(2), size(), pages.value]).toEqual([1, 1, 3, 3])
  expect([grow(2), size()]).toEqual([-1, 3])
  expect([grow(1), size()]).toEqual([3, 4])
  expect(grow(-1)).toBe(-1)
  pages.value = 1
  expect([grow(3), size()]).toEqual([1, 4])
})

test('an unexpected engine file is refused with the reason', () => {
  const bound = (...parts: number[][]) => boundEngine(Uint8Array.from([...header, ...parts.flat()]), 4)
  expect(() => bound(types, imports, functions(0), section(5, 1, 1, 1, 2))).toThrow('must declare exactly one memory')
  expect(() => bound(types, section(2, 0))).toThrow('does not import host_interrupt')
  expect(() => bound(types, imports, functions(0), memory, code([0x41, 7]))).toThrow('unexpected order')
  const vector = [0xfd, 0x0c]
  expect(() => bound(types, imports, functions(0), memory, globals, exported('a'), code(vector))).toThrow(
    'unknown instruction',
  )
  expect(() => bound(types.slice(0, -3), [10])).toThrow('ends too early')
})
