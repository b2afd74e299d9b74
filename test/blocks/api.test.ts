import { describe, expect, test } from 'bun:test'
import { api } from '../../src/blocks/api.ts'
import { defaultLimits } from '../../src/domain/limits.ts'

const nothingElse = { limits: defaultLimits, variables: new Set<string>() }

describe('the check at deployment', () => {
  const check = (params: Record<string, unknown>) =>
    (api.check?.(params, nothingElse, params) ?? []).map(({ level, path }) => `${level} ${path}`)

  test('finds a URL that can never be called, and path parameters without a place', () => {
    expect(check({ url: 'https://x.example/:id/{name}', pathParams: { id: 1, name: 2 } })).toEqual([])
    expect(check({})).toEqual([])
    for (const url of ['', 'x.example', 'ftp://x', 'https://', 'https:///x'])
      expect(check({ url })).toEqual(['error url'])
    expect(check({ url: 'http://x/', pathParams: { id: 1 } })).toEqual(['warning pathParams.id'])
  })
})

describe('how the body is read', () => {
  const mode = (params: Record<string, unknown>) => {
    const of = api.modes?.['body']
    return typeof of === 'function' ? of(params) : of
  }

  test('is as JSON where JSON is sent, and as text where it is not', () => {
    expect(mode({ method: 'POST', body: '{"a":' })).toBe('json')
    expect(mode({ method: 'PUT', bodyType: 'json', body: {} })).toBe('json')
    expect(mode({ method: '{{METHOD}}', body: '{}' })).toBe('json')
    for (const params of [
      { method: 'POST', bodyType: 'text' },
      { method: 'POST', bodyType: 'form' },
      {},
      { method: 'DELETE' },
    ])
      expect(mode({ body: 'no json', ...params })).toBe('template')
    expect(mode({ method: 'POST', body: '  ' })).toBe('template')
  })
})
