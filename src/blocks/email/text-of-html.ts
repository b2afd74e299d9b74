import type { Slices } from '../../domain/slices.ts'

/**
 * The text of an HTML message, for readers that show no HTML: without scripts and styles, with line breaks where blocks
 * begin, and with the addresses of links. Linear in the length of the HTML.
 */
export function* textOfHtml(html: string): Slices<string> {
  const lines = new TextLines()
  let link: string | undefined
  let at = 0
  let pauseAt = sliceChars
  while (at < html.length) {
    const open = html.indexOf('<', at)
    if (open === -1) {
      lines.add(html.slice(at))
      break
    }
    if (open > at) lines.add(html.slice(at, open))
    const tag = tagAt(html, open)
    at = tag.end
    if (hiddenElements.has(tag.name) && !tag.isEnd) at = endOfElement(html, tag.name, at)
    else if (tag.name === 'br') lines.break()
    else if (tag.name === 'li' && !tag.isEnd) lines.begin('- ')
    else if (tag.name === 'td' || tag.name === 'th') lines.add(' ')
    else if (blockElements.has(tag.name)) lines.begin('')
    else if (tag.name === 'a') {
      if (link !== undefined && tag.isEnd && !lines.endsWith(link)) lines.add(` (${link})`)
      link = tag.isEnd ? undefined : linkIn(html.slice(open, Math.min(tag.end, open + tagCharsMax)))
    }
    if (at < pauseAt) continue
    pauseAt = at + sliceChars
    yield
  }
  return lines.text()
}

const sliceChars = 32_768
/** A link with a longer tag is shown without its address. */
const tagCharsMax = 4_000

const hiddenElements = new Set(['script', 'style', 'head', 'title', 'template', 'noscript'])
const blockElements = new Set([
  ...['p', 'div', 'tr', 'table', 'ul', 'ol', 'section', 'article', 'header', 'footer', 'main', 'blockquote', 'pre'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'body', 'center', 'dl', 'dt', 'dd'],
])

type Tag = { name: string; isEnd: boolean; end: number }

/** The tag or comment at `<`. A `<` that begins neither is text. */
function tagAt(html: string, open: number): Tag {
  if (html.startsWith('<!--', open)) {
    const end = html.indexOf('-->', open + 4)
    return { name: '', isEnd: false, end: end === -1 ? html.length : end + 3 }
  }
  const isEnd = html[open + 1] === '/'
  const [name = ''] = /^[a-z][a-z0-9]{0,20}/i.exec(html.slice(open + (isEnd ? 2 : 1), open + 24)) ?? []
  const end = html.indexOf('>', open)
  return { name: name.toLowerCase(), isEnd, end: end === -1 ? html.length : end + 1 }
}

function endOfElement(html: string, name: string, from: number): number {
  const end = new RegExp(`</${name}\\s*>`, 'gi')
  end.lastIndex = from
  return end.exec(html) ? end.lastIndex : html.length
}

function linkIn(tag: string): string | undefined {
  const [, quoted, single] = /\shref\s*=\s*(?:"([^"]*)"|'([^']*)')/i.exec(tag) ?? []
  const href = decoded(quoted ?? single ?? '').trim()
  return /^(https?|mailto):/i.test(href) ? href.replace(/^mailto:/i, '') : undefined
}

/** Text with its white space as HTML shows it. */
class TextLines {
  readonly #lines: string[] = []
  #line: string[] = []

  add(text: string): void {
    this.#line.push(decoded(text.replaceAll(/\s+/g, ' ')))
  }

  break(): void {
    this.#lines.push(this.#current())
    this.#line = []
  }

  begin(prefix: string): void {
    if (this.#current() !== '') this.break()
    this.#line = [prefix]
  }

  endsWith(text: string): boolean {
    return this.#line.at(-1)?.trim() === text
  }

  text(): string {
    this.break()
    return this.#lines.join('\n').trim()
  }

  #current(): string {
    return this.#line.join('').replaceAll(/ +/g, ' ').trim()
  }
}

function decoded(text: string): string {
  return text.replaceAll(/&(?:#(\d{1,7})|#x([0-9a-f]{1,6})|([a-z]{2,8}));/gi, (written, decimal, hex, name) => {
    if (name !== undefined) return entities[String(name).toLowerCase()] ?? written
    const code = decimal === undefined ? Number.parseInt(String(hex), 16) : Number(decimal)
    return code > 0 && code <= 0x10_ff_ff && (code < 0xd8_00 || code > 0xdf_ff) ? String.fromCodePoint(code) : ''
  })
}

const entities: Readonly<Record<string, string | undefined>> = {
  ...{ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'", nbsp: ' ', copy: '©', reg: '®', trade: '™', euro: '€' },
  ...{ hellip: '…', mdash: '—', ndash: '–', lsquo: '‘', rsquo: '’', ldquo: '“', rdquo: '”', bull: '•' },
}
