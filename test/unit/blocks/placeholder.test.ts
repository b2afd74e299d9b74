import { describe, expect, test } from 'bun:test'
import { registry } from '../../../src/blocks/registry.ts'
import { defaultLimits } from '../../../src/domain/limits.ts'
import { compilePlan } from '../../../src/engine/compile/plan.ts'
import { block, document } from '../../support/make.ts'

describe('a placeholder', () => {
  test('prevents the deployment and says what it needs', () => {
    const params = { needs: 'a knowledge base', original: { type: 'knowledge', query: '<nobody.x> {{UNSET}}' } }
    const placed = document({
      blocks: [block('start', 'api_trigger'), block('it', 'placeholder', params), block('after', 'wait', { ms: 0 })],
      edges: ['start > it', 'it > after', 'it:error > after'],
    })
    const { plan, findings } = compilePlan(placed, registry, defaultLimits)
    expect(plan).toBeUndefined()
    const errors = findings.filter(({ level }) => level === 'error')
    expect(errors).toEqual([
      expect.objectContaining({
        ...{ code: 'PLACEHOLDER', blockId: 'it', blockName: 'it' },
        message: expect.stringContaining('This block needs a knowledge base.'),
      }),
    ])
  })

  test('says the same without a description of what it needs', () => {
    const placed = document({
      blocks: [block('start', 'api_trigger'), block('it', 'placeholder')],
      edges: ['start > it'],
    })
    const { findings } = compilePlan(placed, registry, defaultLimits)
    expect(findings.map(({ code }) => code)).toEqual(['PLACEHOLDER'])
  })
})
