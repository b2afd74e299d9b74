import { type ChildNode, type Document, type Element, isTag, isText } from 'domhandler'
import type { Operation } from '../job.ts'
import { textAnswer } from '../markup/xml.ts'
import { inline, isHidden, readHtml, textOf } from './read-html.ts'

/** Converts HTML to Markdown that people and models can read. Elements without a form there become plain text. */
export const htmlToMarkdown: Operation = (job) => {
  const blocks = blocksOf(readHtml(job).children, 0)
  return textAnswer(job, `${blocks.join('\n\n')}\n`.trimStart())
}

/**
 * The paragraphs, lists and tables among some nodes. Neighbouring parts of a line are one paragraph. `level`: of lists
 * and quotes.
 */
function blocksOf(nodes: readonly ChildNode[], level: number): string[] {
  const blocks: string[] = []
  let line = ''
  const endLine = () => {
    const text = tidyLine(line)
    if (text !== '') blocks.push(text)
    line = ''
  }
  for (const node of nodes) {
    if (isTag(node) && !isHidden(node) && !inline.has(node.name) && node.name !== 'br') {
      endLine()
      for (const block of blocksOfElement(node, level)) blocks.push(block)
    } else line += inlineOf(node)
  }
  endLine()
  return blocks
}

function blocksOfElement(element: Element, level: number): string[] {
  const { name, children } = element
  const [, heading] = /^h([1-6])$/.exec(name) ?? []
  if (heading !== undefined) {
    const text = tidyLine(children.map(inlineOf).join('')).replaceAll('\n', ' ')
    return text === '' ? [] : [`${'#'.repeat(Number(heading))} ${text}`]
  }
  switch (name) {
    case 'hr':
      return ['---']
    case 'pre':
      return [fenced(element)]
    case 'ul':
    case 'ol':
      return level < levelsMax ? listOf(element, level + 1) : blocksOf(children, level)
    case 'blockquote':
      if (level >= levelsMax) return blocksOf(children, level)
      return [prefixed(blocksOf(children, level + 1).join('\n\n'), '> ')]
    case 'table':
      return tableOf(element)
    case 'dt':
      return blocksOf(children, level).map((text) => `**${text}**`)
    case 'svg':
    case 'iframe':
    case 'object':
    case 'button':
    case 'input':
    case 'select':
      return []
    default:
      return blocksOf(children, level)
  }
}

function inlineOf(node: ChildNode): string {
  if (isText(node)) return escaped(node.data.replace(/\s+/g, ' '))
  if (!isTag(node) || isHidden(node)) return ''
  const { name, children, attribs } = node
  const inner = () => children.map(inlineOf).join('')
  switch (name) {
    case 'br':
      return '\\\n'
    case 'b':
    case 'strong':
      return wrapped(inner(), '**')
    case 'i':
    case 'em':
      return wrapped(inner(), '*')
    case 's':
    case 'del':
    case 'strike':
      return wrapped(inner(), '~~')
    case 'code':
    case 'kbd':
    case 'samp':
    case 'tt':
      return codeSpan(textOf(node))
    case 'img': {
      const source = attribs['src'] ?? ''
      const label = escaped((attribs['alt'] ?? '').replace(/\s+/g, ' '))
      return source === '' || source.startsWith('data:') ? label : `![${label}](${addressOf(source)})`
    }
    case 'a': {
      const href = (attribs['href'] ?? '').trim()
      const label = inner()
      if (href === '' || label.trim() === '' || /^javascript:/i.test(href)) return label
      return `[${label.trim().replaceAll('\\\n', ' ')}](${addressOf(href)})`
    }
    default:
      // A block within a line, such as a heading in a link.
      return inline.has(name) ? inner() : ` ${inner()} `
  }
}

function listOf({ name, children, attribs }: Element, level: number): string[] {
  const start = Number(attribs['start'] ?? 1)
  let number = Number.isSafeInteger(start) ? start : 1
  const items = children
    .filter((child) => isTag(child))
    .map((child) => {
      return child.name === 'li' ? blocksOf(child.children, level) : blocksOfElement(child, level)
    })
  if (items.length === 0) return []
  const isLoose = items.some(([, second = '- ', third]) => third !== undefined || !/^(- |\d+\. )/.test(second))
  const gap = isLoose ? '\n\n' : '\n'
  const written = items.map((blocks) => {
    const marker = name === 'ol' ? `${number++}. ` : '- '
    return marker + indented(blocks.join(gap), marker.length)
  })
  return [written.join(gap)]
}

