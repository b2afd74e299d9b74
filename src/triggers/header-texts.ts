import { decodeText } from '../domain/text-content.ts'

/**
 * What the value of a header may say, whoever sent it: as it came, one character a byte, and the UTF-8 that most programs
 * send.
 */
export function headerTexts(value: string): string[] {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what is left of ASCII.
  if (/^[\x00-\x7f]*$/.test(value)) return [value]
  const text = decodeText(Buffer.from(value, 'latin1'), 'utf-8', true)
  return text === undefined ? [value] : [value, text]
}
