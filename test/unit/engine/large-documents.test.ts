import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import type { Block, WorkflowDocument } from '../../../src/domain/workflow/workflow.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { planPartial } from '../../../src/engine/manual/partial-plan.ts'
import { reachablePart } from '../../../src/engine/manual/reachable-part.ts'
import { boundedFindings } from '../../../src/http/responses/findings.ts'
import { findingsError } from '../../../src/http/responses/findings-error.ts'
import { block, document } from '../../support/make.ts'

// With an algorithm that takes n² steps, none of these tests would end within its time.

const start = block('start', 'api_trigger')
const waits = (count: number) => Array.from({ length: count }, (_, at) => block(`w${at}`, 'wait', { ms: 1 }))
const check = (draft: WorkflowDocument) => compilePlan(draft, registry, defaultLimits)
const codesOf = (draft: WorkflowDocument) => {
  const counts = new Map<string, number>()
  for (const { code } of check(draft).findings) counts.set(code, (counts.get(code) ?? 0) + 1)
  return Object.fromEntries(counts)
}

describe('a large document', () => {
  test('with 50,000 blocks behind a cycle has a finding that names only the cycle', () => {
    const chain = waits(50_000)
    const edges = chain.slice(1).map(({ id }, at) => `${chain[at]?.id} > ${id}`)
    const draft = document({ blocks: [start, ...chain], edges: ['start > w0', 'w3 > w1', ...edges] })
    const { findings } = check(draft)
    expect(findings.map(({ message }) => message)).toEqual([
      'These blocks form a cycle: "w1", "w2", "w3". To repeat blocks, put them into a loop.',
    ])
  })

  test('with a cycle of 50,000 blocks has a short finding', () => {
    const chain = waits(50_000)
    const edges = chain.map(({ id }, at) => `${id} > w${(at + 1) % chain.length}`)
    const cycle = check(document({ blocks: [start, ...chain], edges })).findings.find(({ code }) => code === 'CYCLE')
    expect(cycle?.message).toContain('"w19" and 49980 more. To repeat')
  })

  test('with 2,000 containers inside one another has a finding for each one that is too deep', () => {
    const loops = Array.from({ length: 2_000 }, (_, at): Block => {
      return block(`l${at}`, 'loop', {}, { parentId: at === 0 ? null : `l${at - 1}` })
    })
    const inner = block('inner', 'wait', { ms: 1 }, { parentId: 'l1999' })
    const entries = loops.map(({ id }) => [id, { loopType: 'for' as const, iterations: 1 }])
    const draft = document({ blocks: [start, ...loops, inner], loops: Object.fromEntries(entries) })
    expect(codesOf(draft)['NESTED_TOO_DEEP']).toBe(1_990)
    const { findings } = check(draft)
    expect(reachablePart(draft, findings, { only: 'inner' }, registry)).toBeUndefined()
    expect(reachablePart(draft, findings, { trigger: undefined, through: [] }, registry)?.standIns.size).toBe(2_001)
  })

  test('with containers that form a cycle has a finding for each block in it and inside it', () => {
    const [a, b, c] = [block('a', 'loop'), block('b', 'loop'), block('c', 'wait', { ms: 1 })]
    const blocks = [start, { ...a, parentId: 'b' }, { ...b, parentId: 'a' }, { ...c, parentId: 'b' }]
    const loops = { a: { loopType: 'for' as const }, b: { loopType: 'for' as const } }
    expect(codesOf(document({ blocks, loops }))['CONTAINER_CYCLE']).toBe(3)
  })

  test('with 20,000 edges from a block with 5,000 handles lists 20 of them in a finding', () => {
    const conditions = Array.from({ length: 5_000 }, (_, at) => ({ id: `c${at}`, expression: 'true' }))
    const edges = Array.from({ length: 20_000 }, (_, at) => `many:condition-x${at} > w0`)
    const draft = document({ blocks: [start, block('many', 'condition', { conditions }), ...waits(1)], edges })
    const unknown = check(draft).findings.filter(({ code }) => code === 'UNKNOWN_HANDLE')
    expect(unknown.length).toBe(20_000)
    expect(unknown[0]?.message).toEndWith('condition-c19 and 4981 more.')
  })

  test('runs until a block at the end of a chain whose blocks are listed in reverse', () => {
    const chain = waits(20_000)
    const edges = chain.slice(1).map(({ id }, at) => `${chain[at]?.id} > ${id}`)
    const { plan } = check(document({ blocks: [...chain.toReversed(), start], edges: ['start > w0', ...edges] }))
    expect(plan && planPartial(plan, { until: 'w19999' }, undefined).within?.size).toBe(20_001)
  })

  test('whose JSON body contains the mark of references is compiled', async () => {
    const body = `{"a":"${'\u{e000}'.repeat(200_000)}<start.input.x>"}`
    const api = block('api', 'api', { url: 'http://example.com', method: 'POST', body })
    expect(codesOf(document({ blocks: [start, api], edges: ['start > api'] }))).toEqual({})
  })
})

describe('findings in a response', () => {
  const finding = (at: number, level: 'error' | 'warning', message = 'Wrong.') => {
    return { level, code: 'X', path: `edges.${at}`, blockId: null, blockName: null, message }
  }

  test('stay as they are up to 100', () => {
    const few = [finding(0, 'warning'), finding(1, 'error')]
    expect(boundedFindings(few)).toEqual(few)
    expect(boundedFindings(Array.from({ length: 100 }, (_, at) => finding(at, 'error')))).toHaveLength(100)
  })

  test('begin with the errors when there are more, and end with the number of the others', () => {
    const many = [...Array.from({ length: 5_000 }, (_, at) => finding(at, 'warning')), finding(5_000, 'error')]
    const shown = boundedFindings(many)
    expect(shown).toHaveLength(100)
    expect(shown[0]).toMatchObject({ level: 'error', path: 'edges.5000' })
    expect(shown.at(-1)).toMatchObject({ level: 'warning', code: 'MORE_FINDINGS', message: 'And 4902 more.' })
    const errors = boundedFindings(Array.from({ length: 101 }, (_, at) => finding(at, 'error')))
    expect(errors.at(-1)).toMatchObject({ level: 'error', message: 'And 2 more.' })
  })

  test('take at most 64 kB, whatever the texts in them', () => {
    const long = Array.from({ length: 300 }, (_, at) => ({
      ...finding(at, 'error', '\u0000'.repeat(1_000_000)),
      path: 'ä'.repeat(1_000_000),
    }))
    const shown = boundedFindings(long)
    expect(JSON.stringify(shown).length).toBeLessThan(64_000)
    expect(shown.at(-1)?.message).toBe(`And ${301 - shown.length} more.`)
    expect(JSON.stringify(boundedFindings(long.slice(0, 50))).length).toBeLessThan(64_000)
  })

  test('become at most 20 details of an error, of which the last one counts the others', () => {
    const many = Array.from({ length: 1_000 }, (_, at) => finding(at, at === 999 ? 'error' : 'warning'))
    const { details, message } = findingsError(many, 'deployed')
    expect(details).toHaveLength(20)
    expect(details?.[0]).toEqual({ path: 'edges.999', message: 'Wrong.' })
    expect(details?.at(-1)).toEqual({ path: '', message: 'And 981 more.' })
    expect(message).toBe('The workflow cannot be deployed: Wrong.')
    expect(findingsError(many.slice(-20), 'run').details).toHaveLength(20)
  })
})
