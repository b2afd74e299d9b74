import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { finish } from '../../../src/domain/slices.ts'
import { compileCode } from '../../../src/language/code.ts'

/** Runs compiled code here, with one value for every reference. */
async function run(source: string, value: unknown): Promise<unknown> {
  const compiled = finish(compileCode(source, () => true))
  if (!compiled.ok) throw new SyntaxError(`${compiled.problem.message} at ${compiled.problem.line}`)
  const { program, slots } = compiled
  const AsyncFunction = (async () => {}).constructor as new (
    ...args: string[]
  ) => (...values: unknown[]) => Promise<unknown>
  const values = slots.map(({ as }) =>
    as === 'value' ? value : typeof value === 'string' ? value : JSON.stringify(value),
  )
  return await new AsyncFunction(...program.parameters, program.source)(...values)
}

describe('code', () => {
  test('reads a reference as a variable in the place of any value', async () => {
    expect(await run('const n = <a.b>\nreturn { n, twice: [<a.b>, <a.b>] }', { x: 1 })).toEqual({
      n: { x: 1 },
      twice: [{ x: 1 }, { x: 1 }],
    })
    expect(await run('return <a.b>.length + <a.b>["length"]', 'four')).toBe(8)
    expect(await run('return {{NAME}} + 1', 2)).toBe(3)
  })

  test('reads a reference inside a literal as part of its content', async () => {
    expect(await run(`return ['<a.b>', "x<a.b>y", \`\${1}<a.b>\`, 'it\\'s <a.b>\\n']`, 'v')).toEqual([
      'v',
      'xvy',
      '1v',
      "it's v\n",
    ])
    expect(await run(`return { '<a.b>': 1, k: '<a.b>' }`, 'key')).toEqual({ key: 1, k: 'key' })
    expect(await run(`switch (1) { case '<a.b>': return 0 }\nreturn true ? '<a.b>' : '<a.b>'`, 'v')).toBe('v')
  })

  test('does not change comments and regular expressions', async () => {
    expect(await run('// <a.b> here\nreturn /<a.b>/.test(String.fromCharCode(60) + "a.b>") /* <a.b> */', 'v')).toBe(
      true,
    )
  })

  test('never runs a value as code, in any place of a reference', async () => {
    const places = [
      'return <a.b>',
      "return '<a.b>'",
      'return "<a.b>"',
      'return `<a.b>`',
      "return '\\<a.b>'",
      'return `\\<a.b>`',
    ]
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...places), fc.string({ unit: 'binary' }), async (place, value) => {
        expect(await run(place, value)).toBe(value)
      }),
      { numRuns: 500 },
    )
    for (const value of ["'; throw 1; '", '`${process.exit(1)}`', '\\', '"', '\u2028', '*/ throw 1 /*']) {
      for (const place of places) expect(await run(place, value)).toBe(value)
    }
  })

  test('keeps its line numbers, and reports the line of a syntax error', () => {
    const compiled = finish(compileCode('const a = 1\nconst b = \nreturn <a.b>', () => true))
    expect(compiled).toMatchObject({ ok: false, problem: { line: 3 } })
    const kept = finish(compileCode('\n\nreturn <a.b>', () => true))
    expect(kept.ok && kept.program.source.split('\n').length).toBe(3)
  })

  test('refuses a reference where JavaScript needs a name, with advice', () => {
    for (const source of [
      ...[
        'return { <a.b>: 1 }',
        'return { <a.b> }',
        'const o = {}\nreturn o.<a.b>',
        'let <a.b> = 5',
        '<a.b> = 1',
        '<a.b>++',
      ],
      ...['function <a.b>() {}'],
    ]) {
      const compiled = finish(compileCode(source, () => true))
      expect({ source, ok: compiled.ok }).toEqual({ source, ok: false })
      if (!compiled.ok) expect(compiled.problem.message).toContain('<a.b>')
    }
    expect(finish(compileCode('return { [<a.b>]: o[<a.b>], x: <a.b>.y }', () => true)).ok).toBe(true)
  })

  test('cannot close the function around it', () => {
    for (const source of ['} evil() {', '})(); (() => {', 'return 1 }']) {
      expect(finish(compileCode(source, () => true)).ok).toBe(false)
    }
  })

  test('keeps names that look like generated variables', async () => {
    expect(await run('const $ref0 = 5\nconst $$ref0 = 6\nreturn $ref0 + $$ref0 + <a.b>', 1)).toBe(12)
  })

  test('has an id that depends only on its text', () => {
    const id = (source: string) => {
      const compiled = finish(compileCode(source, () => true))
      return compiled.ok ? compiled.program.id : ''
    }
    expect(id('return <a.b>')).toBe(id('return <a.b>'))
    expect(id('return <a.b>')).not.toBe(id('return <a.b> '))
  })
})
