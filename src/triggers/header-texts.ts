import { decodeText } from '../domain/text/text-content.ts'

/**
 * The possible texts of a header value: as received, one character per byte, and decoded as UTF-8, which most programs
 * send.
 */
export function headerTexts(value: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is left of ASCII.
  if (/^[\x00-\x7f]*$/.test(value)) return [value]
  const text = decodeText(Buffer.from(value, 'latin1'), 'utf-8', true)
  return text === undefined ? [value] : [value, text]
}
