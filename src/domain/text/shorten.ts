/**
 * The beginning of a text for a message. Ends after a whole word, because redaction cannot recognise half a secret: a
 * word that does not fit is left out.
 */
export function shorten(text: string, charsMax: number): string {
  if (text.length <= charsMax) return text
  const whole = /^.*[\s"'<>,;]/s.exec(text.slice(0, charsMax + 1))?.[0] ?? ''
  return `${whole.slice(0, charsMax).trimEnd()}…`
}
