import { messageOf } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import type { Slices } from '../../domain/slices.ts'
import { jsonRefusal } from '../../domain/text/json.ts'
import { textOfFeed, withEscapedAmpersands, withWrappedMarkup } from './feed-text.ts'
import { pollItemsMax } from './poll-parameters.ts'

/** An entry of a feed, as `<rss.item>`. `published`: ISO 8601. Fields that the feed does not have are null. */
export type FeedEntry = {
  id: string
  title: string | null
  link: string | null
  published: string | null
  content: string | null
}

export type Feed = { entries: readonly FeedEntry[] } | { problem: string }

/** `url`: the address of the feed, for relative links. */
export type FeedSource = { contentType: string; url: string }

/**
 * Reads RSS 0.9 to 2.0, Atom or JSON Feed, in slices. The newest entries come first if all of them have a date, and
 * otherwise they have the order of the feed.
 */
export function* readFeed(bytes: Uint8Array<ArrayBuffer>, { contentType, url }: FeedSource): Slices<Feed> {
  if (bytes.byteLength === 0) return { problem: 'The response is empty, and not a feed.' }
  if (bytes.byteLength > feedBytesMax) {
    return { problem: `The feed has ${bytes.byteLength} bytes, more than the ${feedBytesMax} that are read.` }
  }
  const text = textOfFeed(bytes, contentType)
  yield
  const parsed = text.startsWith('{') ? parseJson(text) : yield* parseXml(text)
  yield
  if (typeof parsed === 'string') return { problem: parsed }
  const base = baseOf(url)
  const read = entriesIn(parsed)
  if (!read) return { problem: 'The response is not a feed: it is neither RSS nor Atom nor JSON Feed.' }
  const entries: FeedEntry[] = []
  for (const [index, entry] of read.entries.slice(0, pollItemsMax).entries()) {
    if (index % entriesPerSlice === 0) yield
    if (isObject(entry)) entries.push(withId(read.entryOf(entry, resolved(read.base, base))))
  }
  if (!entries.every(({ published }) => published !== null)) return { entries }
  return { entries: entries.toSorted((one, other) => Date.parse(other.published!) - Date.parse(one.published!)) }
}

const feedBytesMax = 5 * 1_048_576
/** Each element and attribute costs some hundred nanoseconds and bytes. */
const elementsMax = 100_000
const entriesPerSlice = 100

function parseJson(text: string): unknown {
  const refusal = jsonRefusal(text)
  if (refusal !== undefined) return `The feed cannot be read: ${refusal}.`
  try {
    return JSON.parse(text)
  } catch (error) {
    return `The feed cannot be read: ${messageOf(error)}`
  }
}

/** The document, or a sentence about the reason why it cannot be read. */
function* parseXml(text: string): Slices<unknown> {
  let elements = 0
  for (let at = text.indexOf('<'); at >= 0; at = text.indexOf('<', at + 1)) {
    elements += 1
    if (elements > 2 * elementsMax) return `The feed has more than ${elementsMax} elements, the most that are read.`
  }
  // Attributes, too.
  let equals = 0
  for (let at = text.indexOf('='); at >= 0 && equals <= attributesMax; at = text.indexOf('=', at + 1)) equals += 1
  if (equals > attributesMax) return 'The feed has too many attributes.'
  yield
  // Entities of its own could grow without limit.
  if (/<!ENTITY/i.test(text)) return 'The feed declares entities, which are not read.'
  yield
  const wrapped = withWrappedMarkup(text)
  yield
  try {
    return Bun.XML.parse(wrapped)
  } catch {
    // Tried again below.
  }
  yield
  try {
    return Bun.XML.parse(withEscapedAmpersands(wrapped))
  } catch (error) {
    return `The feed cannot be read: ${messageOf(error)}`
  }
}

/** Query strings in texts have equals signs, too. */
const attributesMax = 300_000

type Entries = {
  entries: readonly unknown[]
  /** The address that the document gives for its relative links. */
  base: string | undefined
  entryOf(entry: Node, base: string): Omit<FeedEntry, 'id'> & { id: string | undefined }
}
type Node = Readonly<Record<string, unknown>>

function entriesIn(document: unknown): Entries | undefined {
  if (!isObject(document)) return undefined
  const version = document['version']
  if (typeof version === 'string' && /^https?:\/\/jsonfeed\.org\//.test(version)) {
    return { entries: listOf(document['items']), base: undefined, entryOf: jsonEntry }
  }
  const [[name, root] = ['', undefined]] = Object.entries(document)
  if (!isObject(root)) return undefined
  const base = textOf(root['@xml:base'])
  switch (name.replace(/^.*:/, '')) {
    case 'rss': {
      const [channel] = listOf(root['channel'])
      return isObject(channel) ? { entries: listOf(channel['item']), base, entryOf: rssEntry } : undefined
    }
    case 'RDF':
      return { entries: listOf(root['item'] ?? root['rss:item']), base, entryOf: rssEntry }
    case 'feed':
      return { entries: listOf(member(root, 'entry')), base, entryOf: atomEntry }
    default:
      return undefined
  }
}

