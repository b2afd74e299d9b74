import { isObject } from '../../../domain/run/input.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import { parseJson, type SimValues } from '../sim-values.ts'

export function mapApi({ values }: BlockToMap): MappedBlock {
  const params = apiRequestOf(values)
  const isWithoutUrl = params['url'] === undefined
  return {
    type: 'api',
    params: { ...params, ...(isWithoutUrl ? { url: '' } : {}) },
    notes: isWithoutUrl ? ['The file has no URL for this block. Enter one.'] : [],
  }
}

/** The parameters of an API block. Sim sends each request once, unless its author says otherwise. */
export function apiRequestOf(values: SimValues): Record<string, unknown> {
  const params: Record<string, unknown> = { retries: 0 }
  const url = values.text('url')
  if (url !== undefined) params['url'] = url
  const method = values.text('method')
  if (method !== undefined) params['method'] = method.toUpperCase()
  for (const name of ['params', 'headers'] as const) {
    const rows = rowsOf(values.peek(name))
    if (!rows) continue
    values.take(name)
    if (rows.length > 0) params[name] = rows
  }
  const pathParams = rowsOf(values.peek('pathParams'))
  if (pathParams && pathParams.length > 0) {
    values.take('pathParams')
    params['pathParams'] = Object.fromEntries(pathParams.map(({ key, value }) => [key, value]))
  }
  const body = values.take('body')
  if (body !== undefined) params['body'] = body
  const type = typeOf(params['headers'] as Row[] | undefined, body)
  if (type !== undefined) params['bodyType'] = type
  const timeoutMs = values.number('timeout')
  if (timeoutMs !== undefined && timeoutMs >= 1) params['timeoutMs'] = Math.round(timeoutMs)
  return params
}

/** The body type of text that cannot be JSON, and of forms. Undefined for JSON, the default. */
function typeOf(headers: readonly Row[] | undefined, body: unknown): string | undefined {
  const type = headers?.find(({ key }) => key.toLowerCase() === 'content-type')?.value
  if (typeof type === 'string' && /^\s*application\/x-www-form-urlencoded/i.test(type)) {
    return isObject(body) || (typeof body === 'string' && isObject(parseJson(body))) ? 'form' : 'text'
  }
  if (typeof body !== 'string' || body.trim() === '') return undefined
  return /^\s*(?:[[{"<]|-?\d|true|false|null)/.test(body) ? undefined : 'text'
}

export type Row = { key: string; value?: unknown }

/** The rows of a table: `{ cells: { Key, Value } }`, `{ key, value }`, or an object. Rows without a key are empty. */
export function rowsOf(value: unknown): Row[] | undefined {
  const table = typeof value === 'string' ? parseJson(value) : value
  if (isObject(table)) return Object.entries(table).map(([key, each]) => ({ key, value: each }))
  if (!Array.isArray(table)) return undefined
  return table.filter(isObject).flatMap((row): Row[] => {
    const cells = isObject(row['cells']) ? row['cells'] : row
    const key = textOf(cells['Key'] ?? cells['key'] ?? cells['name'])
    const found = cells['Value'] ?? cells['value']
    if (key === '' && (found === undefined || found === null || found === '')) return []
    return [found === undefined || found === null ? { key } : { key, value: found }]
  })
}
