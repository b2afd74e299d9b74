/** Incomplete and invalid responses, and the code of the failure for each. */
export const brokenResponses: [what: string, bytes: string, code: string][] = [
  ['a body that is cut off', 'HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nabc', 'CONNECTION_FAILED'],
  [
    'chunks that are cut off',
    'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabcde\r\n',
    'CONNECTION_FAILED',
  ],
  ['chunks that are none', 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\nabcde\r\n', 'INVALID_RESPONSE'],
  ['invalid gzip', 'HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde', 'INVALID_RESPONSE'],
  ['invalid brotli', 'HTTP/1.1 200 OK\r\nContent-Encoding: br\r\nContent-Length: 5\r\n\r\nabcde', 'INVALID_RESPONSE'],
  ['headers that are cut off', 'HTTP/1.1 200 OK\r\nContent-Le', 'CONNECTION_FAILED'],
  ['nothing at all', '', 'CONNECTION_FAILED'],
  ['what is not HTTP', 'SSH-2.0-OpenSSH_9.2\r\n\r\n', 'INVALID_RESPONSE'],
  ['two lengths', 'HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nno', 'INVALID_RESPONSE'],
  ['the length -1', 'HTTP/1.1 200 OK\r\nContent-Length: -1\r\n\r\nno', 'INVALID_RESPONSE'],
  ['the status 999', 'HTTP/1.1 999 Blocked\r\nContent-Length: 2\r\n\r\nno', 'INVALID_RESPONSE'],
  ['the status 600', 'HTTP/1.1 600 What\r\nContent-Length: 2\r\n\r\nno', 'INVALID_RESPONSE'],
  ['the status 099', 'HTTP/1.1 099 What\r\nContent-Length: 2\r\n\r\nno', 'INVALID_RESPONSE'],
  [
    'a switch of protocols',
    'HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n',
    'INVALID_RESPONSE',
  ],
  [
    '2 MB of headers',
    `HTTP/1.1 200 OK\r\nX: ${'a'.repeat(2_000_000)}\r\nContent-Length: 2\r\n\r\nok`,
    'INVALID_RESPONSE',
  ],
  ['10,000 headers', `HTTP/1.1 200 OK\r\n${'X: a\r\n'.repeat(10_000)}Content-Length: 2\r\n\r\nok`, 'INVALID_RESPONSE'],
]
