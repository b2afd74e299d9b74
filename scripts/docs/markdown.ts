import GithubSlugger from 'github-slugger'
import { Marked, Renderer, type Token, type Tokens } from 'marked'
import { highlighted } from './highlight.ts'

/** A heading below the page's title. `anchor` is the id that GitHub gives it, too. */
export type Heading = { depth: number; text: string; anchor: string }

/** The plain text from one heading to the next, for the search. The text before the first heading has no anchor. */
export type Section = { heading: string; anchor: string; text: string }

export type RenderedPage = {
  title: string
  /** The first paragraph, as plain text. */
  description: string
  html: string
  headings: Heading[]
  sections: Section[]
}

/** Says where links and images of a page lead on the site; `undefined` for a file that the site does not have. */
export type Addresses = { link(href: string): string | undefined; image(href: string): string }

/** Turns a page's Markdown into HTML that needs neither inline scripts nor inline styles. */
export function renderPage(markdown: string, addresses: Addresses): RenderedPage {
  const marked = new Marked({ gfm: true })
  const tokens = marked.lexer(markdown)
  const outline = outlineOf(tokens)
  const title = outline.find(({ depth }) => depth === 1)?.text
  if (title === undefined) throw new Error('A page begins with its title: "# Title".')
  const anchors = outline.map(({ anchor }) => anchor)
  marked.use({ renderer: rendererOf(anchors.values(), addresses) })
  const description = tokens.find(({ type }) => type === 'paragraph')
  return {
    title,
    description: description ? plainText([description]) : '',
    html: marked.parser(tokens),
    headings: outline.filter(({ depth }) => depth > 1),
    sections: sectionsOf(tokens, outline),
  }
}

function outlineOf(tokens: readonly Token[]): Heading[] {
  const slugger = new GithubSlugger()
  return tokens.filter(isHeading).map((token) => {
    const text = plainText(token.tokens)
    return { depth: token.depth, text, anchor: slugger.slug(text) }
  })
}

function sectionsOf(tokens: readonly Token[], outline: readonly Heading[]): Section[] {
  const headings = outline.values()
  const sections: Section[] = []
  for (const token of tokens) {
    if (isHeading(token)) {
      const { text, anchor, depth } = headings.next().value!
      sections.push({ heading: text, anchor: depth === 1 ? '' : anchor, text: '' })
      continue
    }
    const section = sections.at(-1)
    const text = plainText([token])
    if (section && text !== '') section.text += section.text === '' ? text : ` ${text}`
  }
  return sections
}

function isHeading(token: Token): token is Tokens.Heading {
  return token.type === 'heading'
}

/** The visible text of some tokens, on one line. */
function plainText(tokens: readonly Token[]): string {
  return tokens.map(rawText).join('').replaceAll(/\s+/g, ' ').trim()
}

function rawText(token: Token): string {
  if (token.type === 'html') return ''
  if (token.type === 'br' || token.type === 'space') return ' '
  if (token.type === 'list') return (token as Tokens.List).items.map((item) => `${plainText(item.tokens)} `).join('')
  if (token.type === 'table') {
    const { header, rows } = token as Tokens.Table
    return [header, ...rows].map((row) => row.map((cell) => `${plainText(cell.tokens)} `).join('')).join('')
  }
  if (token.type === 'image') return (token as Tokens.Image).text
  if ('tokens' in token && token.tokens) return token.tokens.map(rawText).join('')
  return 'text' in token ? String(token.text) : ''
}

/** The deviations from marked's own HTML. */
function rendererOf(anchors: Iterator<string>, addresses: Addresses) {
  return {
    heading(this: Renderer, { tokens, depth }: Tokens.Heading): string {
      const anchor = anchors.next().value!
      const text = this.parser.parseInline(tokens)
      if (depth === 1) return `<h1 id="${anchor}">${text}</h1>\n`
      const label = escapeHtml(`Link to ${plainText(tokens)}`)
      const link = `<a class="docs-anchor" href="#${anchor}" aria-label="${label}">#</a>`
      return `<h${depth} id="${anchor}">${text} ${link}</h${depth}>\n`
    },
    code({ text, lang = '' }: Tokens.Code): string {
      const label = lang === '' ? 'Code' : `Code, ${lang}`
      const block = `<pre tabindex="0" role="region" aria-label="${escapeHtml(label)}"><code>${highlighted(text, lang)}`
      return `<div class="docs-code">${block}</code></pre></div>\n`
    },
    table(this: Renderer, token: Tokens.Table): string {
      const table = Renderer.prototype.table.call(this, token)
      return `<div class="docs-table" tabindex="0" role="region" aria-label="Table">${table}</div>\n`
    },
    link(this: Renderer, { href, title, tokens }: Tokens.Link): string {
      const text = this.parser.parseInline(tokens)
      const address = addresses.link(href)
      const hint = title ? ` title="${escapeHtml(title)}"` : ''
      return address === undefined ? text : `<a href="${escapeHtml(address)}"${hint}>${text}</a>`
    },
    image({ href, text }: Tokens.Image): string {
      return `<img src="${escapeHtml(addresses.image(href))}" alt="${escapeHtml(text)}" loading="lazy">`
    },
    html({ text }: Tokens.HTML | Tokens.Tag): string {
      if (text.trim() === '' || /^\s*<!--.*-->\s*$/s.test(text)) return ''
      throw new Error(`A page is plain Markdown, without HTML: ${text.trim()}`)
    },
  }
}

export function escapeHtml(text: string): string {
  return Bun.escapeHTML(text)
}
