import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { responseBytesMax } from '../../../src/domain/limits.ts'
import { stdoutCut, stdoutLengthMax } from '../../../src/sandbox/run.ts'
import { Workbench } from '../../support/sandbox/workbench.ts'

const bench = new Workbench()

test('values arrive under their names and the returned value comes back', () => {
  expect(bench.result('return a.x + b', { a: { x: 1 }, b: 2 })).toBe(3)
})

test('code may wait for promises', () => {
  const source = `
    const later = async (value) => { await null; return value }
    const values = await Promise.all([later(1), later(2)])
    for await (const value of values.map(later)) values.push(value)
    return values`
  expect(bench.result(source)).toEqual([1, 2, 1, 2])
})

test('values without a JSON form become null', () => {
  expect(bench.result('')).toBeNull()
  expect(bench.result('return () => 1')).toBeNull()
  expect(bench.result('return Symbol("a")')).toBeNull()
  expect(bench.result('return [undefined, NaN, { a: undefined, b: new Date(0) }]')).toEqual([
    null,
    null,
    { b: '1970-01-01T00:00:00.000Z' },
  ])
})

test('a value that JSON.stringify refuses fails with the reason', () => {
  expect(bench.failure('return 10n').message).toContain('the returned value is not JSON data')
  expect(bench.failure('const o = {}; o.o = o; return o').message).toContain('circular')
})

test('JSON data is returned unchanged', () => {
  fc.assert(
    fc.property(fc.jsonValue({ noUnicodeString: false, maxDepth: 6 }), (value) => {
      // JSON writes -0 as 0.
      expect(bench.result('return a', { a: value })).toEqual(JSON.parse(JSON.stringify(value)))
    }),
    { numRuns: 100 },
  )
})

test('every string is returned unchanged, also with lone surrogates and zeros', () => {
  fc.assert(
    fc.property(
      fc.string({ unit: fc.integer({ min: 0, max: 0xffff }).map((unit) => String.fromCharCode(unit)) }),
      (text) => {
        expect(bench.result('return [a, a.length, a + a]', { a: text })).toEqual([text, text.length, text + text])
      },
    ),
    { numRuns: 100 },
  )
})

test('members named __proto__, constructor and prototype are data', () => {
  const value = JSON.parse('{"__proto__":{"polluted":1},"constructor":{"prototype":2},"a":[{"__proto__":3}]}')
  const source =
    'return { back: a, own: Object.keys(a), polluted: ({}).polluted ?? null, inherited: a.polluted ?? null }'
  const result = bench.result(source, { a: value }) as Record<string, unknown>
  expect(JSON.stringify(result['back'])).toBe(JSON.stringify(value))
  expect(result['own']).toEqual(['__proto__', 'constructor', 'a'])
  expect(result['polluted']).toBeNull()
  expect(result['inherited']).toBeNull()
  expect(({} as Record<string, unknown>)['polluted']).toBeUndefined()
})

test('five megabytes pass in and out repeatedly', () => {
  const value = { text: 'ä€😀x'.repeat(300_000), list: Array.from({ length: 50_000 }, (_, index) => ({ index })) }
  for (let time = 0; time < 2; time++) {
    expect(bench.result('a.list.reverse().reverse(); return a', { a: value })).toEqual(value)
  }
})

test('a result over 10 MB of JSON text is refused, one of 10 MB is not', () => {
  const quotes = 2
  expect(bench.result('return "x".repeat(n).length', { n: responseBytesMax })).toBe(responseBytesMax)
  expect((bench.result('return "x".repeat(n)', { n: responseBytesMax - quotes }) as string).length).toBe(
    responseBytesMax - 2,
  )
  expect(bench.failure('return "x".repeat(n)', { n: responseBytesMax - quotes + 1 }).code).toBe('RESULT_TOO_LARGE')
  // The limit is in bytes, not in characters.
  expect(bench.failure('return "é".repeat(n)', { n: responseBytesMax / 2 }).code).toBe('RESULT_TOO_LARGE')
})

test('a result that is nested too deep to be walked safely is refused', () => {
  const nest = 'let o = 1; for (let i = 0; i < n; i++) o = { o }; return o'
  expect(bench.run(nest, { n: 900 }).ok).toBe(true)
  expect(bench.failure(nest, { n: 1_100 }).message).toContain('nested deeper than 1000 levels')
  expect(bench.failure(nest, { n: 20_000 }).code).toBe('CODE_ERROR')
})

