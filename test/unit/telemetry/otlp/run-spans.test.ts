import { expect, test } from 'bun:test'
import { Value } from '@sinclair/typebox/value'
import { createRedactor } from '../../../../src/domain/redaction/redactor.ts'
import { noCost } from '../../../../src/domain/run/cost.ts'
import type { RunRecord, Span } from '../../../../src/domain/run/log.ts'
import { finish } from '../../../../src/domain/slices.ts'
import { spanCount, spanTexts } from '../../../../src/telemetry/otlp/run-spans.ts'
import { ExportTraceServiceRequest } from '../../../support/telemetry/otlp-schema.ts'

let number = 0
function span(type: string, name: string, more: Partial<Span> = {}): Span {
  number += 1
  return {
    ...{ id: `s${number}`, name, type, blockId: name, status: 'success', startTime: 1_700_000_000_000.25 },
    ...{ endTime: 1_700_000_000_010, durationMs: 10, input: null, output: null, error: null, attempts: null },
    children: [],
    ...more,
  }
}

function record(children: Span[], more: Partial<RunRecord> = {}): RunRecord {
  return {
    ...{ executionId: '0197f9a2-7c1e-7b0a-9a3e-0123456789ab', workflowId: 'w', workspaceId: 'ws', version: 3 },
    ...{ trigger: 'api', createdAt: null, startedAt: 0, endedAt: 10, durationMs: 10, failure: null, output: null },
    ...{ cost: noCost, secrets: undefined },
    root: span('workflow', 'Orders', { blockId: null, children, input: { card: 'VALUE-IN' }, output: 'VALUE-OUT' }),
    ...more,
  }
}

type Wire = { name: string; kind: number; attributes: { key: string; value: object }[]; [member: string]: unknown }

function exported(run: RunRecord, max = 1_000): { all: Wire[]; left: number; text: string } {
  const { texts, left } = finish(spanTexts(run, max))
  const all = texts.map((text) => JSON.parse(text) as Wire)
  const message = { resourceSpans: [{ resource: {}, scopeSpans: [{ scope: {}, spans: all }] }] }
  expect([...Value.Errors(ExportTraceServiceRequest, message)]).toEqual([])
  return { all, left, text: texts.join('\n') }
}

const attributes = ({ attributes: list }: Wire) =>
  Object.fromEntries(list.map(({ key, value }) => [key, Object.values(value)[0] as unknown]))

test('an API block is a client span of the HTTP conventions, without path, query, headers and bodies', () => {
  const input = {
    ...{ method: 'POST', url: 'https://me:pw@api.example.com:8443/customers/VALUE-IN?q=VALUE-IN' },
    ...{ headers: { 'x-trace': 'VALUE-IN' }, body: 'VALUE-IN' },
  }
  const attempts = [
    { number: 1, startTime: 1_700_000_000_001, durationMs: 2, status: 503, error: 'VALUE-OUT' },
    { number: 2, startTime: 1_700_000_000_005, durationMs: 3, status: 404 },
  ]
  const error = { code: 'HTTP_ERROR', message: 'VALUE-OUT was not found' }
  const { all, text } = exported(
    record([span('api', 'Call', { status: 'error', input, output: 'VALUE-OUT', error, attempts })]),
  )
  const [root, call] = all
  expect(call).toMatchObject({ kind: 3, name: 'Call', parentSpanId: root?.['spanId'], status: { code: 2 } })
  expect(attributes(call!)).toEqual({
    'http.request.method': 'POST',
    'server.address': 'api.example.com',
    'server.port': '8443',
    'url.full': 'https://api.example.com:8443/REDACTED',
    'http.response.status_code': '404',
    'http.request.resend_count': '1',
    'error.type': '404',
    'millrace.block.id': 'Call',
    'millrace.block.type': 'api',
    'millrace.status': 'error',
  })
  expect(call?.['events']).toHaveLength(2)
  expect(text).not.toContain('VALUE')
  expect(text).not.toContain('pw')
})

