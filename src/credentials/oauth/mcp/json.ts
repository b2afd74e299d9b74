import type { OpenCredential } from '../../../domain/credential/open-credential.ts'
import type { OutboundRequest, OutboundResponse } from '../../../domain/outbound-request.ts'
import { isObject } from '../../../domain/run/input.ts'
import { jsonRefusal } from '../../../domain/text/json.ts'
import { type ProviderOptions, send } from '../provider.ts'

type JsonResponse = { status: number; members: Record<string, unknown> | undefined }

/** `members`: of the JSON object that the server sent; undefined when it sent something else. */
export async function requestJson(
  credential: OpenCredential,
  request: Pick<OutboundRequest, 'url' | 'method'> & { body?: string },
  options: ProviderOptions,
): Promise<JsonResponse> {
  const type = request.body === undefined ? [] : [['content-type', 'application/json'] as const]
  const headers = [['accept', 'application/json'] as const, ...type]
  const outcome = await send(credential, { ...request, headers }, options)
  if (!outcome.ok) throw new Error(outcome.message)
  return { status: outcome.response.status, members: membersOf(outcome.response) }
}

/**
 * The first of these documents that exists. A server without one may answer with any status from 400 to 499, with a
 * redirect, or with a page.
 */
export async function firstDocument(
  credential: OpenCredential,
  urls: readonly string[],
  options: ProviderOptions,
): Promise<{ url: string; members: Record<string, unknown> } | undefined> {
  for (const url of new Set(urls)) {
    const { status, members } = await requestJson(credential, { url, method: 'GET' }, options)
    if (status >= 500) throw new Error(`${url} responded with ${status}.`)
    if (status === 200 && members) return { url, members }
  }
  return undefined
}

/** The first texts of a list. */
export function textsOf(value: unknown): string[] {
  return Array.isArray(value) ? value.slice(0, textsMax).filter(isShort) : []
}

/** Whether a text of a document may become a part of the URL that a person opens. */
export function isShort(value: unknown): value is string {
  return typeof value === 'string' && value.length <= textCharsMax
}

const textsMax = 100
const textCharsMax = 1_000

function membersOf({ body }: Pick<OutboundResponse, 'body'>): Record<string, unknown> | undefined {
  const text = new TextDecoder().decode(body)
  if (jsonRefusal(text) !== undefined) return undefined
  try {
    const value: unknown = JSON.parse(text)
    return isObject(value) ? value : undefined
  } catch {
    return undefined
  }
}