/** The first row is the header, as Markdown wants it, and as wide as the widest row. Other rows may be shorter. */
function tableOf(table: Element): string[] {
  const rows: string[][] = []
  collectRows(table, rows)
  let width = 0
  for (const row of rows) width = Math.max(width, row.length)
  if (width === 0) return []
  const [head = [], ...body] = rows
  const header = [...head, ...Array<string>(width - head.length).fill('')]
  const lines = [header, Array<string>(width).fill('---'), ...body.filter((row) => row.length > 0)]
  return [lines.map((cells) => `| ${cells.join(' | ')} |`).join('\n')]
}

function collectRows({ children }: Element, rows: string[][]): void {
  for (const child of children) {
    if (!isTag(child)) continue
    if (child.name === 'tr') {
      const cells = child.children.filter((cell) => isTag(cell) && (cell.name === 'td' || cell.name === 'th'))
      rows.push(cells.slice(0, columnsMax).map((cell) => cellOf(cell as Element)))
    } else if (child.name === 'thead' || child.name === 'tbody' || child.name === 'tfoot') collectRows(child, rows)
  }
}

function cellOf({ children }: Element): string {
  return tidyLine(children.map(inlineOf).join('')).replaceAll(/\\?\n/g, ' ').replaceAll('|', '\\|')
}

function fenced(element: Element): string {
  const text = rawText(element).replace(/^\n|\n$/g, '')
  const longest = Math.max(2, ...Array.from(text.matchAll(/`{3,}/g), ([ticks]) => ticks.length))
  const fence = '`'.repeat(Math.min(longest, fenceMax) + 1)
  const code = element.children.find((child) => isTag(child) && child.name === 'code') as Element | undefined
  const [, language = ''] = /(?:^|\s)lang(?:uage)?-([\w+#-]+)/.exec(code?.attribs['class'] ?? '') ?? []
  return `${fence}${language}\n${text}\n${fence}`
}

function rawText(node: Element | Document): string {
  const parts: string[] = []
  for (const child of node.children) {
    if (isText(child)) parts.push(child.data)
    else if (isTag(child)) parts.push(child.name === 'br' ? '\n' : rawText(child))
  }
  return parts.join('')
}

/** Puts marks around a text, inside its outer blanks. */
function wrapped(text: string, mark: string): string {
  const inner = text.trim()
  if (inner === '') return text
  const at = text.indexOf(inner)
  return `${text.slice(0, at)}${mark}${inner}${mark}${text.slice(at + inner.length)}`
}

function codeSpan(text: string): string {
  if (text === '') return ''
  return text.includes('`') ? `\`\` ${text} \`\`` : `\`${text}\``
}

/** Characters that Markdown would read as marks. */
function escaped(text: string): string {
  return text.replace(/[\\`*_[\]<]/g, '\\$&')
}

function addressOf(address: string): string {
  const text = address.trim()
  return /[\s()<>]/.test(text) ? `<${text.replace(/[<>\n\r]/g, encodeURIComponent)}>` : text
}

/** A line without blanks at its ends. A mark at its beginning that would make it a list or heading is escaped. */
function tidyLine(text: string): string {
  const lines = text.split('\\\n').map((line) => line.replace(/ {2,}/g, ' ').trim())
  while (lines.at(-1) === '') lines.pop()
  while (lines[0] === '') lines.shift()
  return lines.join('\\\n').replace(/^(#{1,6} |[-+] |\d+(?=[.)] ))/, (start) => {
    return /\d/.test(start) ? `${start}\\` : `\\${start}`
  })
}

function indented(text: string, spaces: number): string {
  return text.replaceAll('\n', `\n${' '.repeat(spaces)}`).replace(/^ +$/gm, '')
}

function prefixed(text: string, prefix: string): string {
  return text
    .split('\n')
    .map((line) => (prefix + line).trimEnd())
    .join('\n')
}

/** Deeper lists and quotes are not indented: each level writes their text again. */
const levelsMax = 20
const columnsMax = 1_000
const fenceMax = 100
