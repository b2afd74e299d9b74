import { afterAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../support/make.ts'
import { spansOf, World } from '../engine/world.ts'

const world = new World({ environment: { TOKEN: 'se"cret' } })
afterAll(() => world.stop())

const running = (code: string, more: Record<string, unknown> = {}) =>
  document({ blocks: [block('start', 'api_trigger'), block('f', 'function', { code, ...more })], edges: ['start > f'] })

describe('a function', () => {
  test('reads references as values, and its result is the returned value', async () => {
    const output = await world.output(
      running('const { a } = <api.input>\nconsole.log("a is", a)\nreturn { twice: a * 2 }'),
      { a: 4 },
    )
    expect(output).toEqual({ result: { twice: 8 }, stdout: 'a is 4', error: null })
  })

  test('never runs a value as code', async () => {
    const hostile = { text: '"); globalThis.leak = 1; ("', more: '`${1+1}`' }
    const output = await world.output(running('return ["<api.input.text>", `<api.input.more>`, typeof leak]'), hostile)
    expect(output).toMatchObject({ result: [hostile.text, hostile.more, 'undefined'] })
  })

  test('reads environment variables, and names a missing one', async () => {
    expect(await world.output(running('return {{TOKEN}} + "/{{TOKEN}}"'))).toMatchObject({ result: 'se"cret/se"cret' })
    const { record } = await world.run(running('return {{ABSENT}}'))
    expect(record.failure?.message).toContain('{{ABSENT}}')
  })

  test('fails with the error and the line of its code', async () => {
    const { record } = await world.run(running('const a = 1\nthrow new RangeError("too far")'))
    expect(record.failure?.message).toContain('RangeError: too far')
    expect(record.failure?.message).toContain('line 2')
  })

  test('is stopped at its time limit', async () => {
    const { record } = await world.run(running('for (;;) {}', { timeoutMs: 50 }))
    expect(record.failure?.message).toContain('50 ms')
    expect(spansOf(record.root).get('f')?.[0]?.error?.code).toBe('TIMEOUT')
  })

  test('shows the values of its references in its span', async () => {
    const { record } = await world.run(running('return <api.input.a>'), { a: 1 })
    expect(spansOf(record.root).get('f')?.[0]?.input).toEqual({ references: { '<api.input.a>': 1 } })
  })
})
