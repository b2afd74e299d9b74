import { charsetOf, contentTypeOf, decodeText } from '../../domain/text/text-content.ts'

/**
 * The text of a feed. A byte order mark decides about the encoding, then the header of the response, then the
 * declaration in the document; otherwise it is UTF-8.
 */
export function textOfFeed(bytes: Uint8Array<ArrayBuffer>, contentType: string): string {
  const text = decodeText(bytes, markOf(bytes) ?? headerCharset(contentType) ?? declared(bytes) ?? 'utf-8', false) ?? ''
  // Many feeds begin with an empty line, which XML does not allow.
  return text.replace(/^[\uFEFF\s]+/, '')
}

function markOf([first, second, third]: Uint8Array): string | undefined {
  if (first === 0xef && second === 0xbb && third === 0xbf) return 'utf-8'
  if (first === 0xfe && second === 0xff) return 'utf-16be'
  return first === 0xff && second === 0xfe ? 'utf-16le' : undefined
}

function headerCharset(contentType: string): string | undefined {
  const { parameters } = contentTypeOf(contentType)
  return /charset\s*=/i.test(contentType) ? known(charsetOf(parameters)) : undefined
}

/** The encoding in `<?xml … encoding="…"?>`. */
function declared(bytes: Uint8Array): string | undefined {
  const start = new TextDecoder('latin1').decode(bytes.subarray(0, 200))
  const name = /^\s*<\?xml[^>]*\sencoding\s*=\s*["']([\w.:-]+)["']/.exec(start)?.[1]
  // The declaration was readable byte by byte, so it cannot be in UTF-16.
  return name === undefined || /^utf-?16/i.test(name) ? undefined : known(name)
}

function known(charset: string): string | undefined {
  try {
    return new TextDecoder(charset as Bun.Encoding).encoding
  } catch {
    return undefined
  }
}

/**
 * Puts the marked-up content of an Atom feed (`type="xhtml"`) into CDATA sections, so that it is read as text: a parser
 * of XML would take it apart.
 */
export function withWrappedMarkup(text: string): string {
  if (!/type\s*=\s*["']xhtml["']/.test(text)) return text
  const parts: string[] = []
  let at = 0
  for (const match of text.matchAll(
    /<((?:\w+:)?(?:content|summary|title|rights|subtitle))\s[^<>]*type\s*=\s*["']xhtml["'][^<>]*>/g,
  )) {
    const start = match.index + match[0].length
    if (match.index < at || match[0].endsWith('/>')) continue
    const end = text.indexOf(`</${match[1]}`, start)
    if (end < 0) break
    const inner = text.slice(start, end).replaceAll(']]>', ']]]]><![CDATA[>')
    parts.push(text.slice(at, start), '<![CDATA[', inner, ']]>')
    at = end
  }
  return [...parts, text.slice(at)].join('')
}

/** Escapes ampersands that begin no entity of XML, outside of CDATA sections. Many feeds have such ones. */
export function withEscapedAmpersands(text: string): string {
  const parts: string[] = []
  for (let at = 0; at < text.length; ) {
    const start = text.indexOf('<![CDATA[', at)
    const end = start < 0 ? -1 : text.indexOf(']]>', start)
    const plain = text.slice(at, start < 0 ? text.length : start)
    parts.push(plain.replaceAll(/&(?!(?:#\d{1,7}|#x[\da-f]{1,6}|amp|lt|gt|quot|apos);)([a-z]{2,8};)?/gi, escaped))
    if (start < 0) break
    const next = end < 0 ? text.length : end + 3
    parts.push(text.slice(start, next))
    at = next
  }
  return parts.join('')
}

function escaped(_: string, name: string | undefined): string {
  if (name === undefined) return '&amp;'
  return entities[name.toLowerCase()] ?? `&amp;${name}`
}

/** The entities of HTML that feeds use most. */
const entities: Readonly<Record<string, string>> = {
  'nbsp;': '\u00a0',
  'ndash;': '\u2013',
  'mdash;': '\u2014',
  'hellip;': '\u2026',
  'lsquo;': '\u2018',
  'rsquo;': '\u2019',
  'ldquo;': '\u201c',
  'rdquo;': '\u201d',
  'copy;': '\u00a9',
  'reg;': '\u00ae',
  'trade;': '\u2122',
  'euro;': '\u20ac',
}
