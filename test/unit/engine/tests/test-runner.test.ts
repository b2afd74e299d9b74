import { expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { noEnvironment } from '../../../../src/domain/account/environment.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { finish } from '../../../../src/domain/slices.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { TestRunner } from '../../../../src/engine/tests/test-runner.ts'
import { block, document } from '../../../support/make.ts'

const limits = { ...defaultLimits, loopIterationsMax: 20_000, blocksMax: 100_000 }
const runner = new TestRunner({
  limits,
  priceOf: () => undefined,
  inSlices: async (slices) => finish(slices),
  runProgram: () => Promise.reject(new Error('This test runs no user code')),
  checkJson: () => Promise.reject(new Error('This test checks no JSON')),
  deploymentOf: async () => undefined,
  startOf: (plan) => ({ trigger: plan.triggers.get('api')!, input: { input: {}, fields: {} } }),
})

test('a long loop leaves time for other work, and a wait in it takes no time', async () => {
  const looping = document({
    variables: { n: { value: 0 } },
    blocks: [
      block('start', 'api_trigger'),
      block('all', 'loop'),
      block('count', 'variables', { assign: [{ name: 'n', value: '<loop.index>' }] }, { parentId: 'all' }),
      block('after', 'wait', { for: '20 days' }),
    ],
    edges: ['start > all', 'all:loop-start-source > count', 'all:loop-end-source > after'],
    loops: { all: { loopType: 'for', iterations: 20_000 } },
  })
  const { plan, findings } = compilePlan(looping, registry, limits, () => undefined)
  expect(findings.filter(({ level }) => level === 'error')).toEqual([])
  let turns = 0
  const counting = setInterval(() => {
    turns += 1
  }, 1)
  const tested = { plan: plan!, workspaceId: 'ws', environment: noEnvironment, pins: undefined }
  const { differences } = await runner.run(
    tested,
    { name: 'Counts', mocks: [], expect: {} },
    new AbortController().signal,
  )
  clearInterval(counting)
  expect(differences).toEqual([])
  expect(turns).toBeGreaterThan(5)
}, 60_000)

test('an e-mail is answered by a mock, and never sent without one', async () => {
  const params = {
    credential: 'mail',
    from: 'Shop <shop@example.com>',
    to: 'a@example.com, b@example.com',
    subject: 'Hi',
  }
  const mailing = document({
    blocks: [block('start', 'api_trigger'), block('mail', 'email', { ...params, text: 'Hello', retries: 0 })],
    edges: ['start > mail'],
  })
  const { plan } = compilePlan(mailing, registry, limits, () => undefined)
  const tested = { plan: plan!, workspaceId: 'ws', environment: noEnvironment, pins: undefined }
  const run = (mocks: object[], expected: object) =>
    runner.run(tested, { name: 'Sends', mocks, expect: expected } as never, new AbortController().signal)
  const mock = (response: object) => ({ request: { method: 'EMAIL', url: 'mail' }, response })
  const output = { accepted: ['a@example.com'], rejected: ['b@example.com'], error: null }
  const body = { from: 'Shop <shop@example.com>', to: ['a@example.com', 'b@example.com'], subject: 'Hi', text: 'Hello' }
  const answered = await run([mock({ status: 250, data: { rejected: ['b@example.com'] } })], {
    output,
    calls: [{ method: 'EMAIL', url: 'mail', body }],
  })
  expect(answered.differences).toEqual([])
  const refused = await run([mock({ status: 550, data: 'No such user' })], { success: false })
  expect(refused.differences).toEqual([])
  expect(refused.observed!.record.failure!.message).toContain('No such user')
  const { differences } = await run([], {})
  expect(differences.map(({ message }) => message).join()).toContain(
    'No mock answers the request of "mail": EMAIL mail',
  )
})