function rssEntry(item: Node, base: string) {
  const guid = first(item['guid'])
  const guidText = textOf(guid)
  const isLink = !isObject(guid) || guid['@isPermaLink'] !== 'false'
  const linkText = textOf(member(item, 'link')) ?? (isLink && /^https?:/i.test(guidText ?? '') ? guidText : undefined)
  const content = member(item, 'content:encoded') ?? member(item, 'description') ?? member(item, 'content')
  return {
    id: guidText ?? textOf(item['@rdf:about']) ?? textOf(member(item, 'dc:identifier')),
    title: textOf(member(item, 'title')) ?? null,
    link: linkOf(linkText, base),
    published: dateOf(textOf(member(item, 'pubDate') ?? item['dc:date'] ?? item['dcterms:created'])),
    content: textOf(content) ?? null,
  }
}

function atomEntry(entry: Node, feedBase: string) {
  const base = resolved(textOf(entry['@xml:base']), feedBase)
  const links = listOf(member(entry, 'link')).filter(isObject)
  const link = links.find((each) => (each['@rel'] ?? 'alternate') === 'alternate') ?? links[0]
  const title = first(member(entry, 'title'))
  return {
    id: textOf(member(entry, 'id')),
    title: plainTitle(title),
    link: linkOf(textOf(link?.['@href']), base),
    published: dateOf(textOf(member(entry, 'published') ?? member(entry, 'issued') ?? member(entry, 'updated'))),
    content: textOf(member(entry, 'content')) ?? textOf(member(entry, 'summary')) ?? null,
  }
}

function jsonEntry(item: Node, base: string) {
  const text = (name: string) => textOf(item[name])
  return {
    id: text('id'),
    title: text('title') ?? null,
    link: linkOf(text('url') ?? text('external_url'), base),
    published: dateOf(text('date_published') ?? text('date_modified')),
    content: text('content_html') ?? text('content_text') ?? text('summary') ?? null,
  }
}

/** A title in XHTML loses its tags. */
function plainTitle(title: unknown): string | null {
  const text = textOf(title) ?? null
  const isMarkup = isObject(title) && title['@type'] === 'xhtml'
  return text !== null && isMarkup
    ? text
        .replaceAll(/<[^<>]*>/g, '')
        .replaceAll(/\s+/g, ' ')
        .trim()
    : text
}

/** An entry without an ID is identified by its link, or else by its content. */
function withId({ id, ...entry }: Omit<FeedEntry, 'id'> & { id: string | undefined }): FeedEntry {
  return { id: id ?? entry.link ?? JSON.stringify([entry.title, entry.published, entry.content]), ...entry }
}

/** A member with or without the prefix `atom:` or `rss:`. */
function member(node: Node, name: string): unknown {
  const own = (key: string) => (Object.hasOwn(node, key) ? node[key] : undefined)
  return own(name) ?? own(`atom:${name}`) ?? own(`rss:${name}`)
}

function first(value: unknown): unknown {
  return Array.isArray(value) ? (value as unknown[])[0] : value
}

function listOf(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value as unknown[]
  return value === undefined || value === null || value === '' ? [] : [value]
}

/** The text of an element or attribute; undefined when it has none. */
function textOf(value: unknown): string | undefined {
  const node = first(value)
  const text = isObject(node) ? node['#text'] : node
  if (typeof text !== 'string' && typeof text !== 'number') return undefined
  const trimmed = String(text).trim()
  return trimmed === '' ? undefined : trimmed
}

function dateOf(text: string | undefined): string | null {
  const time = text === undefined ? Number.NaN : Date.parse(text)
  return Number.isNaN(time) ? null : new Date(time).toISOString()
}

function linkOf(text: string | undefined, base: string): string | null {
  return text === undefined ? null : resolved(text, base)
}

/** An absolute address. A text that cannot be one stays as it is. */
function resolved(text: string | undefined, base: string): string {
  if (text === undefined) return base
  return URL.parse(text, base)?.href ?? text
}

/** The address of the feed without its query, which may hold a secret and would become part of some relative links. */
function baseOf(url: string): string {
  const parsed = URL.parse(url)
  if (!parsed) return ''
  parsed.search = ''
  parsed.hash = ''
  parsed.username = ''
  parsed.password = ''
  return parsed.href
}
