import type { Attack } from '../attacks.ts'
import type { Target } from '../target.ts'

/** Entries of the store: many, large, deep, with long keys, and one that everybody changes. */
export function entryAttacks({ url, apiKey, workspaceId }: Target): Attack[] {
  const base = `${url}/api/workspaces/${workspaceId}/store`
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' }
  const put = (key: string, value: string) => ({
    ...{ url: `${base}/${encodeURIComponent(key)}`, method: 'PUT', headers },
    bytes: Buffer.from(`{"value":${value}}`),
  })
  const get = (query: string) => ({ url: `${base}${query}`, method: 'GET', headers })
  const large = JSON.stringify('x'.repeat(260_000))
  const deep = `${'['.repeat(190)}1${']'.repeat(190)}`
  const prefix = encodeURIComponent('\u{10ffff}'.repeat(120))
  return [
    {
      name: 'entries: many keys',
      requests: Array.from({ length: 500 }, (_, at) => put(`many/${at}`, '1')),
      atOnce: 50,
    },
    { name: 'entries: one hot key', requests: Array(200).fill(put('hot', '1')), atOnce: 100 },
    {
      name: 'entries: large values',
      requests: Array.from({ length: 40 }, (_, at) => put(`large/${at}`, large)),
      atOnce: 20,
    },
    { name: 'entries: too many values', requests: Array(10).fill(put('wide', `[${'1,'.repeat(120_000)}1]`)) },
    { name: 'entries: deep values', requests: Array(20).fill(put('deep', deep)) },
    {
      name: 'entries: values that are too deep',
      requests: [put('deep', `${'['.repeat(100_000)}${']'.repeat(100_000)}`)],
    },
    { name: 'entries: long prefixes', requests: Array(50).fill(get(`?prefix=${prefix}`)), atOnce: 25 },
    { name: 'entries: pages of large values', requests: Array(20).fill(get('?prefix=large/&limit=1000')), atOnce: 10 },
    { name: 'entries: exports', requests: Array(8).fill(get('/export')), atOnce: 8 },
  ]
}
