import { EventData } from './event-data.ts'

/**
 * Takes the pieces of text out of an event stream of OpenAI's protocol, and leaves the rest for the provider's code. That
 * code costs a piece some 40 µs, in four streams and a check that is neither compiled nor synchronous; two hundred models that say something
 * each 10 ms then fill a core. Nearly all events of an answer are such pieces; what is anything else, or looks odd, is not
 * touched. Events that say nothing, as the first one does, are left out. Behind an event that was left with text in it all
 * others are left too: what was taken would be ahead of that.
 */
export class TextTap {
  readonly #onText: (text: string) => void
  readonly #events = new EventData((data) => this.#take(data))
  #rest = ''
  #leavesAll = false

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
    const text = this.#leavesAll ? undefined : textOf(data)
    if (text === undefined) {
      this.#leavesAll ||= anyText.test(data)
      this.#rest += `data: ${data.replaceAll('\n', '\ndata: ')}\n\n`
    } else if (text !== '') this.#onText(text)
  }
}

/** The text of an event that holds nothing else, or not even that. */
function textOf(data: string): string | undefined {
  if (!data.startsWith('{')) return undefined
  try {
    const { choices, usage, error } = JSON.parse(data) as Chunk
    if ((usage ?? undefined) !== undefined || error !== undefined || !Array.isArray(choices)) return undefined
    const [choice, ...more] = choices as (Choice | undefined)[]
    if (more.length > 0 || (choice?.finish_reason ?? undefined) !== undefined) return undefined
    const { content, role: _role, ...others } = choice?.delta ?? {}
    if (Object.values(others).some((value) => value !== null)) return undefined
    const text = content ?? ''
    return typeof text === 'string' ? text : undefined
  } catch {
    return undefined
  }
}

const anyText = /"content"\s*:\s*(?!null\b|"")\S/

type Chunk = { choices?: unknown; usage?: unknown; error?: unknown }
type Choice = { delta?: { content?: unknown; role?: unknown }; finish_reason?: unknown }
