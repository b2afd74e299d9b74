import { javascriptLanguage } from '@codemirror/lang-javascript'
import type { Diagnostic } from '@codemirror/lint'

/** Syntax errors. A reference stands for a value, so it is replaced by a name of the same length. */
export function faults(text: string, language: 'javascript' | 'json'): Diagnostic[] {
  if (text.trim() === '') return []
  if (language === 'json') {
    const masked = maskedJson(text)
    try {
      JSON.parse(masked)
      return []
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error)
      const at = Number(/position (\d+)/.exec(message)?.[1] ?? masked.length)
      const from = Math.max(0, Math.min(at, text.length - 1))
      return [
        { from, to: Math.min(from + 1, text.length), severity: 'error', message: message.replace(/ in JSON.*/s, '') },
      ]
    }
  }
  const masked = text.replaceAll(reference, (found) => '_'.repeat(found.length))
  const found: Diagnostic[] = []
  const prefix = 'async () => {\n'
  javascriptLanguage.parser.parse(`${prefix}${masked}\n}`).iterate({
    enter: ({ type, from, to }) => {
      if (!type.isError || found.length >= 5) return
      const start = Math.max(0, Math.min(from - prefix.length, text.length))
      found.push({
        from: start,
        to: Math.max(start, Math.min(to - prefix.length, text.length)),
        severity: 'error',
        message: 'This is not valid JavaScript.',
      })
    },
  })
  return found
}

/**
 * JSON of the same length, with a value in place of each reference. A reference that is still being typed counts, too:
 * it has no end yet. Inside a string, it is text.
 */
export function maskedJson(text: string): string {
  let inString = false
  return text.replaceAll(/"|\\.|<[A-Za-z][^<>\n]*>|<[A-Za-z][\w.$-]*|\{\{[A-Za-z_]?\w*(?:\}\})?/g, (found) => {
    if (found === '"') inString = !inString
    if (found === '"' || found.startsWith('\\')) return found
    return inString ? ' '.repeat(found.length) : '0'.padStart(found.length, ' ')
  })
}

const reference = /<[A-Za-z][^<>\n]*>|\{\{[A-Za-z_]\w*\}\}/g