test('output is in order, from all console functions, with readable values', () => {
  const source = `
    console.log('one', 1, true, null, undefined)
    console.error({ a: [1, { b: 2 }] }, [])
    console.warn(new TypeError('no'), 5n, Symbol('s'), function named() {}, () => 1)
    const loop = {}; loop.loop = loop
    console.info(loop, new Map([[1, 2]]), new Date(0))
    console.debug()
    console.log('ä😀', '-0:', -0)`
  const { stdout } = bench.run(source)
  expect(stdout.split('\n')).toEqual([
    'one 1 true null undefined',
    '{"a":[1,{"b":2}]} []',
    'TypeError: no 5n Symbol(s) [function named] [function anonymous]',
    '[object Object] {} "1970-01-01T00:00:00.000Z"',
    '',
    'ä😀 -0: 0',
  ])
})

test('output is available when the code fails', () => {
  expect(bench.run('console.log("before"); null.x').stdout).toBe('before')
})

test('output is shortened to 256 KB with a note', () => {
  const { stdout } = bench.run('for (let i = 0; i < 1e5; i++) console.log("0123456789"); return 1')
  expect(stdout.length).toBe(stdoutLengthMax + stdoutCut.length)
  expect(stdout.endsWith(stdoutCut)).toBe(true)
  const { stdout: oneLine, ok } = bench.run('console.log("x".repeat(2e7))')
  expect(ok).toBe(true)
  expect(oneLine.length).toBe(stdoutLengthMax + stdoutCut.length)
})

test('the clock is the real one, and local time is UTC', () => {
  const before = Date.now()
  const [now, made, hours, text] = bench.result(
    'const d = new Date("2025-07-01T12:00:00Z"); return [Date.now(), +new Date(), d.getHours(), d.toString()]',
  ) as [number, number, number, string]
  expect(now).toBeGreaterThanOrEqual(before)
  expect(made).toBeLessThanOrEqual(Date.now())
  expect(hours).toBe(12)
  expect(text).toContain('GMT+0000')
})

test('the code can only be the body of a function', () => {
  expect(bench.result('return 1 // a comment at the end')).toBe(1)
  expect(bench.failure('}), globalThis.x = (function () {').code).toBe('CODE_ERROR')
  expect(bench.failure('await import("fs")').code).toBe('CODE_ERROR')
  expect(bench.failure('import fs from "fs"').message).toContain('SyntaxError')
})

test('errors have a message and the line of the code', () => {
  const failures: [source: string, message: string][] = [
    ['null.x', "TypeError: cannot read property 'x' of null (line 1)"],
    ['\n\nreturn a.b.c', "TypeError: cannot read property 'c' of undefined (line 3)"],
    ['const f = () => {\n  throw new RangeError("too far")\n}\n\nf()', 'RangeError: too far (line 2)'],
    ['await null\nawait (async () => {\n  nothing()\n})()', 'ReferenceError: nothing is not defined (line 3)'],
    ['const own = new Error("mine")\nown.name = "Own"\nthrow own', 'Own: mine (line 1)'],
    ['throw "just text"', 'just text'],
    ['throw { code: 7 }', 'The code threw {"code":7}'],
    ['throw undefined', 'The code threw undefined'],
    ['await Promise.reject(new Error("later"))', 'Error: later (line 1)'],
    ['throw { toJSON() { throw 1 }, toString() { throw 2 } }', 'The code threw a value that cannot be read'],
  ]
  for (const [source, message] of failures) {
    expect(bench.failure(source, { a: {} })).toEqual({ code: 'CODE_ERROR', message })
  }
})

test('syntax errors have the line of the code', () => {
  expect(bench.failure('const a = 1\nreturn ]').message).toMatch(/^SyntaxError: .* \(line 2\)$/)
  expect(bench.failure('return (').message).toMatch(/^SyntaxError: .* \(line 1\)$/)
  expect(bench.failure('let a; let a').message).toMatch(/^SyntaxError: .* \(line 1\)$/)
})

test('code that waits for a promise that never settles fails at once with the reason', () => {
  const { code, message } = bench.failure('await new Promise(() => {})')
  expect(code).toBe('CODE_ERROR')
  expect(message).toContain('waits for a promise that nothing will settle')
})

test('endless recursion is an error that the code can catch', () => {
  expect(bench.failure('const f = () => f() + 1; return f()').message).toContain('Maximum call stack size exceeded')
  expect(bench.failure('const f = () => [1].map(f); return f()').message).toContain('Maximum call stack size exceeded')
  expect(bench.result('const f = () => f() + 1; try { f() } catch { return "caught" }')).toBe('caught')
})

