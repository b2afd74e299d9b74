import { describe, expect, test } from 'bun:test'
import { registry } from '../../../../src/blocks/registry.ts'
import { BuiltIn } from '../../../../src/connectors/built-in.ts'
import type { Connector } from '../../../../src/domain/connector/connector.ts'
import { operationFindings } from '../../../../src/domain/connector/findings.ts'
import { defaultLimits } from '../../../../src/domain/limits.ts'
import type { WorkflowDocument } from '../../../../src/domain/workflow/workflow.ts'
import { compilePlan } from '../../../../src/engine/compile/plan.ts'
import { importSim } from '../../../../src/sim/import/import-sim.ts'
import { services } from '../../../../src/sim/services/services.ts'
import { simBlock, simFile } from '../../../support/sim/files.ts'
import { lossesOf } from '../../../support/sim/losses.ts'
import { inputsOf, sampleFor } from '../../../support/sim/rule-inputs.ts'

describe('every operation of every service', () => {
  test('can be deployed after the import, and loses nothing, when all its settings are filled in', async () => {
    await forEveryOperation((schema, word) => sampleFor(schema, word))
  }, 60_000)

  test('can be deployed when its settings are references', async () => {
    await forEveryOperation(() => '<start.topic>')
  }, 60_000)
})

const connectors = new Map((await new BuiltIn().list()).map((connector) => [connector.id, connector]))

async function forEveryOperation(valueFor: (schema: Parameters<typeof sampleFor>[0], word: () => string) => unknown) {
  const problems: string[] = []
  for (const rules of services) {
    for (const [operation, rule] of Object.entries(rules.operations)) {
      let count = 0
      const word = () => {
        count += 1
        return `word${count}`
      }
      const inputs = inputsOf(rule, connectors.get(rules.connector))
      const values = Object.fromEntries(inputs.map(({ id, schema }) => [id, valueFor(schema, word)]))
      for (const type of rules.types) {
        const file = simFile(
          [
            simBlock('start', 'start_trigger', { inputFormat: [{ name: 'topic', type: 'string' }] }, { name: 'Start' }),
            simBlock('it', type, { ...values, operation }, { name: 'It' }),
          ],
          ['start > it'],
        )
        const result = importSim(file)
        if ('details' in result) throw new Error(JSON.stringify(result.details))
        if (result.placeholders.length > 0) continue
        const found = [...errorsIn(result.document, connectors), ...lossesOf(file, result.document, result.notes)]
        problems.push(...found.map((problem) => `${type} ${operation}: ${problem}`))
      }
    }
  }
  expect(problems).toEqual([])
}

function errorsIn(document: WorkflowDocument, known: ReadonlyMap<string, Connector>): string[] {
  const { findings } = compilePlan(document, registry, defaultLimits)
  return [...findings, ...operationFindings(document, known)]
    .filter(({ level }) => level === 'error')
    .map(({ path, code, message }) => `${path}: ${code}: ${message}`)
}
