import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { finish } from '../../../src/domain/slices.ts'
import { readPath } from '../../../src/domain/workflow/reference.ts'
import { compileJson, compileValue, getterOf, type Resolve } from '../../../src/engine/compile/template.ts'
import type { Frame, Getter } from '../../../src/engine/run/frame.ts'

const noFrame = { run: { filledChars: 0, blockBytesMax: 1_000_000 } } as unknown as Frame

/** Resolves `<x.…>` to members of `values`. */
function binding(values: unknown): Resolve {
  return (segment): Getter | undefined => {
    if (segment.kind !== 'reference' || segment.name !== 'x') return undefined
    return () => readPath(values, segment.path)
  }
}

const fill = (template: unknown, values: unknown) => {
  noFrame.run.filledChars = 0
  return getterOf(finish(compileValue(template, binding(values))))(noFrame)
}
const fillJson = (template: unknown, values: unknown) => {
  noFrame.run.filledChars = 0
  return getterOf(finish(compileJson(template, binding(values))).compiled)(noFrame)
}

describe('a template', () => {
  test('with exactly one reference and nothing else keeps the type of the value', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(fill('<x.v>', { v: value })).toEqual(value)
        expect(fill({ a: ['<x.v>'] }, { v: value })).toEqual({ a: [value] })
      }),
    )
  })

  test('with more than one reference becomes text', () => {
    expect(fill('Hi <x.name>, <x.n> <x.o>', { name: 'Jo', n: 5, o: { a: 1 } })).toBe('Hi Jo, 5 {"a":1}')
    expect(fill('[<x.absent>]', {})).toBe('[]')
    expect(fill('<x.absent>', {})).toBeNull()
    expect(fill('<y.z> <x.v>', { v: 1 })).toBe('<y.z> 1')
  })

  test('writes a large value as JSON once, however often the text contains it', () => {
    let written = 0
    const toJSON = () => {
      written += 1
      return { a: 1 }
    }
    const value = { toJSON }
    expect(fill('<x.v> and '.repeat(50), { v: value })).toBe('{"a":1} and '.repeat(50))
    expect(written).toBe(1)
  })

  test('does not write more JSON than a block may hold', () => {
    const value = { v: 'x'.repeat(90_000) }
    expect(fill(Array(10).fill('a <x> b'), value)).toHaveLength(10)
    expect(() => fill(Array(20).fill('an object: <x.o>'), { o: value })).toThrow('MILLRACE_BLOCK_BYTES_MAX')
  })

  test('without references is a constant, the same object each time', () => {
    const value = { a: [1, 'x', '<y.z>'] }
    expect(finish(compileValue(value, binding({})))).toEqual({ constant: true, value })
  })
})

describe('a JSON template', () => {
  test('stays valid JSON for any value in any place', () => {
    fc.assert(
      fc.property(fc.oneof(fc.string({ unit: 'binary' }), fc.jsonValue()), (value) => {
        const filled = fillJson('{ "v": <x.v>, "list": [<x.v>, 1], "text": "a <x.v> b" }', { v: value })
        const text = typeof value === 'string' ? value : value === null ? '' : JSON.stringify(value)
        expect(filled).toEqual({ v: value, list: [value, 1], text: `a ${text} b` })
      }),
      { numRuns: 500 },
    )
  })

  test('becomes text inside a JSON string, and keeps its type as a value', () => {
    expect(fillJson('{"v":"<x.n>"}', { n: 5 })).toEqual({ v: '5' })
    expect(fillJson('<x.n>', { n: 5 })).toBe(5)
    expect(fillJson({ v: '<x.n>' }, { n: 5 })).toEqual({ v: 5 })
  })

  test('allows references in keys, and reads JSON escapes', () => {
    expect(fillJson('{"<x.k>": 1, "\\"<x.k>\\"": 2}', { k: 'key' })).toEqual({ key: 1, '"key"': 2 })
  })

  test('with invalid JSON fails when it is filled in, and says why', () => {
    for (const text of ['Hello', '{"a": <x.v> <x.v>}', '{', '<y.z>', '{a: 1}']) {
      expect(finish(compileJson(text, binding({}))).problem).toContain('not JSON')
      expect(() => fillJson(text, { v: 1 })).toThrow('not JSON')
    }
  })

  test('nested deeper than the limit is refused, as in a request', () => {
    const nested = (levels: number) => `${'['.repeat(levels)}${']'.repeat(levels)}`
    expect(finish(compileJson(nested(200), binding({}))).problem).toBeUndefined()
    for (const levels of [201, 100_000]) {
      expect(finish(compileJson(nested(levels), binding({}))).problem).toContain('deeper than 200 levels')
    }
  })

  test('keeps members with any name', () => {
    const filled = fillJson('{"__proto__": <x.v>, "constructor": "<x.v>"}', { v: 1 }) as object
    expect(Object.getOwnPropertyDescriptor(filled, '__proto__')?.value).toBe(1)
    expect(Object.getPrototypeOf(filled)).toBe(Object.prototype)
  })
})
