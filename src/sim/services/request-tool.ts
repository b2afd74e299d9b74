import { isObject } from '../../domain/run/input.ts'
import type { SimTool } from '../sim-document.ts'
import type { Call } from './apply-rule.ts'
import type { RequestRule, ServiceRules } from './rule.ts'

/** A request as a tool of an agent. The model fills in the required members that the author has left empty. */
export function requestTool(rules: ServiceRules, call: Call, tool: SimTool): Record<string, unknown> {
  const { path = {}, query = {}, asks = Object.keys(path) } = call.rule as RequestRule
  const { params } = call
  const given = {
    path: isObject(params['pathParams']) ? params['pathParams'] : {},
    query: Array.isArray(params['params']) ? (params['params'] as { key: string; value: unknown }[]) : [],
    body: isObject(params['body']) ? params['body'] : {},
  }
  const properties: Record<string, unknown> = {}
  for (const name of asks) {
    const isGiven = name in given.path || name in given.body || given.query.some(({ key }) => key === name)
    if (isGiven) continue
    const argument = `<args.${name}>`
    properties[name] = { type: 'string' }
    if (Object.hasOwn(path, name)) given.path = { ...given.path, [name]: argument }
    else if (Object.hasOwn(query, name)) given.query = [...given.query, { key: name, value: argument }]
    else {
      properties[name] = schemas[name] ?? { type: 'string' }
      given.body = { ...given.body, [name]: argument }
    }
  }
  return {
    type: 'api',
    description: `${rules.service}: ${tool.operation ?? rules.usual}`,
    parameters: { type: 'object', properties, required: Object.keys(properties) },
    params: {
      ...params,
      ...(Object.keys(given.path).length > 0 ? { pathParams: given.path } : {}),
      ...(given.query.length > 0 ? { params: given.query } : {}),
      ...(params['method'] === 'GET' ? {} : { body: given.body }),
    },
  }
}

const texts = { type: 'array', items: { type: 'string' } }

/** The members of bodies that are not text. */
const schemas: Readonly<Record<string, unknown>> = {
  ...{ urls: texts, to: texts, labels: texts, assignees: texts, ids: texts },
  messages: { type: 'array', items: { type: 'object' }, description: 'Messages with role and content.' },
}
