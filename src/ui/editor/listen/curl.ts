import { shellText } from '../../parts/shell-text.ts'
import type { Document } from '../document/document.ts'
import { exampleRequest } from '../document/example-input.ts'

/** A command that sends an example of a request or message to the test address of a trigger with these parameters. */
export function curlOf(
  trigger: 'webhook' | 'chat',
  address: string,
  { document, params }: { document: Document; params: Readonly<Record<string, unknown>> },
): string {
  const json = " -H 'Content-Type: application/json' -d "
  if (trigger === 'chat') return `curl -X POST '${address}'${chatCredentialOf(params)}${json}'{"input":"Hello"}'`
  const { method, url, body } = exampleRequest(document, address, params)
  const content = body === undefined ? '' : `${json}${shellText(body)}`
  return `curl -X ${method} ${shellText(url)}${credentialOf(params['authentication'])}${content}`
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
