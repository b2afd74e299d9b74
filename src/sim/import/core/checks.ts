import { isObject } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock, Mapping } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { objectsOf } from './agent-tools.ts'
import { modelParametersOf } from './models.ts'

export function mapEvaluator({ values }: BlockToMap): MappedBlock {
  const { params, notes } = modelParametersOf(values)
  const metrics = objectsOf(values.json('metrics')).flatMap(({ name, description, range }) => {
    const called = textOf(name).slice(0, 100)
    if (called === '') return []
    const { min, max } = isObject(range) ? range : {}
    return [
      {
        name: called,
        ...(textOf(description) === '' ? {} : { description: textOf(description) }),
        range: { min: Number(textOf(min) || 0), max: Number(textOf(max) || 10) },
      },
    ]
  })
  const byName = new Map(metrics.map(({ name }) => [name.toLowerCase(), name]))
  const content = values.take('content')
  return {
    type: 'evaluator',
    params: { ...params, content: content ?? '', metrics },
    notes,
    // In Sim, the outputs have the names of the metrics in lower case.
    output: (path) => {
      const name = byName.get(String(path[0]).toLowerCase())
      return name === undefined ? path : [name, ...path.slice(1)]
    },
  }
}

/** In Sim, the block makes one check. The check for hallucinations compares the text with a knowledge base. */
export function mapGuardrails({ values }: BlockToMap): Mapping {
  const check = values.text('validationType') ?? 'json'
  const input = values.take('input') ?? ''
  if (check === 'json') return { type: 'guardrails', params: { input, checks: ['json'] } }
  if (check === 'regex') {
    return { type: 'guardrails', params: { input, checks: ['regex'], regex: values.text('regex') ?? '' } }
  }
  if (check === 'pii') return personalDataCheck(input, values)
  return { needs: check === 'hallucination' ? 'a knowledge base' : `a check of the kind "${check}"` }
}

function personalDataCheck(input: unknown, values: SimValues): Mapping {
  const wanted = values.json('piiEntityTypes')
  const kinds = Array.isArray(wanted) ? wanted.filter((kind) => typeof kind === 'string') : []
  const known = kinds.filter((kind) => recognized.has(kind))
  const others = kinds.filter((kind) => !recognized.has(kind))
  if (known.length === 0 && others.length > 0) return { needs: `a check for ${others.join(', ')}` }
  const lost =
    others.length === 0 ? [] : [`The block no longer looks for these kinds of personal data: ${others.join(', ')}.`]
  return {
    type: 'guardrails',
    params: {
      ...{ input, checks: ['pii'], piiMode: values.text('piiMode') === 'mask' ? 'mask' : 'block' },
      ...(known.length === 0 ? {} : { piiEntityTypes: known }),
    },
    notes: lost,
    ...(others.length === 0 ? {} : { kept: { piiEntityTypes: wanted } }),
  }
}

/** The kinds of personal data that our block recognizes. Both products use the same names. */
const recognized = new Set([
  ...['URL', 'EMAIL_ADDRESS', 'IBAN_CODE', 'CREDIT_CARD', 'CRYPTO', 'IP_ADDRESS', 'US_SSN', 'US_ITIN', 'UK_NINO'],
  ...['UK_NHS', 'ES_NIF', 'ES_NIE', 'IT_FISCAL_CODE', 'PL_PESEL', 'IN_PAN', 'PHONE_NUMBER'],
])