const bombs: Record<string, string> = {
  arrays: 'const l = []; for (;;) l.push(new Array(1_000).fill(1))',
  strings: 'const l = []; for (let i = 0; ; i++) l.push(String(i).repeat(1_000))',
  'one string': 'let s = "x"; for (;;) s += s',
  'typed arrays': 'const l = []; for (;;) l.push(new Uint8Array(1e6))',
  closures: 'let f = () => 1; for (;;) { const g = f; f = () => g }',
  'an object with many members': 'const o = {}; for (let i = 0; ; i++) o["k" + i] = i',
  'a map': 'const m = new Map(); for (let i = 0; ; i++) m.set(i, [i])',
  promises: 'const l = []; for (;;) l.push((async () => { await null })())',
  'a regular expression':
    'return "ab".repeat(2e6).match(/./g).map((c) => c + c).length + "x".repeat(3e7).replace(/x/g, "yyyy").length',
  'JSON text': 'return JSON.stringify(JSON.parse("[" + "[1,2,3],".repeat(2e6) + "1]"))',
  bigints: 'const l = []; for (;;) l.push(1n << 500_000n)',
  symbols: 'const l = []; for (let i = 0; ; i++) l.push(Symbol.for("s" + i))',
  'caught again and again':
    'const l = []; for (;;) try { for (;;) l.push(new Array(1_000).fill(1)) } catch (e) { if (l.push(1) % 1e4 === 0) throw e }',
}

for (const [name, source] of Object.entries(bombs)) {
  test(`memory is limited: ${name}`, () => {
    expect(bench.failure(source)).toEqual({
      code: 'MEMORY_EXCEEDED',
      message: 'The code needs more than 64 MB of memory, the most it may use.',
    })
    bench.machine.rest()
    expect(bench.result('return 1')).toBe(1)
  })
}

test('values above the memory limit are refused in the same way', () => {
  expect(bench.failure('return 1', { a: 'x'.repeat(70 * 1_048_576) }).code).toBe('MEMORY_EXCEEDED')
})

test('code that catches the out-of-memory error continues', () => {
  const source = 'try { const l = []; for (;;) l.push(new Uint8Array(1e6)) } catch (e) { return e.message }'
  expect(bench.result(source)).toBe('out of memory')
})

test('a program that needs much memory runs repeatedly, also between others', () => {
  for (let time = 0; time < 5; time++) {
    for (const size of [10, 1e5, 1e6, 5e6]) {
      expect(bench.result('return new Uint8Array(size).fill(1).length + (globalThis.extra ?? 0)', { size })).toBe(size)
      expect(bench.result('const text = "x".repeat(size); return text.split("").length', { size: size / 10 })).toBe(
        size / 10,
      )
    }
    bench.machine.rest()
  }
})

test('a run ends at its deadline, wherever it is', () => {
  const endless = [
    'for (;;);',
    'for (;;) await null',
    'const f = async () => { await null; return f() }; return f()',
    'try { for (;;); } catch {} finally { for (;;); }',
    'return /^(a+)+$/.test("a".repeat(50) + "b")',
    'return [3, 1, 2].sort(() => { for (;;); })',
    'return { toJSON() { for (;;); } }',
    'throw { toJSON() { for (;;); } }',
    'console.log({ toJSON() { for (;;); } })',
    'return new Proxy({}, { ownKeys() { for (;;); } })',
  ]
  for (const source of endless) {
    let asked = 0
    bench.ends = () => (asked++ < 20 ? undefined : 'TIMEOUT')
    const message = 'The code ran longer than 1000 ms, the most it may take.'
    expect(bench.failure(source)).toEqual({ code: 'TIMEOUT', message })
    bench.ends = () => 'CANCELLED'
    expect(bench.failure(source).code).toBe('CANCELLED')
  }
  bench.ends = () => undefined
  expect(bench.result('return 1')).toBe(1)
})

test('output until the deadline is kept', () => {
  let asked = 0
  bench.ends = () => (asked++ < 20 ? undefined : 'TIMEOUT')
  expect(bench.run('console.log("started"); for (;;);').stdout).toBe('started')
  bench.ends = () => undefined
})

test('the run does not wait for work that continues after the code has returned', () => {
  expect(bench.result('(async () => { for (;;) await null })(); return 1')).toBe(1)
})

test('programs that were dropped from the cache give the same results', () => {
  const small = new Workbench({ warmBytesMax: 1_500_000 })
  for (let time = 0; time < 3; time++) {
    for (let n = 0; n < 20; n++) expect(small.result(`return a + ${n}`, { a: time })).toBe(time + n)
  }
})

test('code of any length compiles', () => {
  const long = Array.from({ length: 20_000 }, (_, n) => `const v${n} = ${n}`).join('\n')
  expect(bench.result(`${long}\nreturn v19999`)).toBe(19_999)
  expect(bench.failure(`${long}\nnull.x`).message).toContain('(line 20001)')
  expect(bench.result(`return "${'x'.repeat(3e6)}".length`)).toBe(3e6)
  expect(bench.failure(`return "${'x'.repeat(70e6)}".length`).code).toBe('MEMORY_EXCEEDED')
})
