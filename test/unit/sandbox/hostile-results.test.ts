import { describe, expect, test } from 'bun:test'
import { Workbench } from '../../support/sandbox/workbench.ts'

const bench = new Workbench()

/** Ends a run after some time, as the pool does. */
function endAfter(ms: number): void {
  const startedAt = performance.now()
  bench.ends = () => (performance.now() - startedAt < ms ? undefined : 'TIMEOUT')
}

describe('a result that tries to hurt the host', () => {
  test.each([
    ['is endless by a getter', 'const make = () => ({ get next() { return make() } }); return make()'],
    ['is endless by toJSON', 'const o = { toJSON() { return { o, p: o } } }; return o'],
    ['is endless by a proxy', 'return new Proxy({}, { ownKeys: () => { for (;;); } })'],
    [
      'has endless keys',
      `return new Proxy({}, {
        ownKeys: () => Array.from({ length: 1e7 }, (_, index) => "k" + index),
        getOwnPropertyDescriptor: () => ({ enumerable: true, configurable: true, value: 1 }) })`,
    ],
    ['has the length of a proxy', 'return new Proxy([], { get: (_, name) => name === "length" ? 2 ** 53 - 1 : 1 })'],
    ['is an array without elements', 'return new Array(4294967295)'],
    ['is a giant text', 'return "x".repeat(2 ** 29)'],
    ['is a giant text of escapes', 'return "\\u0001".repeat(2e7)'],
    ['repeats one value', 'const a = ["x".repeat(1000)]; return Array.from({ length: 100_000 }, () => a)'],
    ['doubles at each level', 'let a = [1, 1]; for (let i = 0; i < 60; i++) a = [a, a]; return a'],
    ['is deeper than any stack', 'let a = []; for (let i = 0; i < 1e6; i++) a = [a]; return a'],
    ['is a cycle', 'const a = {}; a.a = a; return a'],
    ['throws when it is read', 'return { get a() { throw { get message() { for (;;); } } } }'],
    ['is an error with a giant message', 'throw new Error("x".repeat(3e7))'],
    ['is an error with an endless message', 'throw { get message() { for (;;); }, toString() { for (;;); } }'],
  ])('ends, and leaves the machine in order: one that %s', (_, source) => {
    endAfter(500)
    const startedAt = performance.now()
    const outcome = bench.run(source)
    expect(performance.now() - startedAt).toBeLessThan(4_000)
    if (!outcome.ok) expect(outcome.message.length).toBeLessThan(20_000)
    else expect(JSON.stringify(outcome.result).length).toBeLessThan(64 * 1_048_576)
    endAfter(500)
    expect(bench.result('return [1, { a: 2 }]')).toEqual([1, { a: 2 }])
  })

  test.each([
    ['return JSON.parse(\'{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}\')'],
    ['Object.prototype.polluted = 1; Array.prototype.polluted = 1; return { polluted: 1 }'],
    ['return { ["__proto__"]: { polluted: 1 } }'],
    ['Object.setPrototypeOf(Object.prototype, null); return Object.assign(Object.create({ polluted: 1 }), { a: 1 })'],
    ['({}).__proto__.__defineGetter__("polluted", () => 1); return []'],
    ['({}).constructor.constructor("return this")().polluted = 1; return 1'],
    ['Function.prototype.call = Function.prototype.apply = () => { throw 1 }; return { polluted: 1 }'],
    ['globalThis.JSON = new Proxy(JSON, { get: () => () => "[]" }); return { polluted: 1 }'],
  ])('changes no prototype, here or in the next run: %s', (source) => {
    endAfter(500)
    const outcome = bench.run(source)
    expect(outcome.ok).toBe(true)
    for (const value of [{}, [], '', 0, () => 1]) expect(Reflect.get(Object(value), 'polluted')).toBeUndefined()
    expect(bench.result('return [({}).polluted ?? null, [].polluted ?? null, typeof polluted]')).toEqual([
      null,
      null,
      'undefined',
    ])
  })
})
