import { expect, test } from 'bun:test'
import fc from 'fast-check'
import type { DeliverySource } from '../../../src/domain/webhook/delivery.ts'
import { include } from '../../../src/domain/webhook/subscription.ts'
import { limitFactsText, payloadOf } from '../../../src/webhooks/payload.ts'

const at = Date.UTC(2025, 5, 1, 12)
const window = { limit: 25, remaining: 24, resetAt: at + 60_000 }
const limits = {
  workflowExecutionRateLimit: { sync: window, async: { ...window, limit: 200 } },
  usage: { currentPeriodCost: 1.5, limit: 20, plan: 'pro', isExceeded: false },
}
const source: DeliverySource = {
  sequence: 107_000_000_000_000,
  workflowId: 'w1',
  executionId: '01975e7c-0000-7000-8000-0123456789ab',
  level: 'info',
  trigger: 'api',
  startedAt: at,
  endedAt: at + 1_250,
  durationMs: 1_250.125,
  pausedMs: null,
  cost: null,
  finalOutput: '{"answer":42}',
  traceSpans: '[{"id":"s1","children":[]}]',
  files: null,
  facts: limitFactsText(limits),
}
const digits = source.sequence.toString(36).padStart(11, '0')
const everything = include.finalOutput | include.traceSpans | include.rateLimits | include.usage

test('a payload contains the facts of the run, and links to its log entry', () => {
  expect(JSON.parse(payloadOf(source, 0))).toEqual({
    id: `evt_${digits}0123456789ab`,
    type: 'workflow.execution.completed',
    timestamp: at + 1_250,
    data: {
      workflowId: 'w1',
      executionId: '01975e7c-0000-7000-8000-0123456789ab',
      status: 'success',
      level: 'info',
      trigger: 'api',
      startedAt: '2025-06-01T12:00:00.000Z',
      endedAt: '2025-06-01T12:00:01.250Z',
      totalDurationMs: 1_250.125,
      cost: { total: 0, tokens: { prompt: 0, completion: 0, total: 0 }, models: {} },
      files: null,
    },
    links: {
      log: `/v1/logs/log_${digits}`,
      execution: '/v1/logs/workflow/pt-BR/executions/01975e7c-0000-7000-8000-0123456789ab',
    },
  })
})

test('a run that failed has the status error', () => {
  const { data } = JSON.parse(payloadOf({ ...source, level: 'error' }, 0))
  expect(data).toMatchObject({ status: 'error', level: 'error' })
})

test('a payload contains what the subscription includes, and nothing else', () => {
  const { data } = JSON.parse(payloadOf(source, everything))
  expect(data.finalOutput).toEqual({ answer: 42 })
  expect(data.traceSpans).toEqual([{ id: 's1', children: [] }])
  const resetAt = '2025-06-01T12:01:00.000Z'
  expect(data.rateLimits).toEqual({
    sync: { limit: 25, remaining: 24, resetAt },
    async: { limit: 200, remaining: 24, resetAt },
  })
  expect(data.usage).toEqual(limits.usage)
  const members = { finalOutput: 1, traceSpans: 2, rateLimits: 4, usage: 8 }
  for (let wanted = 0; wanted <= everything; wanted += 1) {
    const found = JSON.parse(payloadOf(source, wanted)).data
    for (const [name, bit] of Object.entries(members)) expect([name, name in found]).toEqual([name, (wanted & bit) > 0])
  }
})

test('files have the form that callers see', () => {
  const file = { url: 'https://files.example/x', name: 'a.txt', size: 3, type: 'text/plain' }
  const { data } = JSON.parse(payloadOf({ ...source, files: JSON.stringify([{ key: 'k', file }]) }, 0))
  expect(data.files).toEqual([file])
})

test('a payload equals the output of JSON.stringify, so that receivers can verify a parsed body', () => {
  const text = fc.string({ unit: 'binary', maxLength: 20 })
  const value = fc.jsonValue({ stringUnit: 'binary' })
  fc.assert(
    fc.property(
      text,
      text,
      value,
      fc.array(value),
      fc.double({ noNaN: true, min: 0 }),
      (workflowId, name, output, spans, ms) => {
        const body = payloadOf(
          {
            ...source,
            workflowId,
            durationMs: Number.isFinite(ms) ? ms : 0,
            finalOutput: JSON.stringify(output),
            traceSpans: JSON.stringify(spans),
            files: JSON.stringify([{ key: null, file: { url: 'https://x', name, size: 0, type: 'a/b' } }]),
          },
          everything,
        )
        expect(JSON.stringify(JSON.parse(body))).toBe(body)
        expect(JSON.parse(body).data.finalOutput).toEqual(JSON.parse(JSON.stringify(output)))
      },
    ),
  )
})
