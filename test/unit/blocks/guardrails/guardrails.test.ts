import { afterAll, describe, expect, test } from 'bun:test'
import { block, document } from '../../../support/make.ts'
import { ModelServer, type ScriptedResponse } from '../../../support/models/model-server.ts'
import { outboundOf } from '../../../support/outbound/peers.ts'
import { spansOf, World } from '../../engine/world.ts'

const outbound = outboundOf(['loopback'])
const world = new World({ open: outbound.open, prices: { m: { input: 1, output: 2 } } })
afterAll(async () => {
  outbound.stop()
  await world.stop()
})

const guarded = (params: Record<string, unknown>, hasFailedEdge = false) =>
  document({
    blocks: [
      block('in', 'api_trigger'),
      block('guard', 'guardrails', { input: '<api.input.text>', ...params }),
      block('next', 'wait', { ms: 0 }),
      block('refuse', 'wait', { ms: 0 }),
    ],
    edges: ['in > guard', 'guard > next', ...(hasFailedEdge ? ['guard:failed > refuse'] : [])],
  })

async function guard(text: unknown, params: Record<string, unknown>, hasFailedEdge = false) {
  const { record } = await world.run(guarded(params, hasFailedEdge), { text })
  const spans = spansOf(record.root)
  const ran = ['next', 'refuse'].filter((name) => spans.get(name)?.[0]?.status === 'success')
  return { record, ran, output: spans.get('guard')?.[0]?.output as Record<string, unknown> }
}

async function asked(text: string, params: Record<string, unknown>, responses: ScriptedResponse[]) {
  await using server = await ModelServer.start(
    responses.map((response) => ({ usage: { prompt: 10, completion: 5 }, ...response })),
  )
  const model = { provider: 'openai-compatible', model: 'm', baseUrl: server.url, retries: 0 }
  return { ...(await guard(text, { ...model, ...params })), requests: server.requests }
}

describe('a failed check', () => {
  test('is no failure of the block: the run goes along “failed”', async () => {
    const { record, ran, output } = await guard('{', { checks: ['json'] }, true)
    expect(record.failure).toBeNull()
    expect(ran).toEqual(['refuse'])
    expect(output).toMatchObject({ passed: false, validationType: 'json', input: '{' })
    expect(output['error']).toStartWith('The text is not valid JSON: ')
  })

  test('goes on as usual without such a connection', async () => {
    expect((await guard('{', { checks: ['json'] })).ran).toEqual(['next'])
  })

  test('ends the checks, so that no model sees the text', async () => {
    const more = { checks: ['toxicity', 'pii'] }
    const { output, requests } = await asked('Mail a@b.example', more, [{ text: ['{"reasoning":"","score":0}'] }])
    expect(output['checks']).toEqual([
      {
        check: 'pii',
        passed: false,
        error: 'The text contains personal data: EMAIL_ADDRESS.',
        score: null,
        reasoning: null,
      },
    ])
    expect(requests).toEqual([])
  })
})

test('a text that passes goes along the usual way', async () => {
  const { ran, output } = await guard('{"a": 1}', { checks: ['pii', 'json'] }, true)
  expect(ran).toEqual(['next'])
  expect(output).toMatchObject({ passed: true, error: null, validationType: 'json, pii', detectedEntities: [] })
})

describe('JSON', () => {
  const jsonSchema = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] }
  test.each([
    ['{"n": 1}', null],
    ['{"n": "1"}', 'The JSON does not match the schema: n must be of the type number.'],
    ['{}', 'The JSON does not match the schema: The value has no "n".'],
    ['[]', 'The JSON does not match the schema: The value must be of the type object.'],
  ])('%p gives %p with a schema', async (text, error) => {
    expect((await guard(text, { checks: ['json'], jsonSchema })).output).toMatchObject({
      passed: error === null,
      error,
    })
  })

  test('of any other value is the JSON of the value', async () => {
    expect((await guard({ n: 2 }, { checks: ['json'], jsonSchema })).output['passed']).toBe(true)
  })

  test('that is nested too deep fails the check', async () => {
    const { output } = await guard(`${'['.repeat(90_000)}${']'.repeat(90_000)}`, { checks: ['json'] })
    expect(output['error']).toContain('nested deeper')
  })
})

describe('a pattern', () => {
  test('must match a part of the text', async () => {
    expect((await guard('No. AB-12!', { checks: ['regex'], regex: '[A-Z]{2}-\\d+' })).output['passed']).toBe(true)
    const missed = await guard('ab-12', { checks: ['regex'], regex: '^[A-Z]{2}-\\d+$' })
    expect(missed.output).toMatchObject({ passed: false, error: 'The text does not match the pattern.' })
  })

  test('that takes forever fails the block, and holds up nothing else meanwhile', async () => {
    let turns = 0
    const timer = setInterval(() => {
      turns += 1
    }, 1)
    const { record } = await guard(`${'a'.repeat(40)}!`, { checks: ['regex'], regex: '^(a+)+$' })
    clearInterval(timer)
    expect(record.failure?.message).toContain('The pattern took longer than 2000 ms')
    expect(turns).toBeGreaterThan(100)
  })
})

