import { describe, expect, test } from 'bun:test'
import { personalDataNames } from '../../../src/blocks/guardrails/personal-data.ts'
import { importSim, type SimImport } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'
import { lossesOf } from '../../support/sim/losses.ts'

function imported(...blocks: Record<string, unknown>[]): SimImport {
  const file = simFile(blocks, blocks.length > 1 ? ['it > next'] : [])
  const result = importSim(file)
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  expect(lossesOf(file, result.document, result.notes)).toEqual([])
  return result
}

const paramsOf = (type: string, values: Record<string, unknown>) =>
  imported(simBlock('it', type, values)).document.blocks['it']?.params

describe('an evaluator of Sim', () => {
  test('keeps its metrics, and references to their scores', () => {
    const metrics = [{ id: 'm', name: 'Clarity', description: 'How clear', range: { min: 1, max: 5 } }]
    const { document } = imported(
      simBlock(
        'it',
        'evaluator',
        { content: 'Some text', metrics, model: 'gpt-4o', apiKey: '{{KEY}}' },
        { name: 'It' },
      ),
      simBlock('next', 'function', { code: 'return <it.clarity>' }),
    )
    expect(document.blocks['it']?.params).toMatchObject({
      content: 'Some text',
      metrics: [{ name: 'Clarity', description: 'How clear', range: { min: 1, max: 5 } }],
      ...{ provider: 'openai', model: 'gpt-4o', apiKey: '{{KEY}}' },
    })
    expect(document.blocks['next']?.params?.['code']).toBe('return <it.Clarity>')
  })
})

describe('a guardrails block of Sim', () => {
  test('checks JSON and patterns as before', () => {
    expect(paramsOf('guardrails', { input: 'text', validationType: 'json' })).toEqual({
      input: 'text',
      checks: ['json'],
    })
    expect(paramsOf('guardrails', { input: 'text', validationType: 'regex', regex: '^a+$' })).toEqual({
      ...{ input: 'text', checks: ['regex'], regex: '^a+$' },
    })
  })

  test('looks for every kind of personal data that our block recognizes', () => {
    const values = { input: 'text', validationType: 'pii', piiMode: 'mask', piiEntityTypes: [...personalDataNames] }
    expect(paramsOf('guardrails', values)).toEqual({
      ...{ input: 'text', checks: ['pii'], piiMode: 'mask', piiEntityTypes: [...personalDataNames] },
    })
  })

  test('says which kinds of personal data it no longer looks for', () => {
    const values = { input: 'text', validationType: 'pii', piiEntityTypes: ['PERSON', 'EMAIL_ADDRESS', 'LOCATION'] }
    const { document, notes } = imported(simBlock('it', 'guardrails', values))
    expect(document.blocks['it']?.params).toMatchObject({ piiMode: 'block', piiEntityTypes: ['EMAIL_ADDRESS'] })
    expect(notes.join(' ')).toContain('PERSON, LOCATION')
  })

  test('becomes a placeholder when it recognizes none of the kinds', () => {
    const values = { input: 'text', validationType: 'pii', piiEntityTypes: ['PERSON', 'LOCATION'] }
    const { placeholders } = imported(simBlock('it', 'guardrails', values))
    expect(placeholders).toEqual([expect.objectContaining({ needs: 'a check for PERSON, LOCATION' })])
  })

  test('becomes a placeholder when it needs a knowledge base', () => {
    const { placeholders } = imported(
      simBlock('it', 'guardrails', { input: 'text', validationType: 'hallucination', knowledgeBaseId: 'kb_1' }),
    )
    expect(placeholders).toEqual([expect.objectContaining({ needs: 'a knowledge base' })])
  })
})
