import { expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { block, document } from '../../../support/make.ts'

const start = block('start', 'api_trigger', { inputFormat: [{ name: 'id', type: 'string' }] })

/** The warnings about a function with this code. */
function warnings(code: string, trigger = start): string[] {
  const blocks = [
    trigger,
    block('fetch', 'api', { url: 'http://example.com' }),
    block('set', 'variables', { assign: [{ name: 'total', value: 1 }] }),
    block('end', 'function', { code }),
  ]
  const edges = ['start > fetch', 'fetch > set', 'set > end']
  const { findings } = compilePlan(document({ blocks, edges, variables: { total: {} } }), registry, defaultLimits)
  expect(findings.filter(({ code }) => code !== 'UNKNOWN_OUTPUT')).toEqual([])
  return findings.map(({ path, message }) => `${path}: ${message}`)
}

test('a reference to an output that a block never has gets a warning with the outputs that it has', () => {
  expect(warnings('return <fetch.body.id>')).toEqual([
    'blocks.end.params.code: <fetch.body.id> is always null: "fetch" has no output "body". ' +
      'It has data, status, headers and error.',
  ])
  expect(warnings('return <set.sum>')).toEqual([
    'blocks.end.params.code: <set.sum> is always null: "set" has no output "sum". It has total.',
  ])
})

test('a reference to a field that the trigger does not declare gets a warning that says how to read it', () => {
  const told =
    'blocks.end.params.code: <start.who.name> is always null: the trigger "start" declares no field "who". ' +
    'Add it to the input format of the trigger, or read <start.input.who>.'
  expect(warnings('return <start.who.name>')).toEqual([told])
  expect(warnings('return <start.who.name>', block('start', 'manual_trigger'))).toEqual([told])
})

test('references to outputs that exist get no warning', () => {
  for (const source of ['start.id', 'start.input.who', 'api.id', 'fetch.data.x[0]', 'fetch.error', 'set.total']) {
    expect([source, warnings(`return <${source}>`)]).toEqual([source, []])
  }
})
