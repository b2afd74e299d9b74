/** A command that sends a request or message to a trigger with these parameters. */
export function curlOf(trigger: 'webhook' | 'chat', url: string, params: Readonly<Record<string, unknown>>): string {
  const json = " -H 'Content-Type: application/json' -d "
  if (trigger === 'chat') return `curl -X POST '${url}'${chatCredentialOf(params)}${json}'{"input":"Hello"}'`
  const { methods, authentication } = params
  const allowed = Array.isArray(methods) && methods.length > 0 ? methods.map(String) : ['POST']
  const method = allowed.includes('POST') ? 'POST' : (allowed[0] ?? 'POST')
  const body = method === 'GET' || method === 'DELETE' ? '' : `${json}'{"hello":"world"}'`
  return `curl -X ${method} '${url}'${credentialOf(authentication)}${body}`
}

function credentialOf(authentication: unknown): string {
  const { type, name } = (authentication ?? {}) as { type?: unknown; name?: unknown }
  if (type === 'bearer') return " -H 'Authorization: Bearer YOUR_TOKEN'"
  if (type === 'header' && typeof name === 'string') return ` -H '${name}: YOUR_SECRET'`
  return ''
}

function chatCredentialOf({ access }: Readonly<Record<string, unknown>>): string {
  if (access === 'public') return ''
  return access === 'password' ? " -H 'X-Chat-Password: THE_PASSWORD'" : " -H 'X-API-Key: YOUR_API_KEY'"
}
