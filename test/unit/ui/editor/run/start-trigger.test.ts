import { expect, test } from 'bun:test'
import { needsInput } from '../../../../../src/ui/editor/run/start-trigger.ts'
import { block, document } from '../../../../support/make.ts'

const needs = (type: string, params: Record<string, unknown>, code: string) => {
  const starts = type.replace(/_trigger$/, '')
  const start = { ...block('b1', type, params), name: 'Start' }
  const blocks = [start, block('b2', 'function', { code })]
  return needsInput(document({ blocks }) as never, { id: 'b1', type, starts, name: 'Start' })
}

test('a run needs the request or message that blocks read', () => {
  expect(needs('webhook_trigger', {}, 'return <start.body.id>')).toBe(true)
  expect(needs('webhook_trigger', {}, 'return <start.method>')).toBe(false)
  expect(needs('chat_trigger', {}, 'return <chat.input>')).toBe(true)
  expect(needs('chat_trigger', {}, 'return 1')).toBe(false)
  expect(needs('schedule', {}, 'return <start.time>')).toBe(false)
})

test('a run needs the members of the input that blocks read although the trigger declares no fields', () => {
  for (const type of ['api_trigger', 'manual_trigger']) {
    expect([type, needs(type, {}, 'return <start.input.order.id>')]).toEqual([type, true])
    // It is always null, whatever the input.
    expect([type, needs(type, {}, 'return <start.order.id>')]).toEqual([type, false])
    expect([type, needs(type, {}, 'return <start.input>')]).toEqual([type, false])
    expect([type, needs(type, {}, 'return 1')]).toEqual([type, false])
  }
})

test('a run needs required fields that have no value', () => {
  const format = (field: object) => needs('api_trigger', { inputFormat: [{ name: 'n', ...field }] }, 'return <start.n>')
  expect(format({ type: 'number', required: true })).toBe(true)
  expect(format({ type: 'number', required: true, value: '' })).toBe(true)
  expect(format({ type: 'string', required: true, value: '' })).toBe(false)
  expect(format({ type: 'number', required: true, value: 0 })).toBe(false)
  expect(format({ type: 'number' })).toBe(false)
})
