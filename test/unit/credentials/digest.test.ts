import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { digestAuthorization, digestChallengeOf } from '../../../src/credentials/digest.ts'

const use = (header: string, more: object = {}) => {
  const challenge = digestChallengeOf(header)!
  return digestAuthorization({
    ...{ challenge, username: 'Mufasa', password: 'Circle of Life', method: 'GET', uri: '/dir/index.html', count: 1 },
    ...{ clientNonce: 'f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ', ...more },
  })
}

// The examples of RFC 7616.
const both =
  'Digest realm="http-auth@example.org", qop="auth, auth-int", algorithm=MD5, ' +
  'nonce="7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v", opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS"'

test('the examples of the standard give its responses', () => {
  expect(use(both)).toContain('response="8ca523f5e9506fed4657c9700eebdbec"')
  expect(use(both.replace('MD5', 'SHA-256'))).toContain(
    'response="753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"',
  )
  expect(use(both)).toContain('opaque="FQhe/qaU925kfnzjCev0ciny7QMkPqMAFRtzCUYo5tdS", qop=auth, nc=00000001')
})

test('the strongest of several challenges is answered, and one that cannot be is left out', () => {
  const strong = both.replace('MD5', 'SHA-256')
  expect(digestChallengeOf(`Basic realm="x", ${both}, ${strong}`)?.algorithm).toBe('SHA-256')
  expect(digestChallengeOf(`${strong}, ${both}`)?.algorithm).toBe('SHA-256')
  for (const header of ['', 'Basic realm="x"', 'Digest realm="x"', `Digest realm="x", nonce="y", qop="auth-int"`]) {
    expect(digestChallengeOf(header)).toBeUndefined()
  }
  expect(digestChallengeOf('Digest realm="x", nonce="y", algorithm=SHA-512-256')).toBeUndefined()
  expect(digestChallengeOf('Digest realm="x", nonce="y"')).toMatchObject({ algorithm: 'MD5', qop: undefined })
})

test('any realm and nonce survive their quotes', () => {
  const text = fc.stringMatching(/^[ -~]{0,40}$/)
  fc.assert(
    fc.property(text, text, (realm, nonce) => {
      const quoted = (part: string) => `"${part.replace(/["\\]/g, '\\$&')}"`
      const header = `Digest realm=${quoted(realm)}, nonce=${quoted(nonce)}, qop="auth"`
      expect(digestChallengeOf(header)).toMatchObject({ realm, nonce })
    }),
  )
})

test('a header of any length is read in steps that do not grow faster than it', () => {
  for (const part of ['a', 'a ', 'a="', ', ', '\\', 'a=b, Digest ']) {
    expect(digestChallengeOf(`Digest realm="r", ${part.repeat(1_000_000 / part.length)}`)).toBeUndefined()
  }
})
