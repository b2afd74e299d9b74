import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { challengeParameter } from '../../../src/credentials/oauth/mcp/challenge.ts'

const quoted = (text: string) => `"${text.replace(/["\\]/g, '\\$&')}"`
const text = fc.string({ unit: fc.constantFrom('a', ' ', ',', '"', '\\', '=', 'scope="x"', 'é') })
const name = fc.constantFrom('realm', 'error', 'resource_metadata', 'Scope')

test('a parameter of a challenge is read as it was written, whatever the others contain', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.tuple(name, text), { selector: ([each]) => each }), (pairs) => {
      const challenge = `Basic, Bearer ${pairs.map(([each, value]) => `${each}=${quoted(value)}`).join(', ')}`
      for (const wanted of ['realm', 'scope', 'resource_metadata']) {
        const written = pairs.find(([each]) => each.toLowerCase() === wanted)?.[1]
        expect(challengeParameter(challenge, wanted)).toBe(written)
      }
    }),
  )
})

test('a parameter without quotes ends at a space or a comma', () => {
  expect(challengeParameter('Bearer error=x,scope=read, realm=a', 'scope')).toBe('read')
  expect(challengeParameter('Bearer', 'scope')).toBeUndefined()
  expect(challengeParameter('Bearer scope="open', 'scope')).toBeUndefined()
})

test('a challenge that matches nothing takes no long time', () => {
  const startedAt = performance.now()
  for (const part of ['scope = "', 'a', '\\', 'scope    ']) challengeParameter(part.repeat(4_000), 'scope')
  expect(performance.now() - startedAt).toBeLessThan(2_000)
})
