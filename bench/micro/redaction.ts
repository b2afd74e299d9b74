import { bench, do_not_optimize, run } from 'mitata'
import { createRedactor } from '../../src/domain/redaction/redactor.ts'
import { formsOf } from '../../src/domain/redaction/secret-forms.ts'
import { noCost } from '../../src/domain/run/cost.ts'
import type { RunRecord, Span } from '../../src/domain/run/log.ts'
import { createFold } from '../../src/events/batch.ts'

/**
 * How much does it cost to keep a workspace's secrets out of recorded runs, and which search algorithm is the fastest?
 * `bun bench/micro/redaction.ts [secrets]`
 */
const count = Number(Bun.argv[2] ?? 20)
const secrets = Array.from({ length: count }, (_, index) => {
  const value = `sk_live_${crypto.getRandomValues(new Uint8Array(24)).toBase64({ alphabet: 'base64url' })}`
  return { name: `SECRET_${index}`, value }
})
const redactor = createRedactor(secrets)!
const anchors = secrets.flatMap(({ value }) => formsOf(value).map(({ anchor }) => anchor!))
const pattern = new RegExp(anchors.map((anchor) => RegExp.escape(anchor)).join('|'))

/** About 1.2 kB of JSON. */
function callOf(token: string) {
  const headers = [{ key: 'Authorization', value: `Bearer ${token}` }]
  const body = { text: 'Lorem ipsum dolor sit amet, consectetur adipiscing elit, sed do eiusmod tempor. '.repeat(5) }
  const input = { url: 'https://api.example.org/v1/customers/81723?expand=orders', method: 'POST', headers, body }
  const customer = { name: 'Ada Lovelace', mail: 'ada@example.org', note: 'Ut enim ad minim veniam. '.repeat(12) }
  const output = { data: { customer, orders: [{ id: 1, total: 12.5 }] }, status: 200, headers: { server: 'x' } }
  return { input, output }
}

function recordOf(token: string, redacted: boolean): RunRecord {
  const { input, output } = callOf(token)
  const at = Date.UTC(2025, 5, 1)
  const times = { startTime: at, endTime: at + 5, durationMs: 5 }
  const span = (type: string, children: Span[]): Span => {
    const facts = { id: 's1', name: 'Call', type, blockId: 'b1', status: 'success' } as const
    return { ...facts, ...times, input, output, error: null, attempts: null, children }
  }
  const ids = {
    executionId: 'e',
    workflowId: 'w',
    workspaceId: 'ws',
    version: 1,
    trigger: 'api',
    createdAt: null,
  } as const
  const facts = { startedAt: at, endedAt: at + 5, durationMs: 5, failure: null, output, cost: noCost }
  return { ...ids, ...facts, root: span('workflow', [span('api', [])]), secrets: redacted ? redactor : undefined }
}

const without = JSON.stringify(callOf('none'))
const withOne = JSON.stringify(callOf(secrets[0]!.value))
bench(`the redactor, ${count} secrets, ${without.length} characters without one`, () => {
  do_not_optimize(redactor.redact(without))
})
bench('the redactor, one secret in them', () => do_not_optimize(redactor.redact(withOne)))
bench('instead: indexOf for every part', () =>
  do_not_optimize(anchors.some((anchor) => without.indexOf(anchor) !== -1)),
)
// Different texts, because the engine caches the result for the last one.
const others = Array.from({ length: 64 }, (_, index) => without.replace('81723', String(81_723 + index)))
let turn = 0
bench('instead: one regular expression', () => {
  turn += 1
  do_not_optimize(pattern.test(others[turn % others.length]!))
})

const large = JSON.stringify({ text: '%'.repeat(5_000_000) })
const symbols = createRedactor([{ name: 'SYMBOLS', value: '!%§$&/()=?' }])!
bench('the redactor, 5 MB made to be expensive', () => do_not_optimize(redactor.redact(large)))
bench('the redactor, the same with a secret of symbols', () => do_not_optimize(symbols.redact(large)))

const fold = createFold()
const plain = recordOf('none', false)
const searched = recordOf('none', true)
const hit = recordOf(secrets[0]!.value, true)
bench('the fold of a run, no secrets', () => do_not_optimize(fold(plain, 1)))
bench('the fold of a run, secrets and none in it', () => do_not_optimize(fold(searched, 1)))
bench('the fold of a run, one secret in it', () => do_not_optimize(fold(hit, 1)))

await run()
