import { afterAll, beforeAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { HttpWorld, sampleDocument } from './world.ts'

/** In total: the target is about 2,000. */
const documentRuns = 800
const bodyRuns = 500
const requestRuns = 700

let world: HttpWorld
let workflowId: string
beforeAll(async () => {
  world = await HttpWorld.open()
  workflowId = await world.deployed()
  await world.log(workflowId)
})
afterAll(() => world.close())

/** Every refusal has a message and a code, and none is a 5xx. */
async function expectRefusal(method: string, path: string, text?: string): Promise<void> {
  const response = await world.call(method, path, text === undefined ? {} : { text })
  const about = `${method} ${path} ${text?.slice(0, 300) ?? ''} → ${response.status} ${response.text.slice(0, 200)}`
  expect(response.status, about).toBeGreaterThanOrEqual(400)
  expect(response.status, about).toBeLessThan(500)
  expect(response.headers.get('x-request-id'), about).toBeString()
  if (method === 'HEAD') return
  expect(response.json?.error, about).toBeString()
  expect(response.json?.error.length, about).toBeGreaterThan(0)
  expect(response.json?.code, about).toMatch(/^[A-Z_]+$/)
}

const junk = fc.oneof(fc.jsonValue({ maxDepth: 3 }), fc.constantFrom(null, -1, 0.5, '', [], {}, 'x'.repeat(300)))

/** Ways to break a valid document; each result must be refused. */
const spoilers: fc.Arbitrary<(document: Record<string, unknown>) => unknown>[] = [
  fc.constantFrom('name', 'blocks', 'edges').map(
    (member) =>
      ({ [member]: _gone, ...rest }) =>
        rest,
  ),
  junk
    .filter((value) => typeof value !== 'string' || value === '' || value.length > 200)
    .map((name) => (document) => ({ ...document, name })),
  junk
    .filter((value) => typeof value !== 'object' || value === null || Array.isArray(value))
    .map((blocks) => (document) => ({ ...document, blocks })),
  junk.filter((value) => !Array.isArray(value)).map((edges) => (document) => ({ ...document, edges })),
  junk
    .filter((value) => typeof value !== 'object' || value === null || Array.isArray(value))
    .map((block) => (document) => ({ ...document, blocks: { a: block } })),
  fc.constantFrom('type', 'name').chain((member) =>
    fc.constantFrom(5, '', [], {}, true).map((value) => (document: Record<string, unknown>) => ({
      ...document,
      blocks: { a: { type: 'wait', name: 'A', [member]: value } },
    })),
  ),
  fc.constantFrom('position', 'enabled', 'params').chain((member) =>
    fc.constantFrom(5, 'x', []).map((value) => (document: Record<string, unknown>) => ({
      ...document,
      blocks: { a: { type: 'wait', name: 'A', [member]: value } },
    })),
  ),
  junk
    .filter((value) => typeof value !== 'object' || value === null || Array.isArray(value))
    .map((edge) => (document) => ({ ...document, edges: [edge] })),
  fc
    .constantFrom({ source: 'a' }, { target: 'a' }, { source: '', target: 'a' }, { source: 1, target: 2 })
    .map((edge) => (document) => ({ ...document, edges: [edge] })),
  fc
    .constantFrom({ loopType: 'forever' }, {}, { loopType: 'for', nodes: 'a' }, { loopType: 'for', condition: 5 })
    .map((loop) => (document) => ({ ...document, loops: { l: loop } })),
  fc
    .constantFrom({ parallelType: 'x' }, {}, { parallelType: 'count', nodes: [1] })
    .map((parallel) => (document) => ({ ...document, parallels: { p: parallel } })),
  fc.constantFrom('', 'a b', 'ü', 'x'.repeat(101), 5, {}, '../..').map((id) => (document) => ({ ...document, id })),
  fc.constantFrom('\u0000', 'a\u0007', '\ud800', '   ').map((name) => (document) => ({ ...document, name })),
  fc.constantFrom(5, [], {}, true).map((description) => (document) => ({ ...document, description })),
  fc
    .constantFrom(5, 'x', [3], {}, [{}], [{ url: 5 }], [{ url: 'ftp://x' }], [{ url: 'https://x', levelFilter: [] }])
    .map((webhooks) => (document) => ({ ...document, webhooks })),
  fc.constantFrom(5, 'x', { v: null }, [1]).map((variables) => (document) => ({ ...document, variables })),
  fc
    .constantFrom(5, {}, [], 'not-a-workspace', '__proto__')
    .map((workspaceId) => (document) => ({ ...document, workspaceId })),
  junk
    .filter((value) => typeof value !== 'object' || value === null || Array.isArray(value))
    .map((value) => () => value),
]

describe('malformed documents', () => {
  test(`${documentRuns} malformed documents: none is saved, none is a 5xx, all responses name the errors`, async () => {
    const before = (await world.get('/api/workflows')).json.data.length
    const property = fc.asyncProperty(fc.oneof(...spoilers), fc.boolean(), async (spoil, isNew) => {
      const text = JSON.stringify(spoil(sampleDocument() as unknown as Record<string, unknown>))
      // A replacement cannot change the workspace.
      fc.pre(isNew || !text.includes('"workspaceId"'))
      await (isNew
        ? expectRefusal('POST', '/api/workflows', text)
        : expectRefusal('PUT', `/api/workflows/${workflowId}`, text))
    })
    await fc.assert(property, { numRuns: documentRuns })
    expect((await world.get('/api/workflows')).json.data.length).toBe(before)
  }, 120_000)

  test(`${bodyRuns} bodies that are not JSON are refused with the position of the error`, async () => {
    const broken = fc.oneof(
      fc.string().filter((text) => !isJson(text)),
      fc
        .tuple(fc.json({ maxDepth: 4 }), fc.nat())
        .map(([text, at]) => text.slice(0, at % text.length))
        .filter((text) => !isJson(text)),
      fc
        .tuple(fc.constantFrom('[', '{"a":'), fc.integer({ min: 201, max: 20_000 }))
        .map(([open, levels]) => open.repeat(levels)),
      fc.integer({ min: 201, max: 2000 }).map((levels) => '['.repeat(levels) + ']'.repeat(levels)),
    )
    const targets = fc.constantFrom<[string, string]>(
      ['POST', '/api/workflows'],
      ['PUT', `/api/workflows/${workflowId}`],
      ['PATCH', `/api/workflows/${workflowId}/deployments/1`],
    )
    const property = fc.asyncProperty(broken, targets, async (text, [method, path]) => {
      const { status, json } = await world.call(method, path, { text })
      expect({ status, code: json?.code }, `${method} ${path} ${text.slice(0, 200)}`).toEqual({
        status: 400,
        code: 'INVALID_JSON',
      })
      expect(json.error).toMatch(/^The body is (not valid JSON: line \d+, column \d+|nested deeper than 200|empty)/)
    })
    await fc.assert(property, { numRuns: bodyRuns })
  }, 120_000)
})

describe('malformed requests', () => {
  test(`${requestRuns} wrong paths, methods, IDs and parameters are refused without a 5xx`, async () => {
    const segment = fc.oneof(
      fc
        .string({ minLength: 1, maxLength: 30 })
        // A client removes these segments from a path, so the request would reach another endpoint.
        .filter((text) => text !== '.' && text !== '..')
        .map(encodeURIComponent),
      fc.constantFrom(
        '%00',
        '%ff',
        '%',
        '%zz',
        '%2F',
        'constructor',
        '__proto__',
        'null',
        'undefined',
        '-1',
        '1e9',
        'a'.repeat(3000),
      ),
    )
    const wrongId = fc.tuple(
      fc.constantFrom<[string, string]>(
        ['GET', '/api/workflows/*'],
        ['DELETE', '/api/workflows/*'],
        ['POST', '/api/workflows/*/deploy'],
        ['GET', '/api/workflows/*/status'],
        ['GET', '/api/workflows/*/deployments'],
        ['GET', `/api/workflows/${workflowId}/deployments/*x`],
        ['POST', `/api/workflows/${workflowId}/deployments/*x/activate`],
        ['POST', `/api/workflows/${workflowId}/deployments/*x/revert`],
        ['GET', `/api/workflows/${workflowId}/executions/*`],
        ['POST', `/api/workflows/${workflowId}/executions/*/cancel`],
        ['GET', '/api/jobs/*'],
        ['GET', '/api/v1/logs/*'],
        ['GET', '/api/v1/logs/executions/*'],
        ['GET', '/api/v1/logs/workflow/pt-BR/executions/*'],
        ['GET', '/api/workflows?workspaceId=*'],
        ['GET', '/api/folders?workspaceId=*'],
      ),
      segment,
    )
    const wrongParameter = fc
      .tuple(
        fc.constantFrom(
          'limit',
          'order',
          'level',
          'triggers',
          'startDate',
          'endDate',
          'minDurationMs',
          'maxCost',
          'details',
          'includeFinalOutput',
          'cursor',
        ),
        fc.oneof(
          fc.string({ maxLength: 20 }),
          fc.constantFrom('NaN', '-0', '1e400', '0x10', ' 1', '1001', 'ASC', 'null', '2025-13-01'),
        ),
      )
      .filter(([name, value]) => !isGood(name, value))
      .map(([name, value]): [string, string] => [
        'GET',
        `/api/v1/logs?workspaceId=${world.workspaceId}&${name}=${encodeURIComponent(value)}`,
      ])
    const wrongPath = fc.tuple(
      fc.constantFrom('GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'HEAD'),
      fc
        .tuple(
          fc.constantFrom('', '/api', '/api/v1', '/api/v1/logs/workflow', '/api/workflows/x/deployments/1', '/health'),
          segment,
        )
        .map(([base, last]) => `${base}/${last}/no`),
    )
    const wrongMethod = fc.constantFrom<[string, string]>(
      ['POST', '/health'],
      ['DELETE', '/api/v1/logs'],
      ['PATCH', '/api/workflows'],
      ['GET', `/api/workflows/${workflowId}/deploy`],
      ['PUT', '/api/workspaces'],
      ['HEAD', `/api/workflows/${workflowId}/deployments/1/activate`],
    )
    const request = fc.oneof(
      {
        weight: 4,
        arbitrary: wrongId.map(([[method, path], id]): [string, string] => [method, path.replace('*', id)]),
      },
      { weight: 4, arbitrary: wrongParameter },
      { weight: 2, arbitrary: wrongPath },
      { weight: 1, arbitrary: wrongMethod },
    )
    await fc.assert(
      fc.asyncProperty(request, ([method, path]) => expectRefusal(method, path)),
      { numRuns: requestRuns },
    )
  }, 120_000)
})

/** `String` throws for this value. */
const textless = { toString: 1 }

/** The document with such a value in place of each of its values, one at a time. */
function* withTextless(value: unknown): Generator<unknown> {
  if (typeof value !== 'object' || value === null) return
  for (const [name, member] of Object.entries(value)) {
    for (const changed of [textless, ...withTextless(member)]) {
      yield Array.isArray(value) ? value.with(Number(name), changed) : { ...value, [name]: changed }
    }
  }
}

test.each(['stock-check', 'patient-order', 'ask', 'receive-webhook', 'weekday-mornings', 'chat'])(
  'a value without a text, anywhere in %s.json, is the document’s fault and not the service’s',
  async (sample) => {
    const document = await Bun.file(new URL(`../../../samples/${sample}.json`, import.meta.url)).json()
    for (const [index, changed] of [...withTextless(document)].entries()) {
      const name = (changed as { name: unknown }).name
      const body = { ...(changed as object), name: name === textless ? name : `${sample} ${index}`, id: undefined }
      const saved = await world.call('POST', '/api/workflows', { body })
      expect(saved.status, `${JSON.stringify(body)} → ${saved.text.slice(0, 200)}`).toBeOneOf([201, 400])
      if (saved.status !== 201) continue
      const path = `/api/workflows/${saved.json.id}`
      for (const [method, what] of [
        ['POST', 'deploy'],
        ['GET', 'openapi.json'],
      ] as const) {
        const response = await world.call(method, `${path}/${what}`)
        expect(response.status, `${what} of ${JSON.stringify(body)} → ${response.text.slice(0, 200)}`).toBeLessThan(500)
      }
      await world.call('DELETE', path)
    }
  },
  120_000,
)

function isJson(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

/** Valid values that a generator may produce by accident. */
function isGood(name: string, value: string): boolean {
  switch (name) {
    case 'limit':
      return /^\d+$/.test(value) && Number(value) >= 1 && Number(value) <= 1000
    case 'minDurationMs':
    case 'maxCost':
      return /^\d+(\.\d+)?$/.test(value)
    case 'includeFinalOutput':
      return ['0', '1', 'true', 'false'].includes(value)
    case 'order':
      return ['asc', 'desc'].includes(value)
    default:
      return false
  }
}
