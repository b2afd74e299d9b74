/** The request id: the caller's own when it is safe in a header and a log line, otherwise a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && sane.test(given) ? given : crypto.randomUUID()
}

const sane = /^[\w.:/+=@-]{1,128}$/
