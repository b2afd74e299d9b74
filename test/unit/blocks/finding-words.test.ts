import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { block, document } from '../../support/make.ts'

const messages = (type: string, params: Record<string, unknown>) =>
  compilePlan(document({ blocks: [block('it', type, params)] }), registry, defaultLimits)
    .findings.filter(({ code }) => code !== 'UNKNOWN_PARAMETER')
    .map(({ message }) => message)

/** The names of parameters that people do not see, because the form shows a title. */
function hiddenNames(type: string): string[] {
  const names = Object.entries(registry.get(type)?.parameters.properties ?? {})
  const differs = ([name, { title = '' }]: (typeof names)[number]) => title.toLowerCase() !== name.toLowerCase()
  return names.filter(differs).map(([name]) => name)
}

describe('the problems of a block name the labels of its form', () => {
  const wrong: [type: string, params: Record<string, unknown>, message: string][] = [
    [
      'webhook_trigger',
      { authentication: { type: 'bearer' } },
      'Token is empty, but the authentication “Bearer token”',
    ],
    ['webhook_trigger', { authentication: { type: 'header', name: 'X-A' } }, 'Header value is empty, but'],
    ['webhook_trigger', { authentication: { type: 'signature', secret: 's' } }, 'Signature scheme is empty, but'],
    ['webhook_trigger', { idempotency: {} }, 'either Header or Field'],
    ['schedule', {}, 'either Cron or Interval (ms)'],
    ['schedule', { cron: '* * * * *', startAt: 'soon' }, 'Start must be a time'],
    ['schedule', { intervalMs: 1 }, 'Interval (ms) must be'],
    ['schedule', { cron: '* * * * *', missedMax: 0 }, 'Missed at most must be'],
  ]
  test.each(wrong)('%s with %j', (type, params, message) => {
    expect(messages(type, params).join('\n')).toContain(message)
  })

  const values = [[], '', -1, 'wrong', { type: 'wrong' }, true]
  test.each([...registry.keys()])('%s with any wrong value', (type) => {
    const names = Object.keys(registry.get(type)?.parameters.properties ?? {})
    const all = [{}, ...names.flatMap((name) => values.map((value) => ({ [name]: value })))]
    const said = all.flatMap((params) => messages(type, params))
    for (const name of hiddenNames(type).filter((each) => /[a-z][A-Z]/.test(each))) {
      expect(said.filter((message) => message.includes(name))).toEqual([])
    }
  })
})
