import type { RunFile } from '../domain/run/file.ts'
import { isObject, type TriggerInput } from '../domain/run/input.ts'
import { membersOf } from '../domain/run/members-of.ts'
import type { WebhookIdempotency, WebhookParameters } from '../domain/webhook/webhook-trigger.ts'
import { parsePath, readPath } from '../domain/workflow/reference.ts'
import { standardIdOf } from './signatures.ts'
import type { WebhookContent } from './webhook-body.ts'
import { type SenderCheck, senderCheckOf } from './webhook-sender.ts'

/** `signed-id`: the id that the `standard` scheme signs, so that a recorded request cannot be sent again. */
type Idempotency = WebhookIdempotency | 'signed-id'

/** A webhook trigger's parameters, parsed once per version. */
export type Hook = {
  methods: ReadonlySet<string>
  sender: SenderCheck
  /** Whether the trigger has no authentication, so that its senders are visitors. */
  isOpen: boolean
  respondsImmediately: boolean
  idempotency: Idempotency | undefined
  /** The reply that a sender expects before it sends events; undefined for everything else. */
  challengeOf(content: WebhookContent): string | undefined
}

/** `params`: the parameters of a deployed webhook trigger. */
export function hookOf(params: Readonly<Record<string, unknown>>): Hook {
  const { methods, authentication, respond, idempotency } = params as WebhookParameters
  const scheme = authentication.type === 'signature' ? authentication.scheme : undefined
  return {
    methods: new Set(methods),
    sender: senderCheckOf(authentication),
    isOpen: authentication.type === 'none',
    respondsImmediately: respond === 'immediately',
    idempotency: idempotency ?? (scheme === 'standard' ? 'signed-id' : undefined),
    challengeOf: scheme === 'slack' ? slackChallenge : noChallenge,
  }
}

/** A digest of the request's idempotency key; undefined when it has none. */
export function requestKeyOf(
  idempotency: Idempotency | undefined,
  headers: Headers,
  content: WebhookContent,
): string | undefined {
  if (!idempotency) return undefined
  const name = idempotency === 'signed-id' ? standardIdOf(headers) : namedKeyOf(idempotency, headers, content)
  if (name === null || name === undefined || name === '') return undefined
  return new Bun.CryptoHasher('sha256').update(JSON.stringify(name)).digest('base64url').slice(0, keyChars)
}

function namedKeyOf({ header, field }: WebhookIdempotency, headers: Headers, content: WebhookContent): unknown {
  return header ? headers.get(header) : readPath(fieldsOf(content), parsePath(`.${field}`))
}

/** The input of the run for a request. */
export function inputOf(
  { url, method, headers }: Pick<Request, 'url' | 'method' | 'headers'>,
  { sender }: Hook,
  body: unknown,
  files: readonly RunFile[],
): TriggerInput {
  const shown = Object.fromEntries(headers)
  if (sender.secretHeader !== undefined) delete shown[sender.secretHeader]
  const at = url.indexOf('?')
  const query = at === -1 ? {} : membersOf(new URLSearchParams(url.slice(at)))
  const fields = { body, headers: shown, query, method }
  return files.length > 0 ? { input: {}, fields, files } : { input: {}, fields }
}

/** 128 bits, so that collisions are practically impossible. */
const keyChars = 22

function fieldsOf(content: WebhookContent): unknown {
  if (content.kind === 'value') return content.value
  if (content.kind === 'file') return undefined
  return membersOf(content.entries.filter(([, value]) => typeof value === 'string'))
}

/** Slack requires a URL to echo the challenge before it sends events there. */
function slackChallenge(content: WebhookContent): string | undefined {
  const body = content.kind === 'value' && isObject(content.value) ? content.value : {}
  const { type, challenge } = body
  return type === 'url_verification' && typeof challenge === 'string' ? challenge : undefined
}

const noChallenge = () => undefined
