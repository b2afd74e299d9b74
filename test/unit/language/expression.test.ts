import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { finish } from '../../../src/domain/slices.ts'
import type { Segment } from '../../../src/domain/workflow/reference.ts'
import { compileExpression } from '../../../src/language/expression.ts'
import { NotNative } from '../../../src/language/work.ts'

const everything = () => true

/** Evaluates natively; `values` by reference as written. Throws when the expression is outside the subset. */
function evaluate(source: string, values: Record<string, unknown> = {}, workMax = 1_000_000): unknown {
  const compiled = finish(compileExpression(source, everything))
  if (!compiled.ok) throw new Error(`no expression: ${compiled.problem.message}`)
  if (!compiled.native) throw new Error('outside of the subset')
  return compiled.native(
    compiled.slots.map(({ segment, as }) => {
      const value = values[segment.source]
      return as === 'text' ? String(value) : value
    }),
    workMax,
  )
}

/** Evaluates the same expression in JavaScript itself, with the value in a variable. */
function byJavaScript(source: string, value: unknown): unknown {
  return new Function('v', `return (${source.replaceAll('<a.v>', 'v')}\n)`)(value)
}

describe('an expression', () => {
  test('of the subset has its JavaScript meaning', () => {
    const sources = [
      ...['<a.v> === 5', '<a.v> == "5"', '<a.v> + 1', '"" + <a.v>', '-<a.v>', '!<a.v>', 'typeof <a.v>', '<a.v> ?? 7'],
      ...['<a.v> > 3 && <a.v> < 9', '<a.v> || "none"', '<a.v> ? 1 : 2', '[1, 5, "5"].includes(<a.v>)', '`x${<a.v>}y`'],
      ...[
        'Math.max(<a.v>, 3)',
        'JSON.stringify(<a.v>)',
        '({ a: <a.v> }).a',
        '[<a.v>, 2].length',
        '<a.v>?.x',
        '<a.v>?.x.y.z',
      ],
      ...[
        '(<a.v>)',
        '<a.v> // a comment',
        '/* c */ <a.v>',
        '[<a.v>].join("-")',
        'Object.keys({ k: <a.v> })[0]',
        '~~<a.v>',
      ],
      ...[
        '"a-b-c".split("-")[1]',
        '"abc".at(-1)',
        '"  x ".trim().toUpperCase()',
        '"x".padStart(3, "ab")',
        '"a,b".replace(",", ";")',
      ],
    ]
    const values = [5, '5', null, 0, '', true, [1, 2], { x: { y: { z: 1 } } }, 'text', -1.5]
    for (const source of sources) {
      for (const value of values) {
        const [ours, theirs] = [() => evaluate(source, { '<a.v>': value }), () => byJavaScript(source, value)].map(
          settle,
        )
        expect({ source, value, outcome: ours }).toEqual({ source, value, outcome: theirs })
      }
    }
  })

  test('has its JavaScript meaning for any two values and any operator', () => {
    const operators = [
      '+',
      '-',
      '*',
      '/',
      '%',
      '==',
      '!=',
      '===',
      '!==',
      '<',
      '<=',
      '>',
      '>=',
      '&',
      '|',
      '^',
      '&&',
      '||',
      '??',
    ]
    fc.assert(
      fc.property(
        fc.constantFrom(...operators),
        fc.jsonValue({ maxDepth: 2 }),
        fc.jsonValue({ maxDepth: 2 }),
        (operator, a, b) => {
          const ours = settle(() => evaluate(`<a.x> ${operator} <a.y>`, { '<a.x>': a, '<a.y>': b }))
          const theirs = settle(() => new Function('a', 'b', `return a ${operator} b`)(a, b))
          expect(ours).toEqual(theirs)
        },
      ),
      { numRuns: 500 },
    )
  })

  test('never runs a value as code', () => {
    const hostile = '"; process.exit(1); "'
    expect(evaluate('<a.v> === "x"', { '<a.v>': hostile })).toBe(false)
    expect(evaluate('"Hi <a.v>!"', { '<a.v>': hostile })).toBe(`Hi ${hostile}!`)
    expect(evaluate('`${"<a.v>"}`', { '<a.v>': hostile })).toBe(hostile)
  })

  test('reads own members only, and nothing of a prototype', () => {
    expect(evaluate('<a.v>["constructor"]', { '<a.v>': {} })).toBeUndefined()
    expect(evaluate('<a.v>["__proto__"]', { '<a.v>': {} })).toBeUndefined()
    for (const source of [
      '<a.v>.constructor',
      '<a.v>.__proto__',
      '"".constructor',
      '[].map',
      'Math.constructor',
      'globalThis',
      'process',
      'this',
    ]) {
      const compiled = finish(compileExpression(source, everything))
      if (!compiled.ok) continue
      const value = settle(() =>
        compiled.native?.(
          compiled.slots.map(() => ({})),
          1_000,
        ),
      )
      expect(typeof value === 'function').toBe(false)
      if (source !== '[].map') expect(compiled.native).toBeNull()
    }
  })

  test('outside the subset compiles to a program for the sandbox', () => {
    for (const source of [
      '<a.v>.map((x) => x + 1)',
      '/a/.test(<a.v>)',
      'new Date()',
      '<a.v>.sort()',
      '(() => 1)()',
      'parseInt("5")',
      'a = 1',
    ]) {
      const compiled = finish(compileExpression(source, everything))
      expect(compiled.ok).toBe(true)
      if (compiled.ok) expect(compiled.program?.source).toStartWith('return (')
    }
  })

  test('that is invalid is refused with the reason', () => {
    for (const source of ['', '  ', '1 +', '<a.v> ) + (1', 'if (1) {}', 'return 1', '1; 2', '{', '"open']) {
      expect({ source, ok: finish(compileExpression(source, everything)).ok }).toEqual({ source, ok: false })
    }
  })

  test('cannot create texts that fill the memory', () => {
    for (const source of [
      '"x".repeat(1e9)',
      '"x".padEnd(1e9)',
      '"x".padStart(1e9, "y")',
      `"x".repeat(5e6) + "x".repeat(6e6)`,
    ]) {
      expect(() => evaluate(source, {}, Number.POSITIVE_INFINITY)).toThrow('Invalid string length')
    }
  })

  test('leaves expensive searches, and members that all objects inherit, to the sandbox', () => {
    const long = 'a'.repeat(100_000)
    for (const source of [
      '<a.v>.includes(<a.w>)',
      '<a.v>.split(<a.w>)',
      '<a.v>.replace("a", "$&$&")',
      '<a.o>.toString()',
    ]) {
      expect(() => evaluate(source, { '<a.v>': long, '<a.w>': `${long}b`, '<a.o>': {} })).toThrow(NotNative)
    }
    expect(evaluate('<a.v>.includes("b")', { '<a.v>': long })).toBe(false)
    expect(() => evaluate('[1, 2, 3].join("x".repeat(4e6))')).toThrow('Invalid string length')
  })

  test('leaves everything that would take long to the sandbox, however the work is written', () => {
    const items = Array.from({ length: 100_000 }, (_, index) => index)
    const objects = Array.from({ length: 20_000 }, (_, index) => ({ index, name: `name ${index}` }))
    const values = {
      '<a.i>': items,
      '<a.o>': objects,
      '<a.s>': 'aé'.repeat(2_000_000),
      '<a.t>': 'aé'.repeat(2_000_000),
    }
    const repeated = (part: string, between = ', ') => Array(40).fill(part).join(between)
    for (const source of [
      ...['Object.keys(<a.i>)', 'Object.entries(<a.i>)', 'Object.values(<a.s>)', 'JSON.stringify(<a.o>)'].map(
        (part) => `[${repeated(part)}].length > 0`,
      ),
      ...['<a.s>.toUpperCase()', '<a.s> < <a.t>', '<a.s> === <a.t>', '<a.s> == <a.i>', '+<a.s>', '`${<a.i>}`'].map(
        (part) => `[${repeated(part)}].length > 0`,
      ),
      ...['<a.i>.join("-")', '<a.i>.slice(1)', '<a.i>.toString()', '<a.i>.concat(<a.i>)', '<a.i>.includes("x")'].map(
        (part) => `[${repeated(part)}].length > 0`,
      ),
      ...['<a.s>.split("b")', '<a.s>.replaceAll("a", "b")', '<a.s>.trim()', '<a.s>.includes("b")', '({})[<a.s>]'].map(
        (part) => `[${repeated(part)}].length > 0`,
      ),
      `JSON.stringify([${repeated('<a.s>')}]).length`,
      `<a.i>.concat(${repeated('<a.i>')}).length`,
      `Math.max(${repeated('<a.s>')})`,
      `[${repeated('<a.s>')}] + ""`,
      `"".concat(${repeated('<a.s>')})`,
      '"x".repeat(9e6).length + "x".padStart(9e6).length',
    ]) {
      expect({ source, outcome: settle(() => evaluate(source, values)) }).toEqual({ source, outcome: NotNative })
    }
  })

  test('spends no work on values that it only passes on', () => {
    const long = 'é'.repeat(10_000_000)
    const items = Array.from({ length: 1_000_000 }, () => ({ a: 1 }))
    for (const [source, outcome] of [
      ['<a.s>.length > 5 && <a.s> !== "" && <a.s> != null', true],
      ['<a.i>.length === 1e6 && <a.i> != null && <a.i> === <a.i>', true],
      ['<a.i>[999999].a + <a.i>.at(-1).a', 2],
      ['<a.s>.startsWith("éé") && <a.s>.slice(1, 3) === "éé" && <a.s>[5] === "é"', true],
      ['(<a.x> ?? <a.i>) && !<a.s>', false],
    ] as const) {
      expect(evaluate(source, { '<a.s>': long, '<a.i>': items }, 100)).toBe(outcome)
    }
  })

  test('has the same result with any amount of work, or is left to the sandbox', () => {
    const value = fc.oneof(fc.jsonValue({ maxDepth: 2 }), fc.string({ minLength: 60, maxLength: 200 }))
    fc.assert(
      fc.property(expressionOf, value, value, fc.nat(300), (source, a, b, workMax) => {
        const values = { '<a.v>': a, '<a.w>': b }
        const full = settle(() => evaluate(source, values, Number.POSITIVE_INFINITY))
        const bounded = settle(() => evaluate(source, values, workMax))
        if (bounded !== NotNative) expect(bounded).toEqual(full)
      }),
      { numRuns: 2_000 },
    )
  })

  test('leaves deeply nested JSON and long expressions to the sandbox', () => {
    const nested = `${'['.repeat(50_000)}${']'.repeat(50_000)}`
    expect(() => evaluate('JSON.stringify(JSON.parse(<a.v>))', { '<a.v>': nested })).toThrow(NotNative)
    expect(evaluate('JSON.parse(<a.v>).length', { '<a.v>': '[[1], 2]' })).toBe(2)
    expect(finish(compileExpression(`[${'1,'.repeat(40_000)}1].length`, everything))).toMatchObject({
      ok: true,
      native: null,
    })
    expect(finish(compileExpression(`1${'+1'.repeat(200_000)}`, everything))).toMatchObject({ ok: true, native: null })
  })

  test('uses text that only looks like a reference as text', () => {
    const recognise = (segment: Exclude<Segment, { kind: 'text' }>) =>
      segment.kind === 'reference' && segment.name === 'a'
    const compiled = finish(compileExpression('"<b.c> <a.v>"', recognise))
    expect(compiled.ok && compiled.native?.(['1'], 1_000)).toBe('<b.c> 1')
  })
})