test('personal data is masked, and a model sees only the masked text', async () => {
  const params = { checks: ['pii', 'toxicity'], piiMode: 'mask', piiEntityTypes: ['EMAIL_ADDRESS', 'IBAN_CODE'] }
  const { output, requests } = await asked('Write to a@b.example (+351 912 345 678).', params, [
    { text: ['{"reasoning": "Friendly.", "score": 0}'] },
  ])
  expect(output).toMatchObject({
    ...{ passed: true, error: null, maskedText: 'Write to <EMAIL_ADDRESS> (+351 912 345 678).', score: 0 },
    detectedEntities: [{ type: 'EMAIL_ADDRESS', start: 9, end: 20, text: 'a@b.example' }],
    ...{ reasoning: 'Friendly.', model: 'm', tokens: { total: 15 }, cost: { total: 0.00002 } },
  })
  const sent = JSON.stringify(requests[0]?.body)
  expect(sent).toContain('Write to <EMAIL_ADDRESS>')
  expect(sent).not.toContain('a@b.example')
})

describe('checks by a model', () => {
  test.each([
    [{ checks: ['toxicity'] }, 3, null],
    [{ checks: ['toxicity'] }, 3.5, 'The toxicity score is 3.5; the limit is 3.'],
    [{ checks: ['toxicity'], toxicityLimit: 9 }, 9, null],
    [{ checks: ['hallucination'], source: 'A fact.' }, 3, null],
    [{ checks: ['hallucination'], source: 'A fact.' }, 2, 'The support score is 2; it must be at least 3.'],
    [{ checks: ['hallucination'], source: 'A fact.', threshold: 10 }, 10, null],
  ])('%j with the score %p gives the error %p', async (params, score, error) => {
    const response = JSON.stringify({ reasoning: 'Because.', score })
    const { output } = await asked('A text', params, [{ text: [response] }])
    expect(output).toMatchObject({ passed: error === null, error, score, reasoning: 'Because.' })
  })

  test('send the source with the text, and ask again for a score in the range', async () => {
    const { output, requests } = await asked('The text', { checks: ['hallucination'], source: '<api.input>' }, [
      { text: ['{"score": 12}'] },
      { text: ['{"score": 8}'] },
    ])
    expect(output).toMatchObject({ passed: true, score: 8, reasoning: '', tokens: { total: 30 } })
    expect(JSON.stringify(requests[0]?.body)).toContain('\\\\\\"text\\\\\\":\\\\\\"The text')
  })

  test('fail the block when the model cannot be asked, so that nothing passes unchecked', async () => {
    const { record, ran, output } = await asked('A text', { checks: ['json', 'toxicity'], input: '{}' }, [
      { status: 400, said: 'No such model' },
    ])
    expect(record.failure).toMatchObject({ code: 'EXECUTION_FAILED', blockName: 'guard' })
    expect(ran).toEqual([])
    expect(output).toMatchObject({ passed: null, error: { code: 'HTTP_ERROR' } })
  })

  test('need a source that is not empty when they run', async () => {
    const { record } = await asked('A text', { checks: ['hallucination'], source: '<api.input.nothing>' }, [{}])
    expect(record.failure?.message).toContain('Source is empty')
  })
})

test('a text over a million characters fails the block', async () => {
  const { record } = await guard('a'.repeat(1_000_001), { checks: ['pii'] })
  expect(record.failure?.message).toContain('at most 1000000')
})

test('deployment reports what a chosen check lacks, and nothing about the others', () => {
  const codes = (params: Record<string, unknown>) =>
    world.check(guarded(params, true)).map(({ code, path }) => `${code} ${path.replace(/^.*params\./, '')}`)
  expect(codes({ checks: ['pii'] })).toEqual([])
  expect(codes({ checks: [] })).toEqual(['INVALID_PARAMETER checks'])
  expect(codes({ checks: ['regex'] })).toEqual(['MISSING_PARAMETER regex'])
  expect(codes({ checks: ['regex'], regex: '(' })).toEqual(['INVALID_PATTERN regex'])
  expect(codes({ checks: ['pii'], regex: '(' })).toEqual([])
  expect(codes({ checks: ['hallucination'], provider: 'openai', model: 'm', apiKey: '{{KEY}}' })).toEqual([
    'MISSING_PARAMETER source',
  ])
  expect(codes({ checks: ['toxicity'] })).toEqual(['MISSING_PARAMETER provider'])
  expect(codes({ checks: ['toxicity'], provider: 'openai', model: 'm' })).toEqual(['MISSING_PARAMETER apiKey'])
  const jsonSchema = { properties: { a: { pattern: '(a+)+' } }, anyOf: [{ $ref: '#' }] }
  expect(codes({ checks: ['json'], jsonSchema }).toSorted()).toEqual([
    'INVALID_SCHEMA jsonSchema.anyOf.0.$ref',
    'INVALID_SCHEMA jsonSchema.properties.a.pattern',
  ])
  expect(codes({ checks: ['json'], jsonSchema: { type: 'text' } })).toEqual(['INVALID_SCHEMA jsonSchema.type'])
})
