import { expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { checkOf } from '../../../src/engine/compile/registrations.ts'
import { block, type Draft, document } from '../../support/make.ts'

const unset = (draft: Draft, ...set: string[]) =>
  checkOf(compilePlan(document(draft), registry, defaultLimits), 0, new Set(set))
    .findings.filter(({ code }) => code === 'UNSET_VARIABLE')
    .map(({ path, level, message }) => `${level} ${path} ${/\{\{(\w+)\}\}/.exec(message)?.[1]}`)

test('an environment variable without a value is a warning at every place that reads it', () => {
  const tool = { type: 'api', name: 'look', params: { url: 'https://example.com/{{TOOL}}' } }
  const draft = {
    blocks: [
      block('hook', 'webhook_trigger', { path: 'a', authentication: { type: 'bearer', token: '{{HOOK}}' } }),
      block('call', 'api', {
        url: '{{HOST}}/{{HOST}}/{{SET}}',
        headers: [{ key: 'Authorization', value: 'Bearer {{TOKEN}}' }],
      }),
      block('code', 'function', { code: 'return {{CODE}}' }),
      block('if', 'condition', { conditions: [{ id: 'x', expression: '{{EXPRESSION}} === 1' }] }),
      block('ask', 'agent', { provider: 'openai', model: 'm', apiKey: '{{KEY}}', tools: [tool] }),
    ],
    edges: ['hook > call', 'call > code', 'code > if', 'if:condition-x > ask'],
  }
  expect(unset(draft, 'SET').toSorted()).toEqual([
    'warning blocks.ask.params.apiKey KEY',
    'warning blocks.ask.params.tools.0.params.url TOOL',
    'warning blocks.call.params.headers TOKEN',
    'warning blocks.call.params.url HOST',
    'warning blocks.code.params.code CODE',
    'warning blocks.hook.params.authentication.token HOOK',
    'warning blocks.if.params.conditions.0.expression EXPRESSION',
  ])
  expect(unset(draft, ...['SET', 'KEY', 'TOOL', 'TOKEN', 'HOST', 'CODE', 'HOOK', 'EXPRESSION'])).toEqual([])
})

test('a disabled block does not read its variables, and a document with errors still reports the others', () => {
  const draft = {
    blocks: [
      block('start', 'api_trigger'),
      block('off', 'api', { url: '{{OFF}}' }, { enabled: false }),
      block('bad', 'api', { url: '' }),
      block('on', 'api', { url: '{{ON}}' }),
    ],
    edges: ['start > off', 'off > bad', 'bad > on'],
  }
  expect(unset(draft)).toEqual(['warning blocks.on.params.url ON'])
})
