import { afterAll, beforeAll, expect, test } from 'bun:test'
import { block } from '../../../support/make.ts'
import { type Visit, visit } from '../../../support/ui/browser.ts'
import { node, openWorkflow, port, saved } from '../../../support/ui/editor-page.ts'
import { accessibilityFaults } from '../../accessibility.ts'

let visited: Visit
let id: string
const model = { provider: 'openai', model: 'gpt-4o', apiKey: '{{KEY}}' }
beforeAll(async () => {
  visited = await visit()
  const metrics = [{ name: 'clarity', description: 'Is it easy to read?', range: { min: 0, max: 10 } }]
  id = await openWorkflow(visited, {
    name: 'Checks',
    blocks: [
      block('start', 'api_trigger', {}, { name: 'Start' }),
      block(
        'guard',
        'guardrails',
        { input: '<start.text>', checks: ['pii'] },
        { name: 'Guard', position: { x: 320, y: 0 } },
      ),
      block(
        'judge',
        'evaluator',
        { ...model, content: '<start.text>', metrics },
        { name: 'Judge', position: { x: 0, y: 200 } },
      ),
      block('say', 'response', { data: {} }, { name: 'Say', position: { x: 320, y: 200 } }),
    ],
    edges: ['start > guard', 'guard > judge', 'judge > say'],
  })
}, 120_000)
afterAll(() => visited.close())

const inspector = (name: string) => visited.page.getByRole('complementary', { name: `Block ${name}` })
const paramsOf = async (block: string) => (await saved(visited, id)).blocks[block]!.params

test('guardrails show the fields of the chosen checks, by their labels', async () => {
  const { page } = visited
  await node(page, 'Guard').click()
  const form = inspector('Guard')
  const kinds = form.getByRole('group', { name: 'Kinds of personal data' })
  await kinds.getByLabel('Credit cards').check()
  for (const name of ['Pattern', 'JSON schema', 'Model', 'Source']) {
    expect([name, await form.getByText(name, { exact: true }).count()]).toEqual([name, name === 'Pattern' ? 1 : 0])
  }
  const checks = form.getByRole('group', { name: 'Checks' })
  await checks.getByLabel('Hallucination').check()
  await form.getByLabel('Source', { exact: true }).fill('<start.facts>')
  await form.getByLabel('Model', { exact: true }).fill('gpt-4o')
  expect(await paramsOf('guard')).toMatchObject({
    ...{ checks: ['pii', 'hallucination'], piiEntityTypes: ['CREDIT_CARD'] },
    ...{ source: '<start.facts>', model: 'gpt-4o' },
  })
  expect(await accessibilityFaults(page)).toEqual([])
  // A run that fails the check has a way of its own.
  expect(await port(page, 'Guard', 'failed').count()).toBe(1)
}, 120_000)

test('a metric of an evaluator has a name, a description and two numbers, and its score is an output', async () => {
  const { page } = visited
  await node(page, 'Judge').click()
  const metrics = inspector('Judge').getByRole('group', { name: 'Metrics' })
  await metrics.getByRole('button', { name: 'Add' }).click()
  await metrics.getByLabel('Name 2').fill('tone')
  await metrics.getByRole('group', { name: 'Range 2' }).getByLabel('Lowest score').fill('-1.5')
  await metrics.getByRole('group', { name: 'Range 2' }).getByLabel('Highest score').fill('1')
  expect((await paramsOf('judge'))['metrics']).toEqual([
    { name: 'clarity', description: 'Is it easy to read?', range: { min: 0, max: 10 } },
    { name: 'tone', range: { min: -1.5, max: 1 } },
  ])
  expect(await accessibilityFaults(page)).toEqual([])
  await inspector('Judge').getByRole('button', { name: '<judge.tone>' }).waitFor()
}, 120_000)

test('a problem is shown at its field, even if the field belongs to a check that is not chosen', async () => {
  const { page } = visited
  const hidden = { input: '<start.input>', checks: ['pii'], threshold: 99 }
  const blocks = [
    block('start', 'api_trigger', {}, { name: 'Start' }),
    block('guard', 'guardrails', hidden, { name: 'Hidden', position: { x: 320, y: 0 } }),
  ]
  await openWorkflow(visited, { name: 'Hidden', blocks, edges: ['start > guard'] })
  await node(page, 'Hidden').click()
  await inspector('Hidden')
    .getByText(/^Lowest support must/)
    .waitFor()
  expect(await inspector('Hidden').getByLabel('Source', { exact: true }).count()).toBe(0)
}, 120_000)
