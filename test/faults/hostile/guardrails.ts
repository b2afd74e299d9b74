import { block, type document } from '../../support/make.ts'
import type { Attack } from './attacks.ts'
import type { Target } from './target.ts'

const MB = 1024 * 1024

/** Guardrails with a pattern, a schema and all kinds of personal data. Anyone may send the text. */
const checks: Readonly<Record<string, Record<string, unknown>>> = {
  pattern: { checks: ['regex'], regex: '^(a+)+$' },
  schema: { checks: ['json'], jsonSchema: manyAlternatives() },
  block: { checks: ['pii'] },
  mask: { checks: ['pii'], piiMode: 'mask' },
}

/** Deploys a workflow for each check. Returns their endpoints by name. */
export async function deployGuardrails(
  make: (blocks: Parameters<typeof document>[0]['blocks'], edges: string[], name: string) => Promise<string>,
): Promise<Record<string, string>> {
  const endpoints: Record<string, string> = {}
  for (const [name, params] of Object.entries(checks)) {
    const guard = block('guard', 'guardrails', { input: '<start.text>', ...params })
    const reply = block('reply', 'response', { data: { passed: '<guard.passed>' } })
    const start = block('start', 'api_trigger', { inputFormat: [{ name: 'text', type: 'string' }] })
    endpoints[name] = await make([start, guard, reply], ['start > guard', 'guard > reply'], `guardrails ${name}`)
  }
  return endpoints
}

/** Texts that are expensive to check. */
export function guardrailAttacks({ guardrails, apiKey }: Target): Attack[] {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const four = (name: string, check: string, text: string): Attack => ({
    name: `guardrails: ${name}, 4 at once`,
    requests: Array(4).fill({ url: guardrails[check], headers, bytes: Buffer.from(JSON.stringify({ text })) }),
  })
  const filled = (unit: string) => unit.repeat(Math.floor((MB * 0.95) / unit.length))
  return [
    four('an endless pattern', 'pattern', `${'a'.repeat(50)}!`),
    four('a list with many alternatives', 'schema', `[${'"a",'.repeat(180_000)}"a"]`),
    ...['AB12 ', '4111 ', '1 ', '(1', 'a@'].map((unit) =>
      four(`almost ${JSON.stringify(unit)}`, 'block', filled(unit)),
    ),
    ...['a@b.co ', 'http://a.b '].map((unit) => four(`masked ${JSON.stringify(unit)}`, 'mask', filled(unit))),
  ]
}

/** Each item is compared with all of them. */
function manyAlternatives(): object {
  return { items: { anyOf: Array.from({ length: 200 }, (_, at) => ({ type: 'string', minLength: at + 2 })) } }
}