test('an agent, its model calls and its tools follow the GenAI conventions', () => {
  const usage = {
    ...{ model: 'gpt-5', tokens: { prompt: 11, completion: 7, total: 18 }, timeToFirstTokenMs: 250 },
    cost: { input: 0.1, output: 0.2, total: 0.3 },
  }
  const agent = span('agent', 'Helper', {
    input: {
      ...{ provider: 'openai', prompt: 'VALUE-IN', baseUrl: 'https://user:VALUE@models.example.com/VALUE/v1' },
      ...{ temperature: 0.5, maxTokens: 200 },
    },
    output: { content: 'VALUE-OUT' },
    children: [
      span('model', 'gpt-5', {
        usage,
        input: { messages: ['VALUE-IN'] },
        output: { content: 'VALUE-OUT', finish: 'length' },
      }),
      span('tool', 'look_up', { input: { q: 'VALUE-IN' }, output: 'VALUE-OUT' }),
    ],
  })
  const { all, text } = exported(record([agent]))
  const [, helper, model, tool] = all
  expect(all.map(({ name }) => name)).toEqual(['Orders', 'invoke_agent Helper', 'chat gpt-5', 'execute_tool look_up'])
  expect(attributes(helper!)).toMatchObject({
    'gen_ai.operation.name': 'invoke_agent',
    'gen_ai.agent.name': 'Helper',
    'gen_ai.provider.name': 'openai',
  })
  expect(model?.kind).toBe(3)
  expect(attributes(model!)).toMatchObject({
    'gen_ai.operation.name': 'chat',
    'gen_ai.provider.name': 'openai',
    'gen_ai.request.model': 'gpt-5',
    'gen_ai.request.temperature': 0.5,
    'gen_ai.request.max_tokens': '200',
    'gen_ai.response.finish_reasons': { values: [{ stringValue: 'length' }] },
    'server.address': 'models.example.com',
    'server.port': '443',
    'gen_ai.usage.input_tokens': '11',
    'gen_ai.usage.output_tokens': '7',
    'gen_ai.response.time_to_first_chunk': 0.25,
    'millrace.cost.usd': 0.3,
  })
  expect(attributes(tool!)).toMatchObject({ 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': 'look_up' })
  expect(text).not.toContain('VALUE')
})

test('a call of an MCP server names the tool and the host', () => {
  const input = { server: 'https://user:VALUE@mcp.example.com/VALUE', tool: 'look_up', arguments: { q: 'VALUE' } }
  const { all, text } = exported(record([span('mcp', 'Ask', { input, output: 'VALUE' })]))
  expect(all[1]).toMatchObject({ name: 'Ask', kind: 3 })
  expect(attributes(all[1]!)).toMatchObject({
    'mcp.method.name': 'tools/call',
    'gen_ai.operation.name': 'execute_tool',
    'gen_ai.tool.name': 'look_up',
    'server.address': 'mcp.example.com',
    'server.port': '443',
  })
  expect(text).not.toContain('VALUE')
})

test('secrets in names and hosts are hidden before long names are cut', () => {
  const secret = 'Top-Secret-Text-1'
  const long = `${'n'.repeat(250)}${secret}`
  const url = `https://${secret}.example.com/`
  const run = record([span('api', long, { blockId: 'b', input: { method: 'GET', url } })], {
    secrets: createRedactor([{ name: 'TOKEN', value: secret }]),
  })
  run.root.name = `Run ${secret}`
  const { all, text } = exported(run)
  expect(text.toLowerCase()).not.toContain('top-se')
  expect(all[0]?.name).toBe('Run {{TOKEN}}')
  expect(all[1]?.name).toHaveLength(256)
})

test('times have nanoseconds, and every span has an ID of its own below its parent', () => {
  const { all } = exported(
    record([span('loop', 'Loop', { children: [span('iteration', 'Loop', { input: { index: 4 } })] })]),
  )
  const [root, loop, iteration] = all
  expect(root).toMatchObject({
    traceId: '0197f9a27c1e7b0a9a3e0123456789ab',
    startTimeUnixNano: '1700000000000250000',
    endTimeUnixNano: '1700000000010000000',
  })
  expect(root?.['parentSpanId']).toBeUndefined()
  expect([loop?.['parentSpanId'], iteration?.['parentSpanId']]).toEqual([root?.['spanId'], loop?.['spanId']])
  expect(attributes(iteration!)['millrace.iteration.index']).toBe('4')
})

test('a run below a caller has its trace and its span as the parent', () => {
  const traceParent = { traceId: 'a'.repeat(32), parentId: 'b'.repeat(16), sampled: true }
  const { all } = exported(record([span('function', 'f')], { traceParent }))
  expect(all.map(({ traceId }) => traceId)).toEqual(['a'.repeat(32), 'a'.repeat(32)])
  expect(all[0]).toMatchObject({ parentSpanId: 'b'.repeat(16), flags: 0x301 })
  expect(all[1]?.['flags']).toBe(0x101)
})

test('pauses are events, disabled blocks have no spans, and spans beyond the maximum are counted', () => {
  const pauses = [{ contextId: 'c', kind: 'wait', since: 1, endedAt: 5, outcome: 'expired', by: null }] as const
  const run = record([
    span('wait', 'Wait', { pauses }),
    span('function', 'Off', { status: 'skipped' }),
    span('function', 'On'),
  ])
  expect(exported(run).all[1]).toMatchObject({ events: [{ timeUnixNano: '1000000', name: 'pause' }] })
  expect(exported(run).all.map(({ name }) => name)).toEqual(['Orders', 'Wait', 'On'])
  expect(spanCount(run.root)).toBe(3)
  expect(exported(run, 2)).toMatchObject({ left: 1, all: [{ name: 'Orders' }, { name: 'Wait' }] })
})
