import { fileBytesMax } from '../domain/run/file.ts'

/**
 * Reads the `data` of one file item while it arrives. A value that starts with `data:` is decoded and passed on in
 * pieces; any other value (the URL of a `url` item) is kept as text.
 */
export class DataUriReader {
  readonly #write: (bytes: Uint8Array) => void
  readonly #bytesMax: number
  #state: 'head' | 'text' | 'content' | 'broken' = 'head'
  #head = ''
  #carry = ''
  #size = 0
  #mime = ''
  #reason = ''
  #isTooLarge = false

  constructor(write: (bytes: Uint8Array) => void, bytesMax = fileBytesMax) {
    this.#write = write
    this.#bytesMax = bytesMax
  }

  /** Takes the next characters, in portions of any size. Each character stands for one byte of UTF-8. */
  push(text: string): void {
    if (this.#state === 'content') this.#decode(text)
    else if (this.#state !== 'broken') this.#begin(text)
  }

  end(): DataValue {
    if (this.#state === 'head' && isDataUri(this.#head)) this.#break('the comma before its content is missing')
    if (this.#state === 'content') this.#finish()
    if (this.#state === 'broken') return { kind: 'malformed', reason: this.#reason }
    if (this.#state !== 'content') return { kind: 'text', text: Buffer.from(this.#head, 'latin1').toString() }
    return this.#isTooLarge ? { kind: 'large' } : { kind: 'content', mime: this.#mime, size: this.#size }
  }

  #begin(text: string): void {
    this.#head += text
    if (this.#state === 'head' && this.#head.length >= prefix.length && !isDataUri(this.#head)) this.#state = 'text'
    const comma = this.#state === 'head' ? this.#head.indexOf(',') : -1
    if (comma < 0) {
      if (this.#head.length > headCharsMax) this.#break('it is not a data URI and is too long for a URL')
      return
    }
    const facts = this.#head.slice(prefix.length, comma)
    const rest = this.#head.slice(comma + 1)
    this.#head = ''
    if (!/;[ ]*base64[ ]*$/i.test(facts)) {
      this.#break('";base64" is missing before its comma')
      return
    }
    this.#mime = facts.replace(/;[ ]*base64[ ]*$/i, '')
    this.#state = 'content'
    this.#decode(rest)
  }

  /** Holds back the last characters, because only the end shows whether they are padding. */
  #decode(text: string): void {
    const all = this.#carry === '' ? text : this.#carry + text
    const whole = Math.max(0, Math.floor((all.length - 1) / 4) * 4)
    this.#carry = all.slice(whole)
    if (whole === 0) return
    try {
      const bytes = Uint8Array.fromBase64(all.slice(0, whole), { lastChunkHandling: 'strict' })
      // The decoder ignores spaces and accepts padding; neither is allowed here.
      if (bytes.length !== (whole / 4) * 3) {
        this.#break(notBase64)
        return
      }
      this.#hand(bytes)
    } catch {
      this.#break(notBase64)
    }
  }

  #finish(): void {
    const [, digits, padding] = /^([A-Za-z0-9+/]*)(=*)$/.exec(this.#carry) ?? []
    const isWhole = digits !== undefined && digits.length % 4 !== 1
    const isPadded = padding === '' || ((digits?.length ?? 0) + (padding?.length ?? 0)) % 4 === 0
    if (!isWhole || !isPadded || (padding?.length ?? 0) > 2) {
      this.#break(notBase64)
      return
    }
    if (digits !== '') this.#hand(Uint8Array.fromBase64(digits, { lastChunkHandling: 'loose' }))
  }

  #hand(bytes: Uint8Array): void {
    this.#size += bytes.length
    if (this.#size > this.#bytesMax) this.#isTooLarge = true
    else this.#write(bytes)
  }

  #break(reason: string): void {
    this.#state = 'broken'
    this.#reason = reason
    this.#head = ''
    this.#carry = ''
  }
}

/** The parsed `data`. `mime`: the type from the data URI, or empty. */
export type DataValue =
  | { kind: 'content'; mime: string; size: number }
  | { kind: 'text'; text: string }
  | { kind: 'malformed'; reason: string }
  | { kind: 'large' }

const prefix = 'data:'
/** Maximum length of a URL, or of a data URI's part before the comma. */
const headCharsMax = 65_536
const notBase64 = 'the content after its comma is not base64'

function isDataUri(text: string): boolean {
  return text.slice(0, prefix.length).toLowerCase() === prefix
}
