import { describe, expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import { finish, type Slices } from '../../../../src/domain/slices.ts'
import { readDocument } from '../../../../src/domain/workflow/document.ts'
import { compileInSlices, compilePlan } from '../../../../src/engine/compile/plan.ts'
import { secretsIn } from '../../../../src/engine/compile/secret-parameters.ts'
import { compileCode } from '../../../../src/language/code.ts'
import { worstDocuments } from '../../../faults/hostile/documents.ts'
import { block, document } from '../../../support/make.ts'

const start = block('start', 'api_trigger')
const stepMsMax = 100

/** The time of the processor, because a busy machine may interrupt a step for as long as it likes. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage()
  return (user + system) / 1_000
}

function longestStepMs(slices: Slices<unknown>): number {
  let longestMs = 0
  for (let done = false; !done; ) {
    const before = cpuMs()
    done = slices.next().done === true
    longestMs = Math.max(longestMs, cpuMs() - before)
  }
  return longestMs
}

describe('compiling a document within the limits pauses often enough:', () => {
  for (const [name, text] of Object.entries(worstDocuments())) {
    test(name, () => {
      const reading = readDocument(JSON.parse(text))
      if ('details' in reading) throw new Error('The document is not valid.')
      // In one piece, most of these documents take 300 ms to 2 s. The first attempts compile and optimise the code.
      let longestMs = Number.POSITIVE_INFINITY
      for (let attempt = 0; attempt < 4 && longestMs > stepMsMax; attempt += 1) {
        longestMs = Math.min(longestMs, longestStepMs(compileInSlices(reading.document, registry, defaultLimits)))
      }
      expect(longestMs).toBeLessThan(stepMsMax)
    }, 60_000)
  }
})

test('a longer code or expression than allowed is an error at its parameter', () => {
  const long = (chars: number) => `1 ${'+1'.repeat(chars / 2)}`
  const fn = block('fn', 'function', { code: long(100_000) })
  const condition = block('if', 'condition', { conditions: [{ id: 'c', expression: long(20_000) }] })
  const draft = document({ blocks: [start, fn, condition], edges: ['start > fn', 'fn > if'] })
  const findings = compilePlan(draft, registry, defaultLimits).findings.filter(({ code }) => code === 'TOO_LONG')
  expect(findings.map(({ path }) => path)).toEqual([
    'blocks.fn.params.code',
    'blocks.if.params.conditions.0.expression',
  ])
  expect(findings[0]?.message).toContain('MILLRACE_CODE_CHARS_MAX')
  expect(findings[1]?.message).toContain('MILLRACE_EXPRESSION_CHARS_MAX')
})

test('a document with more references than allowed has one error for them', () => {
  const api = block('api', 'api', { url: '<start.input>'.repeat(60_000) })
  const draft = document({ blocks: [start, api], edges: ['start > api'] })
  const { findings } = compilePlan(draft, registry, defaultLimits)
  expect(findings.map(({ code }) => code)).toEqual(['TOO_MANY_REFERENCES'])
  expect(findings[0]?.message).toContain('MILLRACE_DOCUMENT_REFERENCES_MAX')
  const raised = { ...defaultLimits, documentReferencesMax: 60_000 }
  expect(compilePlan(draft, registry, raised).findings).not.toContainEqual(
    expect.objectContaining({ code: 'TOO_MANY_REFERENCES' }),
  )
})

// With a search that takes n² steps, none of these tests would end within its time.

test('code with a long row of backslashes in front of a reference is compiled', () => {
  expect(finish(compileCode(`return '${'\\'.repeat(1_000_000)}x<a.b>'`, () => true)).ok).toBe(true)
})

test('a credential of megabytes of spaces is read', () => {
  const place = { block: start, path: '', key: '', label: 'token', isLiteral: true }
  expect(secretsIn(`Bearer ${' '.repeat(2_000_000)}\n\n`, place).map(({ value }) => value)).toEqual(['Bearer'])
  expect(secretsIn('Bearer  abc ', place).map(({ value }) => value)).toEqual(['Bearer  abc', 'abc'])
})
