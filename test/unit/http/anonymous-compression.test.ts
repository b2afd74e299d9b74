import { expect, test } from 'bun:test'
import { zstdCompressSync } from 'node:zlib'
import { Garbage } from '../../../src/assembly/garbage.ts'
import { bodiesOf } from '../../../src/assembly/limits/body-limits.ts'
import { resolveConfig } from '../../../src/config.ts'
import { systemClock } from '../../../src/domain/clock.ts'
import { readJsonBody } from '../../../src/http/requests/body.ts'

const bodies = bodiesOf(resolveConfig({}).config, systemClock, new Garbage(systemClock, () => {}))
const dense = zstdCompressSync(JSON.stringify(Array(15_000).fill('the same text again and again')))

function sent(): Request {
  return new Request('http://localhost/', { method: 'POST', headers: { 'content-encoding': 'zstd' }, body: dense })
}

test('a sender without a credential cannot make a megabyte out of a few bytes', async () => {
  const refused = await readJsonBody(sent(), bodies.anonymousBody).catch((error: unknown) => error)
  expect(refused).toMatchObject({ code: 'PAYLOAD_TOO_LARGE' })
  expect(String(refused)).toContain('MILLRACE_BODY_RATIO_MAX')
  expect(await readJsonBody(sent(), bodies.body)).toHaveLength(15_000)
})