/** Expressions of the subset over `<a.v>` and `<a.w>`. */
const expressionOf: fc.Arbitrary<string> = fc.letrec<{ any: string }>((tie) => {
  const inner = tie('any')
  const method = fc.constantFrom(
    ...['includes', 'indexOf', 'slice', 'concat', 'join', 'split', 'replaceAll', 'at', 'toUpperCase', 'trim', 'repeat'],
  )
  return {
    any: fc.oneof(
      { maxDepth: 4 },
      fc.constantFrom('<a.v>', '<a.w>', '"<a.v>"', '`<a.w>!`', '2', '"ab"', 'null'),
      fc
        .tuple(inner, fc.constantFrom('+', '==', '===', '<', '-', '&&', '??'), inner)
        .map((parts) => `(${parts.join(' ')})`),
      fc.tuple(inner, method, inner).map(([self, name, argument]) => `(${self}).${name}(${argument})`),
      fc.tuple(fc.constantFrom('keys', 'values', 'entries'), inner).map(([name, of]) => `Object.${name}(${of})`),
      inner.map((of) => `JSON.stringify(${of})`),
      fc.tuple(inner, inner).map(([one, two]) => `[${one}, { k: ${two} }]`),
      fc.tuple(inner, inner).map(([of, key]) => `(${of})?.[${key}]`),
      fc.tuple(inner, inner, inner).map(([test, yes, no]) => `(${test} ? ${yes} : -${no})`),
    ),
  }
}).any

function settle(run: () => unknown): unknown {
  try {
    return run()
  } catch (error) {
    return (error as Error).constructor
  }
}
