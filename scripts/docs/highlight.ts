import { javascriptLanguage, typescriptLanguage } from '@codemirror/lang-javascript'
import { jsonLanguage } from '@codemirror/lang-json'
import { classHighlighter, highlightCode } from '@lezer/highlight'

/** The languages that the editor colours, too. Other code keeps one colour. */
const parsers: Readonly<Record<string, typeof jsonLanguage.parser | undefined>> = {
  json: jsonLanguage.parser,
  js: javascriptLanguage.parser,
  ts: typescriptLanguage.parser,
}

/** Code as HTML: what has a meaning in its language is in spans with classes of `@lezer/highlight` (`tok-string`). */
export function highlighted(code: string, language: string): string {
  const parser = parsers[language]
  if (!parser) return Bun.escapeHTML(code)
  let html = ''
  const add = (text: string, classes: string) => {
    const escaped = Bun.escapeHTML(text)
    html += classes === '' ? escaped : `<span class="${classes}">${escaped}</span>`
  }
  highlightCode(code, parser.parse(code), classHighlighter, add, () => {
    html += '\n'
  })
  return html
}
