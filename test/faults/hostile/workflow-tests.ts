import { block, document } from '../../support/make.ts'
import { call } from '../../support/running-service.ts'
import type { StoredValues } from './stored-values.ts'

type Account = { url: string; apiKey: string }
type Tests = readonly { name: string; mocks?: unknown; expect: Record<string, unknown> }[]

/** Requests that run tests of workflows, and one that reads them. */
export async function storeTests({ url, apiKey }: Account): Promise<StoredValues> {
  const found: Record<string, { path: string; body?: string }> = {}
  for (const [name, { code, tests }] of Object.entries(suites())) {
    const blocks = [block('start', 'api_trigger', {}), block('work', 'function', { code })]
    const draft = document({ name: `tests ${name}`, blocks, edges: ['start > work'] })
    const made = await call(`${url}/api/workflows`, apiKey, 'POST', draft)
    const path = `/api/workflows/${(made.body as { id: string }).id}/tests`
    const saved = await call(url + path, apiKey, 'PUT', { tests })
    if (saved.status !== 200) throw new Error(`The tests "${name}" were not saved: ${JSON.stringify(saved.body)}`)
    found[`tests: ${name}`] = { path: `${path}/run`, body: '{}' }
    if (name === 'many values') found['tests: read many values'] = { path }
  }
  return found
}

function suites(): Record<string, { code: string; tests: Tests }> {
  const ofOutput = (count: number, expected: unknown): Tests =>
    Array.from({ length: count }, (_, n) => ({ name: `${n}`, expect: { output: { result: expected } } }))
  const values = Array.from({ length: 100_000 }, (_, n) => n)
  return {
    'endless code': { code: 'while (true) {}', tests: ofOutput(8, 1) },
    'endless patterns': {
      code: `return "${'a'.repeat(50)}!"`,
      tests: ofOutput(20, { $match: '^(a+)+$' }),
    },
    'many values': { code: 'return Array.from({ length: 100000 }, (_, n) => n)', tests: ofOutput(1, values) },
    'large outputs': { code: 'return "x".repeat(1000000)', tests: ofOutput(500, 'x') },
    'ten thousand mocks': {
      code: 'return 1',
      tests: Array.from({ length: 50 }, (_, n) => ({
        ...{ name: `${n}`, expect: {} },
        mocks: Array.from({ length: 200 }, (_, at) => ({
          request: { method: 'GET', url: `https://example.com/${at}` },
          response: { status: 200 },
        })),
      })),
    },
  }
}
