/** The caller's own id for a request when it is one that can stand in a header and a log line, else a new one. */
export function requestIdOf(headers: Headers): string {
  const given = headers.get('x-request-id')
  return given !== null && sane.test(given) ? given : crypto.randomUUID()
}

const sane = /^[\w.:/+=@-]{1,128}$/
