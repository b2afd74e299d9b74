import { expect, test } from 'bun:test'
import { Workbench } from '../../support/sandbox/workbench.ts'

const bench = new Workbench()

/** Repeated here on purpose, so that a change in one place cannot add a name. */
const allowed = `
  AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DOMException DataView
  Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function Infinity
  Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy RangeError
  ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError Uint16Array Uint32Array
  Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa console decodeURI decodeURIComponent encodeURI
  encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt queueMicrotask undefined unescape`
  .trim()
  .split(/\s+/)

/** Changes that code could leave behind, and how the next run would detect them. */
const traces: Record<string, { leave: string; find: string; clean: unknown }> = {
  'a global': { leave: 'globalThis.trace = 1', find: 'typeof trace', clean: 'undefined' },
  'an undeclared variable': { leave: 'trace = 1', find: 'typeof trace', clean: 'undefined' },
  'a member of Object.prototype': { leave: 'Object.prototype.trace = 1', find: '({}).trace ?? null', clean: null },
  'a replaced method': { leave: 'Array.prototype.map = () => 7', find: '[1].map((x) => x + 1)', clean: [2] },
  'a replaced global': {
    leave: 'JSON = { parse: () => 7, stringify: () => "7" }',
    find: 'JSON.stringify([1])',
    clean: '[1]',
  },
  'a replaced JSON.stringify': { leave: 'JSON.stringify = () => "7"', find: 'JSON.stringify([1])', clean: '[1]' },
  'a replaced Promise.prototype.then': { leave: 'Promise.prototype.then = () => 7', find: 'await 1', clean: 1 },
  'a replaced console': { leave: 'console.log = () => { throw 1 }', find: '(console.log("a"), 1)', clean: 1 },
  'a deleted global': { leave: 'delete globalThis.Map', find: 'typeof Map', clean: 'function' },
  'a frozen prototype': {
    leave: 'Object.freeze(Array.prototype)',
    find: 'Object.isFrozen(Array.prototype)',
    clean: false,
  },
  'a registered symbol': {
    leave: 'globalThis[Symbol.for("trace")] = 1',
    find: 'globalThis[Symbol.for("trace")] ?? null',
    clean: null,
  },
  "a regular expression's lastIndex": {
    leave: 'this.own = () => /a/g; RegExp.prototype.lastIndex = 3',
    find: '/a/.exec("ba").index',
    clean: 1,
  },
  'the stack trace limit': { leave: 'Error.stackTraceLimit = 0', find: 'Error.stackTraceLimit', clean: 10 },
  'a stack trace hook': {
    leave: 'Error.prepareStackTrace = () => 7',
    find: 'typeof Error.prepareStackTrace',
    clean: 'undefined',
  },
  'a member of a function of the language': {
    leave: 'parseInt.trace = 1',
    find: 'parseInt.trace ?? null',
    clean: null,
  },
  'a waiting job': {
    leave: 'let p = Promise.resolve(); for (let i = 0; i < 50; i++) p = p.then(() => {}); p.then(() => { for (;;); })',
    find: '1',
    clean: 1,
  },
  'a variable of the function': { leave: 'var trace = 1; arguments[0] = 5', find: 'typeof trace', clean: 'undefined' },
}

for (const [name, { leave, find, clean }] of Object.entries(traces)) {
  test(`a run leaves nothing for the next one: ${name}`, () => {
    // One program does both, so that the engine and the compiled code are the same.
    const source = `if (leaves) { ${leave} ; return 'left' } return ${find}`
    expect(bench.result(source, { leaves: false })).toEqual(clean)
    expect(bench.run(source, { leaves: true }).ok).toBe(true)
    expect(bench.result(source, { leaves: false })).toEqual(clean)
    // Neither another program nor a newly compiled one detects it.
    expect(bench.run(source, { leaves: true }).ok).toBe(true)
    expect(bench.result(`return ${find}`)).toEqual(clean)
    expect(bench.run(source, { leaves: true }).ok).toBe(true)
    expect(bench.result(`return ${find} // ${crypto.randomUUID()}`)).toEqual(clean)
  })
}

