import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import type { OutboundError } from '../../../src/domain/outbound-request.ts'
import { parseTarget } from '../../../src/outbound/target.ts'

const failureOf = (url: string): OutboundError => {
  try {
    parseTarget(url)
  } catch (error) {
    return error as OutboundError
  }
  throw new Error(`${url} was taken`)
}

describe('a URL that a user wrote', () => {
  test('is parsed into the host, port and path that are called', () => {
    const target = parseTarget(' HTTPS://Example.COM.:8443/a/../b c?q=1&r=ü#part ')
    expect(target).toMatchObject({ host: 'example.com', port: 8443, secure: true, authorization: undefined })
    expect(target.url.href).toBe('https://example.com:8443/b%20c?q=1&r=%C3%BC')
    expect(parseTarget('http://example.com').port).toBe(80)
    expect(parseTarget('https://example.com:443/').url.host).toBe('example.com')
  })

  test.each([
    'http://127.1/',
    'http://0x7f.1/',
    'http://2130706433/',
    'http://0177.0.0.1/',
    'http://017700000001/',
    'http://１２７.０.０.１/',
    'http://127。0。0。1/',
    'http://127.0.0.1./',
    'http://127.1../',
    'http://%31%32%37.0.0.1/',
    'http://[::ffff:127.0.0.1]/',
    'http://[::ffff:7f00:1]/',
    'http:127.1',
    'http:\\\\127.1\\',
    'ht\ttp://127.\n1/',
  ])('%j has the host 127.0.0.1', (url) => {
    expect(parseTarget(url)).toMatchObject({
      host: '127.0.0.1',
      url: expect.objectContaining({ href: 'http://127.0.0.1/' }),
    })
  })

  test('is parsed into credentials that are sent only as a header', () => {
    const target = parseTarget('https://us%C3%A9r:p%40ss:w%zz@example.com/x')
    expect(target.authorization).toBe(`Basic ${Buffer.from('usér:p@ss:w%zz').toString('base64')}`)
    expect(target.url.href).toBe('https://example.com/x')
    expect(target.name).toBe('https://example.com/x')
  })

  test('is refused with any scheme except http and https', () => {
    for (const url of [
      'file:///etc/passwd',
      'data:text/plain,x',
      's3://bucket/key',
      'ftp://x/',
      'blob:http://x/1',
      'ws://x/',
    ])
      expect(failureOf(url)).toMatchObject({
        code: 'INVALID_URL',
        message: expect.stringContaining('only http:// and https://'),
      })
  })

  test('is refused with a message about the valid form when it is invalid', () => {
    for (const url of [
      '',
      'example.com/x',
      '//example.com',
      '/path',
      'http://',
      'https:///',
      'http://a b/',
      'http://[::1',
      'http://x:99999/',
    ])
      expect(failureOf(url).code).toBe('INVALID_URL')
    expect(failureOf('example.com/x').message).toContain(
      '"example.com/x" is not a valid URL: it must start with http://',
    )
    for (const url of ['http://./', 'http://../x']) expect(failureOf(url).code).toBe('INVALID_URL')
  })

  test('never shows credentials or the query in a message, even if it is invalid', () => {
    const secret = fc.stringMatching(/^[A-Za-z0-9]{12,20}$/)
    const shapes = fc.constantFrom(
      'ftp://u:S@h/x',
      'http://u:S@h:99999/',
      'http:/u:S@[/',
      'u:S@h',
      'http://h:x/?k=S',
      'http://u:S@',
      '//u:S@h',
    )
    fc.assert(
      fc.property(secret, shapes, (text, shape) => {
        expect(failureOf(shape.replace('S', text)).message).not.toContain(text)
      }),
    )
  })

  test('is shortened in messages when it is long', () => {
    expect(failureOf(`x${'y'.repeat(100_000)}`).message.length).toBeLessThan(400)
  })

  test('does not change when the result is parsed again', () => {
    fc.assert(
      fc.property(fc.webUrl({ withQueryParameters: true }), (url) => {
        const { url: read } = parseTarget(url)
        expect(parseTarget(read.href).url.href).toBe(read.href)
      }),
    )
  })
})
