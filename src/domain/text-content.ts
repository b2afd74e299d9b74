/** How bytes that come with a Content-Type are read as text. */

/** The parts of a Content-Type. `type`: lower-cased, empty when there is none. */
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

/** Undefined, with `fatal`, for bytes that are not of that charset; without, what is none becomes U+FFFD. */
export function decodeText(bytes: Uint8Array<ArrayBuffer>, charset: string, fatal: boolean): string | undefined {
  try {
    return new TextDecoder(charset as Bun.Encoding, { fatal }).decode(bytes)
  } catch {
    // A charset that nobody knows, or bytes that are none of it.
    return fatal ? undefined : new TextDecoder().decode(bytes)
  }
}
