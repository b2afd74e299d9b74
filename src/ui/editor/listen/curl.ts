/** A command that sends a request to a webhook trigger with these parameters. */
export function curlOf(url: string, params: Readonly<Record<string, unknown>>): string {
  const { methods, authentication } = params
  const allowed = Array.isArray(methods) && methods.length > 0 ? methods.map(String) : ['POST']
  const method = allowed.includes('POST') ? 'POST' : (allowed[0] ?? 'POST')
  const body =
    method === 'GET' || method === 'DELETE' ? '' : ` -H 'Content-Type: application/json' -d '{"hello":"world"}'`
  return `curl -X ${method} '${url}'${credentialOf(authentication)}${body}`
}

function credentialOf(authentication: unknown): string {
  const { type, name } = (authentication ?? {}) as { type?: unknown; name?: unknown }
  if (type === 'bearer') return " -H 'Authorization: Bearer YOUR_TOKEN'"
  if (type === 'header' && typeof name === 'string') return ` -H '${name}: YOUR_SECRET'`
  return ''
}
