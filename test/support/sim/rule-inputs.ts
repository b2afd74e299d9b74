import { type Connector, ownParameters, type ValueSchema } from '../../../src/domain/connector/connector.ts'
import { SimValues } from '../../../src/sim/import/sim-values.ts'
import type { Read } from '../../../src/sim/services/read.ts'
import type { OperationRule, RequestRule } from '../../../src/sim/services/rule.ts'

/** A sub-block that a rule reads, with the schema of the parameter that it becomes. */
export type RuleInput = { id: string; schema: ValueSchema }

/** The sub-blocks that a rule reads. It finds them by reading from a block without values. */
export function inputsOf(rule: OperationRule | RequestRule, connector?: Connector): RuleInput[] {
  const operation = 'operation' in rule ? connector?.operations[rule.operation] : undefined
  const schemas = new Map(operation ? ownParameters(operation) : [])
  const reads: [ValueSchema, Read][] =
    'operation' in rule
      ? Object.entries(rule.params ?? {}).map(([name, read]) => [schemas.get(name) ?? {}, read])
      : [rule.path, rule.query, rule.body].flatMap((members) =>
          Object.values(members ?? {}).map((read): [ValueSchema, Read] => [{ type: 'string' }, read]),
        )
  const inputs = reads.flatMap(([schema, read]) => idsRead(read).map((id) => ({ id, schema })))
  const settings = new Set(['destinationType', 'contentType', 'messageFormat', 'operation'])
  const seen = new Set<string>()
  return inputs.filter(({ id }) => !settings.has(id) && !seen.has(id) && seen.add(id))
}

function idsRead(read: Read): string[] {
  const ids: string[] = []
  class Recorder extends SimValues {
    override peek(id: string): unknown {
      ids.push(id)
      return undefined
    }
    override take(id: string): unknown {
      ids.push(id)
      return undefined
    }
  }
  read(new Recorder(new Map()))
  return ids
}

/** A value that fits a schema, as Sim keeps it: texts, and JSON as text. `word`: makes a text that is unique. */
export function sampleFor(schema: ValueSchema, word: () => string): unknown {
  const value = sample(schema, word)
  return typeof value === 'object' && value !== null ? JSON.stringify(value) : String(value)
}

function sample(schema: ValueSchema, word: () => string): unknown {
  if (schema.enum) return schema.enum[0]
  switch (schema.type) {
    case 'integer':
    case 'number':
      return Math.min(schema.maximum ?? 7, 7)
    case 'boolean':
      return true
    case 'array':
      return [sample(schema.items ?? { type: 'string' }, word)]
    case 'object':
      return objectSample(schema, word)
    default:
      return word()
  }
}

function objectSample(schema: ValueSchema, word: () => string): Record<string, unknown> {
  const required = schema.required ?? []
  const members = Object.entries(schema.properties ?? {}).filter(([name]) => required.includes(name))
  const own = Object.fromEntries(members.map(([name, inner]) => [name, sample(inner, word)]))
  return members.length > 0 ? own : { [word()]: word() }
}
