/**
 * The query parameters of a request. Unlike `new URL(request.url)`, this accepts every request: a client may send a
 * `Host` header that is not a host.
 */
export function searchParamsOf({ url }: Request): URLSearchParams {
  const start = url.indexOf('?')
  return new URLSearchParams(start === -1 ? '' : url.slice(start + 1))
}