test('a run that failed, timed out or ran out of memory leaves nothing', () => {
  const ends = [
    'throw new Error("failed")',
    'for (;;);',
    'const l = []; for (;;) l.push(new Array(1_000).fill(1))',
    'const f = () => f() + 1; f()',
    'await new Promise(() => {})',
  ]
  for (const end of ends) {
    const source = `if (leaves) { globalThis.trace = 1; Object.prototype.trace = 1; ${end} } return [typeof trace, ({}).trace ?? null]`
    let asked = 0
    bench.ends = () => (asked++ < 2_000 ? undefined : 'TIMEOUT')
    expect(bench.run(source, { leaves: true }).ok).toBe(false)
    bench.ends = () => undefined
    expect(bench.result(source, { leaves: false })).toEqual(['undefined', null])
    expect(bench.result('return [typeof trace, ({}).trace ?? null]')).toEqual(['undefined', null])
  }
})

test('every run gets different random numbers, spread over the whole range', () => {
  const runs = Array.from({ length: 200 }, () => bench.result('return [Math.random(), Math.random()]') as number[])
  const drawn = runs.flat()
  expect(new Set(drawn).size).toBe(drawn.length)
  expect(drawn.every((number) => number >= 0 && number < 1)).toBe(true)
  const many = bench.result('return Array.from({ length: 10_000 }, Math.random)') as number[]
  expect(new Set(many).size).toBe(many.length)
  for (let tenth = 0; tenth < 10; tenth++) {
    const share = many.filter((number) => Math.floor(number * 10) === tenth).length / many.length
    expect(Math.abs(share - 0.1)).toBeLessThan(0.02)
  }
})

test('the global object has only the language and a console', () => {
  const source = `
    const names = new Set()
    for (let object = globalThis; object && object !== Object.prototype; object = Object.getPrototypeOf(object)) {
      for (const key of Reflect.ownKeys(object)) names.add(String(key))
    }
    return [...names].sort()`
  const names = bench.result(source) as string[]
  expect(names).toEqual([...allowed, 'Symbol(Symbol.toStringTag)'].sort())
  const hostNames = 'process require module exports Bun fetch Worker WebAssembly navigator importScripts std os print'
  const timers = 'setTimeout setInterval setImmediate performance Atomics SharedArrayBuffer'
  for (const name of `${hostNames} ${timers}`.split(' '))
    expect(bench.result(`return typeof ${name}`)).toBe('undefined')
})

test('code cannot reach the host', () => {
  expect(bench.failure('await import("node:fs")').code).toBe('CODE_ERROR')
  expect(bench.failure('await import("data:text/javascript,export default 1")').code).toBe('CODE_ERROR')
  expect(bench.result('return typeof Function("return this")().process')).toBe('undefined')
  expect(bench.result('return typeof (async () => {}).constructor("return globalThis.Bun")()')).toBe('object')
  expect(bench.result('return (0, eval)("typeof require + typeof process")')).toBe('undefinedundefined')
  expect(bench.result('return Object.keys(console)')).toEqual(['log', 'info', 'warn', 'error', 'debug'])
})

test('code that replaces functions the host relies on affects only its own run', () => {
  const source = `
    Error.prepareStackTrace = (error, sites) => sites.map((site) => site.getFunction?.())
    const functions = new Error().stack
    Object.prototype.toJSON = () => 'spoilt'
    Promise.prototype.then = () => 1
    Array.prototype[Symbol.iterator] = () => ({ next: () => ({ done: true }) })
    Object.defineProperty(Promise.prototype, 'constructor', { get() { throw 1 } })
    return functions`
  bench.run(source)
  expect(bench.result('return [1, { a: 2 }]')).toEqual([1, { a: 2 }])
})
