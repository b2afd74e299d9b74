/** Sends a chat message and reads the streamed reply. */

export type ChatFacts = {
  access: 'key' | 'password' | 'public'
  title: string | null
  greeting: string | null
  mayTalk: boolean
}

/** Returns undefined when the chat does not exist. Throws when the service cannot be reached. */
export async function loadFacts(identifier: string): Promise<ChatFacts | undefined> {
  const response = await fetch(addressOf(identifier))
  if (response.status === 404) return undefined
  if (!response.ok) throw new Error(`The service returned status ${response.status}.`)
  return (await response.json()) as ChatFacts
}

export type OutgoingMessage = {
  identifier: string
  access: ChatFacts['access']
  secret: string | null
  text: string
  files: readonly FileItem[]
  conversationId: string | null
  signal: AbortSignal
  /** Receives the whole reply so far. */
  onText(text: string): void
}
export type FileItem = { type: 'file'; name: string; data: string; mime: string }

/** `unauthorized`: the password or API key is missing or wrong. `later`: the run has paused. */
export type Outcome =
  | { kind: 'said'; reply: string; conversationId: string }
  | { kind: 'later'; executionId: string; conversationId: string }
  | { kind: 'failed'; message: string }
  | { kind: 'unauthorized'; message: string }
  | { kind: 'stopped' }

export async function sendMessage(outgoing: OutgoingMessage): Promise<Outcome> {
  const { identifier, text, files, conversationId, signal } = outgoing
  const body = {
    input: text,
    stream: true,
    ...(conversationId && { conversationId }),
    ...(files.length > 0 && { files }),
  }
  try {
    const response = await fetch(addressOf(identifier), {
      method: 'POST',
      headers: headersOf(outgoing),
      body: JSON.stringify(body),
      signal,
    })
    if (!response.ok || !response.body) {
      const { error } = (await response.json().catch(() => ({}))) as { error?: string }
      const message = error ?? `The service returned status ${response.status}.`
      return { kind: response.status === 401 ? 'unauthorized' : 'failed', message }
    }
    // The limits of the workflow skip the message.
    if (!response.headers.get('content-type')?.startsWith('text/event-stream')) {
      return { kind: 'failed', message: 'The chat is busy. Send the message again in a moment.' }
    }
    return await read(response, response.body, outgoing)
  } catch {
    if (signal.aborted) return { kind: 'stopped' }
    return { kind: 'failed', message: 'The connection was lost.' }
  }
}

async function read(
  { headers }: Response,
  body: ReadableStream<Uint8Array>,
  { onText, signal }: OutgoingMessage,
): Promise<Outcome> {
  const texts = new Map<string, string>()
  let done: Done | undefined
  for await (const data of messagesOf(body)) {
    if (data === '[DONE]') continue
    const message = JSON.parse(data) as { blockId: string; chunk: string } | Done
    if ('event' in message) done = message
    else {
      texts.set(message.blockId, (texts.get(message.blockId) ?? '') + message.chunk)
      onText([...texts.values()].join('\n\n'))
    }
  }
  if (signal.aborted) return { kind: 'stopped' }
  if (!done) return { kind: 'failed', message: 'The connection was lost.' }
  if (done.event === 'paused') {
    const { executionId = '' } = done
    return { kind: 'later', executionId, conversationId: headers.get('x-conversation-id') ?? '' }
  }
  if (!done.success) return { kind: 'failed', message: done.error ?? 'The chat could not respond.' }
  return { kind: 'said', reply: done.reply ?? '', conversationId: done.conversationId ?? '' }
}

type Done = {
  event: 'done' | 'paused'
  success: boolean
  error?: string
  reply?: string
  conversationId?: string
  executionId?: string
}

export type Awaited = Pick<OutgoingMessage, 'identifier' | 'access' | 'secret'> & { executionId: string }

/** The reply of a paused run, or why there is none. Resolves when the run has ended or cannot be found. */
export async function awaitReply(awaited: Awaited): Promise<{ reply: string } | { error: string }> {
  const address = `${addressOf(awaited.identifier)}/runs/${encodeURIComponent(awaited.executionId)}`
  for (let waitMs = waitMsMin; ; waitMs = Math.min(waitMsMax, waitMs * waitFactor)) {
    await new Promise((resolve) => setTimeout(resolve, waitMs))
    const response = await fetch(address, { headers: headersOf(awaited) }).catch(() => undefined)
    const isGone = response?.status === 401 || response?.status === 403 || response?.status === 404
    if (isGone) return { error: 'The reply is no longer available.' }
    if (!response?.ok) continue
    const { reply, error } = (await response.json()) as { reply: string | null; error: string | null }
    if (error !== null) return { error }
    if (reply !== null) return { reply }
  }
}

/** The interval grows, because a person may answer after seconds or after days. */
const waitMsMin = 1_000
const waitMsMax = 30_000
const waitFactor = 1.2

/** The data of each server-sent event. */
async function* messagesOf(body: ReadableStream<Uint8Array>): AsyncGenerator<string> {
  const reader = body.pipeThrough(new TextDecoderStream() as ReadableWritablePair<string, Uint8Array>).getReader()
  let waiting = ''
  for (;;) {
    const { value, done } = await reader.read()
    if (done) return
    const events = (waiting + value).split('\n\n')
    waiting = events.pop() ?? ''
    for (const event of events) if (event.startsWith('data: ')) yield event.slice('data: '.length)
  }
}

function headersOf({ access, secret }: Pick<OutgoingMessage, 'access' | 'secret'>): Record<string, string> {
  if (access === 'public' || secret === null) return {}
  // A header value can contain only Latin-1 characters.
  return access === 'key'
    ? { 'x-api-key': encodeURIComponent(secret) }
    : { 'x-chat-password': encodeURIComponent(secret) }
}

function addressOf(identifier: string): string {
  return `/api/chat/${encodeURIComponent(identifier)}`
}

export async function fileItemOf(file: File): Promise<FileItem> {
  const data = await new Promise<string>((resolve, reject) => {
    const reader = new FileReader()
    reader.onload = () => resolve(String(reader.result))
    reader.onerror = () => reject(reader.error)
    reader.readAsDataURL(file)
  })
  return { type: 'file', name: file.name, data, mime: file.type || 'application/octet-stream' }
}
