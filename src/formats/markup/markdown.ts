import type { Operation } from '../job.ts'
import { wholeBytesMax } from '../limits.ts'
import { choiceOption } from '../options.ts'
import { wholeText } from '../source.ts'
import { textAnswer } from './xml.ts'

/** Converts Markdown to HTML. HTML in the Markdown is escaped, unless the author trusts it. */
export const markdownToHtml: Operation = (job) => {
  const isEscaped = choiceOption(job.options, 'html', ['escape', 'keep'], 'escape') === 'escape'
  const text = wholeText(job.input, wholeBytesMax)
  const html = Bun.markdown.html(text, { noHtmlBlocks: isEscaped, noHtmlSpans: isEscaped })
  return textAnswer(job, isEscaped ? withoutScripts(html) : html)
}

/** Links and images with such an address would run code. */
function withoutScripts(html: string): string {
  return html.replace(/\b(href|src)="([^"]*)"/g, (whole, name: string, address: string) => {
    // A browser ignores blanks and control characters in front of the scheme and in it.
    // biome-ignore lint/suspicious/noControlCharactersInRegex: it removes control characters.
    const scheme = /^([a-z][a-z0-9+.-]*):/i.exec(address.replace(/&[^;]*;|[\u0000-\u0020]/g, ''))?.[1]?.toLowerCase()
    return scheme === undefined || safeSchemes.has(scheme) ? whole : `${name}="#"`
  })
}

const safeSchemes = new Set(['http', 'https', 'mailto', 'tel', 'ftp'])
