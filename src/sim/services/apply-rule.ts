import type { BlockToMap, Mapping, WantedCredential } from '../import/mapping.ts'
import { SimValues } from '../import/sim-values.ts'
import { objectOf, textOf } from '../sim-document.ts'
import { credentialFor } from './credentials.ts'
import { valuesInMode } from './input-mode.ts'
import { keptOf } from './kept.ts'
import { outputsBy } from './outputs.ts'
import { readAll } from './read.ts'
import type { OperationRule, RequestRule, ServiceRules } from './rule.ts'

/** A call of a service: the parameters of an `operation` or `api` block, and the notes for the report. */
export type Call = {
  type: 'operation' | 'api'
  params: Record<string, unknown>
  rule: OperationRule | RequestRule
  credentials: WantedCredential[]
  notes: string[]
}

/** Sub-blocks that only Sim's editor uses. */
const editorOnly = ['operation', 'authMethod', 'destinationType', 'messageFormat', 'inputMethod', 'triggerConfig']

/** The call that a block or a tool makes, or the reason why we cannot make it. */
export function callOf(rules: ServiceRules, values: SimValues, chosen?: string): Call | { needs: string } {
  const operation = chosen || textOf(values.peek('operation')) || rules.usual
  const key = rules.choose?.(operation, values) ?? operation
  const rule = Object.hasOwn(rules.operations, key) ? rules.operations[key] : undefined
  if (!rule)
    return { needs: `an operation of ${rules.service} that does the same as Sim's "${operation.slice(0, 100)}"` }
  const needs = rule.needs?.(values)
  if (needs !== undefined) return { needs }
  const wanted = credentialFor(rules, values)
  const credential = wanted ? { credential: wanted.credential.name } : {}
  const params =
    'operation' in rule
      ? { connector: rules.connector, operation: rule.operation, ...credential, ...operationParams(rule, values) }
      : { ...requestParams(rule, values), ...credential }
  values.drop(...editorOnly, ...(rules.drop ?? []))
  return {
    type: 'operation' in rule ? 'operation' : 'api',
    params,
    rule,
    credentials: wanted ? [wanted.credential] : [],
    notes: [...(rule.notes ?? []), ...(wanted?.notes ?? [])],
  }
}

/** Maps a block of a service. */
export function mapByRules(rules: ServiceRules, { block, values: all }: BlockToMap): Mapping {
  const used = valuesInMode(block.values, objectOf(block.data['canonicalModes']), '')
  const values = used.size === block.values.size ? all : new SimValues(used)
  const call = callOf(rules, values)
  if ('needs' in call) return call
  const { type, params, rule, credentials, notes } = call
  const kept = keptOf(block.values, values, params, rules.credential?.secrets ?? [])
  const left = new Set(values.rest().map(([id]) => id))
  all.drop(...[...block.values.keys()].filter((id) => !left.has(id)))
  return { type, params, output: outputsBy(rule.outputs ?? {}), credentials, notes, kept }
}

function operationParams(rule: OperationRule, values: SimValues): Record<string, unknown> {
  const params = readAll(rule.params ?? {}, values)
  const most = rule.maxItems?.(values)
  // A text with references cannot be a limit.
  const maxItems = Number.isInteger(most) && (most as number) > 0 ? Math.min(most as number, 100_000) : undefined
  return { params, ...(maxItems === undefined ? {} : { pagination: { maxItems } }) }
}

function requestParams(rule: RequestRule, values: SimValues): Record<string, unknown> {
  const { method, url, path = {}, query = {}, headers = {}, body } = rule
  // A list repeats its parameter.
  const queryValues = Object.entries(readAll(query, values)).flatMap(([key, value]) =>
    (Array.isArray(value) ? (value as unknown[]) : [value]).map((each) => ({ key, value: each })),
  )
  const pathValues = readAll(path, values)
  return {
    url: typeof url === 'string' ? url : url(values),
    method,
    ...(queryValues.length > 0 ? { params: queryValues } : {}),
    ...(Object.keys(headers).length > 0
      ? { headers: Object.entries(headers).map(([key, value]) => ({ key, value })) }
      : {}),
    ...(Object.keys(pathValues).length > 0 ? { pathParams: pathValues } : {}),
    ...(body ? { body: readAll(body, values) } : {}),
  }
}
