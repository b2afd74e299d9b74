import type { Attack, AttackRequest } from './attacks.ts'
import type { Target } from './target.ts'

/** Requests that claim to belong to a distributed trace. The service exports all runs meanwhile. */
export function traceAttacks({ ordinary, openWebhook, apiKey }: Target, isShort: boolean): Attack[] {
  const receivers = [
    { name: 'execute', url: ordinary, key: { 'x-api-key': apiKey } },
    { name: 'asynchronous', url: ordinary, key: { 'x-api-key': apiKey, 'x-execution-mode': 'async' } },
    { name: 'open webhook', url: openWebhook, key: {} },
  ]
  const places = isShort ? 500 : 20_000
  return receivers.flatMap(({ name, url, key }): Attack[] => {
    const request = (headers: Record<string, string>): AttackRequest => ({
      ...{ url, method: 'POST', headers: { ...key, 'content-type': 'application/json', ...headers } },
      bytes: Buffer.from('{"n":5}'),
    })
    return [
      {
        name: `trace ${name}: headers that are not valid`,
        requests: [
          ...badParents.map((traceparent) => request({ traceparent })),
          ...badStates.map((tracestate) => request({ traceparent: parentOf(1), tracestate })),
        ],
      },
      {
        name: `trace ${name}: ten thousand headers`,
        requests: [request(Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`tracestate-${at}`, 'a=1'])))],
      },
      {
        name: `trace ${name}: another caller each time`,
        requests: Array.from({ length: places }, (_, at) =>
          request({ traceparent: parentOf(at + 1), tracestate: `a=${'x'.repeat(250)},b=${'y'.repeat(250)}` }),
        ),
        atOnce: 20,
      },
      {
        name: `trace ${name}: one place for all, as if every run were the same span`,
        requests: Array(isShort ? 100 : 2_000).fill(request({ traceparent: parentOf(7) })),
        atOnce: 20,
      },
    ]
  })
}

const parentOf = (number: number) =>
  `00-${number.toString(16).padStart(32, '0')}-${number.toString(16).padStart(16, '0')}-01`

const badParents = [
  ...['-', '00', '00-', '00---', '\t', 'null', '00-__proto__-constructor-01'],
  `00-${'0'.repeat(32)}-${'0'.repeat(16)}-01`,
  `ff-${'1'.repeat(32)}-${'2'.repeat(16)}-01`,
  `00-${'g'.repeat(32)}-${'2'.repeat(16)}-01`,
  `00-${'1'.repeat(7_000)}-${'2'.repeat(16)}-01`,
  `cc-${'1'.repeat(32)}-${'2'.repeat(16)}-01-${'x-'.repeat(3_000)}`,
  '00-'.repeat(2_500),
]

const badStates = [
  ','.repeat(7_000),
  '='.repeat(7_000),
  'a=1,'.repeat(1_700),
  `a=${' '.repeat(500)}`,
  `${'a'.repeat(256)}=${'b'.repeat(255)}`,
  `a=${'b '.repeat(254)}`,
  Array.from({ length: 900 }, (_, at) => `k${at}=v`).join(),
  `\u00e9=\u00e9`,
]
