/** Decodes bytes as text according to their Content-Type. */

/** The parts of a Content-Type. `type` is lower-cased; empty when it is missing. */
export type ContentType = { type: string; parameters: readonly string[] }

export function contentTypeOf(header: string): ContentType {
  const [type = '', ...parameters] = header.split(';')
  return { type: type.trim().toLowerCase(), parameters }
}

export const jsonType = /^(application|text)\/json$|\+json$/
export const textType = /^text\/|^application\/(xml|javascript|ecmascript|x-javascript|x-www-form-urlencoded)$|\+xml$/

export function charsetOf(parameters: readonly string[]): string {
  for (const parameter of parameters) {
    const charset = /^\s*charset\s*=\s*"?([^"\s]+)/i.exec(parameter)?.[1]
    if (charset) return charset
  }
  return 'utf-8'
}

/** With `fatal`, undefined for bytes that are invalid in the charset; otherwise they become U+FFFD. */
export function decodeText(bytes: Uint8Array<ArrayBuffer>, charset: string, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(charset as Bun.Encoding, { fatal }).decode(bytes)
  } catch {
    // The charset is unknown, or the bytes are invalid in it.
    return fatal ? undefined : new TextDecoder().decode(bytes)
  }
}
