import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Feed, type FeedEntry, readFeed } from '../../../src/blocks/poll/feed.ts'
import { finish } from '../../../src/domain/slices.ts'

const url = 'https://example.org/blog/feed.xml?key=secret'
const utf8 = new TextEncoder()

function read(text: string | Uint8Array<ArrayBuffer>, contentType = 'application/rss+xml'): Feed {
  const bytes = typeof text === 'string' ? utf8.encode(text) : text
  return finish(readFeed(bytes, { contentType, url }))
}
function entriesOf(text: string | Uint8Array<ArrayBuffer>, contentType?: string): readonly FeedEntry[] {
  const feed = read(text, contentType)
  if ('problem' in feed) throw new Error(feed.problem)
  return feed.entries
}
const problemOf = (text: string) => {
  const feed = read(text)
  return 'problem' in feed ? feed.problem : undefined
}
const rss = (items: string) =>
  `<?xml version="1.0"?><rss version="2.0"><channel><title>t</title>${items}</channel></rss>`
const escaped = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')

describe('a feed', () => {
  test('in RSS 2.0 is read with its content, its dates and relative links', () => {
    const [first, second] = entriesOf(
      rss(`
        <item><title>A &amp; B</title><link>/one</link><guid isPermaLink="false">id 1</guid>
          <pubDate>Sat, 03 Jan 2026 10:00:00 +0100</pubDate><description>short</description>
          <content:encoded xmlns:content="http://purl.org/rss/1.0/modules/content/"><![CDATA[<p>long</p>]]></content:encoded></item>
        <item><title>Older</title><guid>https://example.org/two</guid><pubDate>Fri, 02 Jan 2026 10:00:00 GMT</pubDate></item>`),
    )
    expect(first).toEqual({
      ...{ id: 'id 1', title: 'A & B', link: 'https://example.org/one', content: '<p>long</p>' },
      published: '2026-01-03T09:00:00.000Z',
    })
    expect(second).toMatchObject({ id: 'https://example.org/two', link: 'https://example.org/two', content: null })
  })

  test('in Atom is read with bases, alternate links and marked-up content', () => {
    const text = `<?xml version="1.0" encoding="utf-8"?>
      <feed xmlns="http://www.w3.org/2005/Atom" xml:base="https://example.net/a/">
        <entry><id>urn:1</id><title type="xhtml"><div>Big <b>news</b></div></title>
          <link rel="self" href="self"/><link href="page"/>
          <updated>2026-01-01T00:00:00Z</updated><published>2025-12-31T00:00:00Z</published>
          <content type="xhtml"><div xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b> three</p></div></content></entry>
      </feed>`
    expect(entriesOf(text)).toEqual([
      {
        ...{
          id: 'urn:1',
          title: 'Big news',
          link: 'https://example.net/a/page',
          published: '2025-12-31T00:00:00.000Z',
        },
        content: '<div xmlns="http://www.w3.org/1999/xhtml"><p>One <b>two</b> three</p></div>',
      },
    ])
  })

  test('in RSS 1.0 and as JSON Feed is read in the same way', () => {
    const rdf = `<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
      <channel rdf:about="x"><title>t</title></channel>
      <item rdf:about="https://example.org/1"><title>One</title><link>https://example.org/1</link>
        <dc:date>2026-01-01T00:00:00Z</dc:date></item></rdf:RDF>`
    const json = JSON.stringify({
      version: 'https://jsonfeed.org/version/1.1',
      items: [{ id: 'https://example.org/1', title: 'One', url: '/1', date_published: '2026-01-01T00:00:00Z' }],
    })
    const entry = { id: 'https://example.org/1', title: 'One', link: 'https://example.org/1', content: null }
    for (const text of [rdf, json]) {
      expect(entriesOf(text)).toEqual([{ ...entry, published: '2026-01-01T00:00:00.000Z' }])
    }
  })

  test('keeps its order when an entry has no date, and sorts by date otherwise', () => {
    const dated = (id: number, day: string) =>
      `<item><guid>${id}</guid><pubDate>${day} Jan 2026 00:00:00 GMT</pubDate></item>`
    expect(entriesOf(rss(dated(1, '01') + dated(2, '03') + dated(3, '02'))).map(({ id }) => id)).toEqual([
      '2',
      '3',
      '1',
    ])
    const undated = '<item><guid>4</guid></item>'
    expect(entriesOf(rss(dated(1, '01') + undated + dated(2, '03'))).map(({ id }) => id)).toEqual(['1', '4', '2'])
  })

  test('is decoded by its mark, its header or its declaration', () => {
    const declared = (encoding: string) =>
      rss('<item><title>Käse</title></item>').replace('1.0"', `1.0" encoding="${encoding}"`)
    const latin = (text: string) => Uint8Array.from(text, (letter) => letter.charCodeAt(0))
    const utf16 = (text: string) => {
      const bytes = new Uint8Array(2 * text.length + 2)
      bytes.set([0xff, 0xfe])
      for (const [index, letter] of [...text].entries())
        bytes.set([letter.charCodeAt(0) & 255, letter.charCodeAt(0) >> 8], 2 + 2 * index)
      return bytes
    }
    const title = (bytes: Uint8Array<ArrayBuffer>, type?: string) => entriesOf(bytes, type)[0]?.title
    expect(title(latin(declared('iso-8859-1')))).toBe('Käse')
    expect(title(latin(declared('utf-8')), 'text/xml; charset=ISO-8859-1')).toBe('Käse')
    expect(title(utf16(declared('utf-16')))).toBe('Käse')
    expect(title(utf8.encode(declared('no-such-charset')), 'text/xml; charset=nonsense')).toBe('Käse')
    expect(title(utf8.encode(`\ufeff\n ${declared('utf-8')}`))).toBe('Käse')
  })

  test('with bare ampersands and entities of HTML is read all the same', () => {
    const [entry] = entriesOf(rss('<item><title>R&D &ndash; a&nbsp;b &unknown; <![CDATA[x & y]]></title></item>'))
    expect(entry?.title).toBe('R&D – a\u00a0b &unknown; x & y')
  })

  test('without IDs identifies an entry by its link, or else by its content', () => {
    const [linked, bare] = entriesOf(rss('<item><link>/a</link></item><item><title>Bare</title></item>'))
    expect(linked?.id).toBe('https://example.org/a')
    expect(bare?.id).toBe('["Bare",null,null]')
  })

  test('never gives the query of its address away in relative links', () => {
    for (const link of ['', '#x', '?page=2', 'next', '//other.example/x', 'javascript:x']) {
      const [entry] = entriesOf(rss(`<item><guid>1</guid><link>${link}</link></item>`))
      expect(entry?.link ?? '').not.toContain('secret')
    }
  })

  test('that is something else, broken, too large or hostile is refused with a reason', () => {
    expect(problemOf('')).toContain('empty')
    expect(problemOf('<html><body>Not found</body></html>')).toContain('neither RSS nor Atom nor JSON Feed')
    expect(problemOf('{"items": []}')).toContain('neither RSS nor Atom nor JSON Feed')
    expect(problemOf('Not found')).toContain('cannot be read')
    expect(problemOf('<rss><channel></rss>')).toContain('cannot be read')
    expect(problemOf('{"version":')).toContain('cannot be read')
    expect(problemOf('<!DOCTYPE x [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]><rss>&b;</rss>')).toContain('entities')
    expect(problemOf('<a>'.repeat(50_000))).toContain('cannot be read')
    expect(problemOf('<a/>'.repeat(300_000))).toContain('100000 elements')
    expect(problemOf(`<rss ${'a="" '.repeat(400_000)}/>`)).toContain('attributes')
    expect(problemOf('x'.repeat(6_000_000))).toContain('6000000 bytes')
    expect(problemOf('[['.repeat(10_000))).toContain('cannot be read')
  })

  test('takes time in proportion to its length, whatever it repeats', () => {
    for (const part of [
      '<content type="xhtml">',
      '<![CDATA[',
      '&',
      '<?',
      '<!--',
      '&#',
      'a="',
      ']]>',
      '<title type="xhtml"></',
    ]) {
      const started = performance.now()
      read(`<rss>${part.repeat(Math.floor(1_000_000 / part.length))}`)
      expect(performance.now() - started).toBeLessThan(2_000)
    }
  })

  test('that any program writes is read as it was written', () => {
    const plain = fc.string({ unit: 'grapheme', maxLength: 50 }).map((text) => text.replaceAll(/[^\P{C}]/gu, '').trim())
    const item = fc.record({ guid: fc.uuid(), title: plain, body: plain })
    fc.assert(
      fc.property(fc.array(item, { maxLength: 20 }), fc.boolean(), (items, isAtom) => {
        const texts = items.map(({ guid, title, body }) =>
          isAtom
            ? `<entry><id>${guid}</id><title>${escaped(title)}</title><content type="html">${escaped(body)}</content></entry>`
            : `<item><guid>${guid}</guid><title>${escaped(title)}</title><description>${escaped(body)}</description></item>`,
        )
        const text = isAtom ? `<feed xmlns="http://www.w3.org/2005/Atom">${texts.join('')}</feed>` : rss(texts.join(''))
        expect(entriesOf(text).map(({ id, title, content }) => ({ id, title, content }))).toEqual(
          items.map(({ guid, title, body }) => ({ id: guid, title: title || null, content: body || null })),
        )
      }),
      { numRuns: 100 },
    )
  })

  test('of any bytes is read or refused, and never fails otherwise', () => {
    const piece = fc.constantFrom(
      ...['<rss>', '</rss>', '<channel>', '<item>', '</item>', '<feed>', '<entry>', '<![CDATA[', ']]>', '&amp;', '&x;'],
      ...['<link href="', '"/>', '<?xml version="1.0"?>', '{', '}', '"version":', '<title type="xhtml">', '\0', 'a'],
    )
    const bytes = fc.oneof(
      fc.uint8Array({ maxLength: 200 }).map((array) => Uint8Array.from(array)),
      fc.array(piece, { maxLength: 40 }).map((parts) => utf8.encode(parts.join(''))),
    )
    fc.assert(
      fc.property(bytes, fc.constantFrom('', 'text/xml; charset=utf-16le', 'application/json'), (content, type) => {
        const feed = read(content, type)
        expect(
          'problem' in feed ? feed.problem.length > 0 : feed.entries.every(({ id }) => typeof id === 'string'),
        ).toBe(true)
      }),
      { numRuns: 500 },
    )
  })
})
