import type { TokenCount } from '../domain/cost.ts'
import { EventData } from './event-data.ts'

/**
 * Takes the pieces of text out of an event stream of OpenAI's protocol, and leaves the rest for the provider's code. That
 * code costs a piece some 40 µs, in four streams and a check that is neither compiled nor synchronous; two hundred models that say something
 * each 10 ms then fill a core. Nearly all events of an answer are such pieces; what is anything else, or looks odd, is not
 * touched. Events that say nothing, as the first one does, are left out. Behind an event that was left with text in it all
 * others are left too: what was taken would be ahead of that.
 *
 * It also takes note of what an answer that breaks off, or is never ended, would take with it: tokens, and that all was said.
 */
export class TextTap {
  readonly #onText: (text: string) => void
  readonly #events = new EventData((data) => this.#take(data))
  #rest = ''
  #leavesAll = false
  /** What the answer told of tokens, the last time that it did. */
  tokens: TokenCount | undefined
  /** Whether the answer has said that it is complete. Nothing behind that belongs to it. */
  isDone = false

  constructor(onText: (text: string) => void) {
    this.#onText = onText
  }

  /** The next bytes of the stream, in portions of any size; answers those events that are left. */
  push(bytes: Uint8Array<ArrayBuffer>): Uint8Array<ArrayBuffer> | undefined {
    this.#events.push(bytes)
    if (this.#rest === '') return undefined
    const rest = Buffer.from(this.#rest)
    this.#rest = ''
    return rest
  }

  #take(data: string): void {
    if (this.isDone) return
    if (data.trim() === '[DONE]') {
      this.isDone = true
      return
    }
    const chunk = chunkOf(data)
    this.tokens = tokensOf(chunk?.usage) ?? this.tokens
    const text = this.#leavesAll || !chunk ? undefined : textOf(chunk)
    if (text === undefined) {
      this.#leavesAll ||= anyText.test(data)
      this.#rest += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
    } else if (text !== '') this.#onText(text)
  }
}

function chunkOf(data: string): Chunk | undefined {
  if (!data.startsWith('{')) return undefined
  try {
    return JSON.parse(data) as Chunk
  } catch {
    return undefined
  }
}

/** The text of an event that holds nothing else, or not even that. */
function textOf({ choices, usage, error }: Chunk): string | undefined {
  if ((usage ?? undefined) !== undefined || error !== undefined || !Array.isArray(choices)) return undefined
  const [choice, ...more] = choices as (Choice | null | undefined)[]
  if (more.length > 0 || (choice?.finish_reason ?? undefined) !== undefined) return undefined
  const { content, role: _role, ...others } = choice?.delta ?? {}
  if (Object.values(others).some((value) => value !== null)) return undefined
  const text = content ?? ''
  return typeof text === 'string' ? text : undefined
}

function tokensOf(usage: unknown): TokenCount | undefined {
  const {
    prompt_tokens: prompt,
    completion_tokens: completion,
    prompt_tokens_details: details,
  } = (usage ?? {}) as Usage
  if (typeof prompt !== 'number' && typeof completion !== 'number') return undefined
  const told = { prompt: count(prompt), cached: count(details?.cached_tokens), completion: count(completion) }
  return { ...told, cached: Math.min(told.cached, told.prompt) }
}

function count(value: unknown): number {
  return typeof value === 'number' ? value : 0
}

const anyText = /"content"\s*:\s*(?!null\b|"")\S/

type Chunk = { choices?: unknown; usage?: unknown; error?: unknown }
type Choice = { delta?: { content?: unknown; role?: unknown } | null; finish_reason?: unknown }
type Usage = {
  prompt_tokens?: unknown
  completion_tokens?: unknown
  prompt_tokens_details?: { cached_tokens?: unknown } | null
}
