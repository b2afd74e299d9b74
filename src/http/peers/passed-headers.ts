/** The headers of a request that is passed on. A replaced body has its own length and no encoding. */
export function passedOn({ headers, url }: Request, body: 'replaced' | undefined): Headers {
  const passed = without(headers, ofConnection)
  if (body) for (const name of ofBody) passed.delete(name)
  // The caller may have sent no usable one.
  passed.set('host', new URL(url).host)
  return passed
}

/** The response of another process as this one sends it. `cookie`: of this process, used if the other one set none. */
export function passedThrough({ status, headers, body }: Response, cookie: string | undefined): Response {
  const passed = without(headers, ofConnection)
  // The length of a stream is not known when it begins.
  passed.delete('content-length')
  if (cookie !== undefined && !passed.has('set-cookie')) passed.set('set-cookie', cookie)
  return new Response(body, { status, headers: passed })
}

function without(headers: Headers, names: readonly string[]): Headers {
  const rest = new Headers(headers)
  for (const name of names) rest.delete(name)
  return rest
}

/** They belong to one connection. */
const ofConnection = [
  ...['connection', 'keep-alive', 'te', 'trailer', 'transfer-encoding', 'upgrade', 'expect'],
  ...['proxy-authenticate', 'proxy-authorization', 'proxy-connection'],
]
const ofBody = ['content-length', 'content-encoding']
