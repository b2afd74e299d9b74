import { isObject } from '../../domain/run/input.ts'
import type { SimTool } from '../sim-document.ts'
import type { Call } from './apply-rule.ts'
import type { RequestRule, ServiceRules } from './rule.ts'

/**
 * A request as a tool of an agent. The model fills in the members that the request needs and the author has left empty,
 * as texts, or as lists of texts for names in the plural.
 */
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
    properties[name] = lists.has(name) ? { type: 'array', items: { type: 'string' } } : { type: 'string' }
    const argument = `<args.${name}>`
    if (Object.hasOwn(path, name)) given.path = { ...given.path, [name]: argument }
    else if (Object.hasOwn(query, name)) given.query = [...given.query, { key: name, value: argument }]
    else if (name === 'messages') {
      properties[name] = { type: 'array', items: { type: 'object' }, description: 'Messages with role and content.' }
      given.body = { ...given.body, [name]: argument }
    } else given.body = { ...given.body, [name]: argument }
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

const lists: ReadonlySet<string> = new Set(['urls', 'to', 'labels', 'assignees', 'ids'])
