import { type ChildNode, type Document, DomHandler, type Element, isTag } from 'domhandler'
import { Parser } from 'htmlparser2'
import { documentTooLarge } from '../format-error.ts'
import type { Job } from '../job.ts'
import { wholeBytesMax } from '../limits.ts'
import { wholeText } from '../source.ts'

/** Reads HTML as browsers do, more or less: nothing is an error but its size. */
export function readHtml(job: Pick<Job, 'input'>): Document {
  const text = wholeText(job.input, wholeBytesMax)
  const handler = new BoundedHandler()
  const parser = new Parser(handler, { decodeEntities: true })
  // In pieces, so that the document is not read to its end when it is too large.
  for (let at = 0; at < text.length; at += pieceChars) parser.write(text.slice(at, at + pieceChars))
  parser.end()
  return handler.root
}

/** Limits the nodes and their nesting: later steps walk through the tree recursively. */
class BoundedHandler extends DomHandler {
  #nodes = 0
  #depth = 0

  override onopentag(name: string, attributes: Record<string, string>): void {
    this.#depth += 1
    this.#count()
    if (this.#depth > htmlDepthMax) {
      throw documentTooLarge(`The HTML is nested deeper than ${htmlDepthMax} levels, which is the limit.`)
    }
    super.onopentag(name, attributes)
  }

  override onclosetag(): void {
    this.#depth -= 1
    super.onclosetag()
  }

  override ontext(text: string): void {
    this.#count()
    super.ontext(text)
  }

  override oncomment(): void {}
  override oncommentend(): void {}

  #count(): void {
    this.#nodes += 1
    if (this.#nodes > nodesMax) throw documentTooLarge(`The HTML has more than ${nodesMax} elements and texts.`)
  }
}

/** The text of a node as people see it: with blanks collapsed, and without scripts and styles. */
export function textOf(node: ChildNode | Document): string {
  const parts: string[] = []
  if ('children' in node) for (const child of node.children) collect(child, parts)
  return parts.join('').replace(/\s+/g, ' ').trim()
}

function collect(node: ChildNode, parts: string[]): void {
  if (node.type === 'text') parts.push((node as unknown as { data: string }).data)
  else if ('children' in node) {
    if (isTag(node) && isHidden(node)) return
    const isBlock = isTag(node) && !inline.has(node.name)
    if (isBlock) parts.push(' ')
    for (const child of node.children) collect(child, parts)
    if (isBlock) parts.push(' ')
  }
}

export function isHidden({ name }: Element): boolean {
  return hidden.has(name)
}

const hidden = new Set(['script', 'style', 'template', 'noscript', 'head', 'title'])

/** Elements that are part of a line. */
export const inline: ReadonlySet<string> = new Set([
  ...['a', 'abbr', 'b', 'bdi', 'bdo', 'big', 'cite', 'code', 'data', 'del', 'dfn', 'em', 'font', 'i', 'img', 'ins'],
  ...['kbd', 'label', 'mark', 'q', 's', 'samp', 'small', 'span', 'strike', 'strong', 'sub', 'sup', 'time', 'tt', 'u'],
  'var',
])

const pieceChars = 65_536
const nodesMax = 500_000
const htmlDepthMax = 500
