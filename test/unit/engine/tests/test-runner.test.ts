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
