import { afterAll, describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { Desk, valueInput } from '../../support/formats/desk.ts'

const desk = new Desk()
afterAll(() => desk[Symbol.asyncDispose]())

describe('XML', () => {
  test('becomes an object, and the same XML again', async () => {
    const text = '<feed lang="en">\n  <entry id="1">A &amp; B</entry>\n  <entry id="2" />\n</feed>'
    const { data } = await desk.do('xml_parse', text)
    expect(data).toEqual({ feed: { '@lang': 'en', entry: [{ '@id': '1', '#text': 'A & B' }, { '@id': '2' }] } })
    const written = await desk.do('xml_write', valueInput(data))
    expect((await desk.do('xml_parse', written.data as string)).data).toEqual(data)
  })

  test('returns any text that XML can hold', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' }), { minLength: 2, maxLength: 5 }), async (texts) => {
        const held = texts.map((text) => `.${text.replace(/[^\t\n\x20-\ud7ff\ue000-\ufffd]/g, '')}.`)
        const { data } = await desk.do('xml_write', valueInput({ a: { '@b': held[0], c: held } }), { indent: 0 })
        const read = (await desk.do('xml_parse', data as string)).data as { a: { c: string[] } }
        expect(read.a.c).toEqual(held)
      }),
      { numRuns: 50 },
    )
  })

  test('of another file or address is not read', async () => {
    const text = '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>'
    expect(JSON.stringify((await desk.do('xml_parse', text)).data)).not.toContain('root:')
  })

  test('that is broken is explained', async () => {
    expect(await desk.fails('xml_parse', '<a><b></a>')).toBe(
      'INVALID_DOCUMENT: The XML is broken: Expected closing tag </b> but found </a>',
    )
    expect(await desk.fails('xml_write', valueInput({ 'a b': 1 }))).toContain('cannot be written as XML')
    expect(await desk.fails('xml_write', valueInput([1]))).toContain('must be an object')
  })
})

describe('YAML', () => {
  test('and values are the same', async () => {
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), async (value) => {
        const json = JSON.parse(JSON.stringify(value).replaceAll('-0', '0')) as unknown
        const { data } = await desk.do('yaml_write', valueInput(json))
        expect((await desk.do('yaml_parse', data as string)).data).toEqual(json)
      }),
      { numRuns: 100 },
    )
  })

  test('of several documents is a list', async () => {
    expect((await desk.do('yaml_parse', 'a: &x {b: 1}\nc: *x\n---\nd: yes\n')).data).toEqual([
      { a: { b: 1 }, c: { b: 1 } },
      { d: 'yes' },
    ])
    expect(await desk.fails('yaml_parse', 'a: [1')).toContain('INVALID_DOCUMENT: The YAML is broken')
  })
})

describe('Markdown', () => {
  test('becomes HTML without code of strangers', async () => {
    const text = [
      '# A\n\n<script>x</script>\n\n<b onclick=x>y</b>',
      '[a](javascript:x) [b](jav&#97;script:x) [c](JavaScript&colon;x) <javascript:x> ![d](data:text/html,x)',
      '[e](https://example.com/?a=1&b=2) [f](other.html) [g](#top) [h](mailto:a@b.example)',
    ].join('\n\n')
    const { data: html } = await desk.do('markdown_to_html', text)
    expect(html).toContain('<h1>A</h1>')
    expect(html).toContain('&lt;script&gt;')
    expect(html).not.toMatch(/<script|<b |="\s*javascript|="data:/i)
    for (const kept of ['href="https://example.com/?a=1&amp;b=2"', 'href="other.html"', 'href="#top"', 'mailto:']) {
      expect(html).toContain(kept)
    }
    expect((await desk.do('markdown_to_html', '<b>y</b>', { html: 'keep' })).data).toContain('<b>y</b>')
  })
})

describe('HTML', () => {
  const page = `<!doctype html><title>Shop</title><body><nav>Menu</nav>
    <article id="1"><h2>First &amp; <em>best</em></h2><a href="/1">more</a><p class=tag>x<p class=tag>y</article>
    <article id="2"><h2>Second</h2><script>no()</script></article>`

  test('gives fields for selectors', async () => {
    const fields = {
      title: 'title',
      tags: { selector: '.tag', all: true },
      link: { selector: 'article > a[href]', take: 'attribute', attribute: 'href' },
      html: { selector: 'h2', take: 'html' },
      none: '.none',
      nothing: { selector: '.none', all: true },
    }
    expect((await desk.do('html_select', page, { fields })).data).toEqual({
      title: 'Shop',
      tags: ['x', 'y'],
      link: '/1',
      html: 'First &amp; <em>best</em>',
      none: null,
      nothing: [],
    })
  })

  test('gives an object for each element', async () => {
    const fields = { id: { take: 'attribute', attribute: 'id' }, title: 'h2', link: { selector: 'a', take: 'text' } }
    expect((await desk.do('html_select', desk.file(page), { each: 'article', fields })).data).toEqual([
      { id: '1', title: 'First & best', link: 'more' },
      { id: '2', title: 'Second', link: null },
    ])
  })

  test('says which selector is wrong', async () => {
    expect(await desk.fails('html_select', page, { fields: { a: 'h2[' } })).toBe(
      'INVALID_PARAMETER: The option "fields.a" is not a CSS selector: h2[',
    )
    expect(await desk.fails('html_select', page)).toContain('must be an object with a CSS selector for each field')
    expect(await desk.fails('html_select', page, { fields: { a: { take: 'attribute' } } })).toContain('"attribute"')
  })

  test('becomes Markdown', async () => {
    const html = `<h1>Hello &amp; <em>World</em></h1><p>One <b>two </b>three <a href="https://e.example/a b">li*nk</a><br>next
      <ul><li>a<li>b<ul><li>c</ul></ul><ol start=3><li><p>x</p><p>y</p></li><li>z</ol>
      <pre><code class="language-js">let a = 1\n  if (a) {}</code></pre>
      <table><tr><th>A<th>B|C<tr><td>1<td>2</table><blockquote><p>q</p><p>r</p></blockquote>
      <img src="a.png" alt="pic"><script>alert(1)</script><p>1. no list<p># no heading`
    expect((await desk.do('html_to_markdown', html)).data).toBe(
      [
        '# Hello & *World*',
        'One **two** three [li\\*nk](<https://e.example/a b>)\\\nnext',
        '- a\n- b\n  - c',
        '3. x\n\n   y\n\n4. z',
        '```js\nlet a = 1\n  if (a) {}\n```',
        '| A | B\\|C |\n| --- | --- |\n| 1 | 2 |',
        '> q\n>\n> r',
        '![pic](a.png)',
        '1\\. no list',
        '\\# no heading\n',
      ].join('\n\n'),
    )
  })

  test('of a text becomes Markdown that shows the same text', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: fc.constantFrom(...'ab *_`[]()#<>&!|\\-+1.') }), async (text) => {
        const html = `<p>x${Bun.escapeHTML(text)}x</p>`
        const { data } = await desk.do('html_to_markdown', html)
        const back = (await desk.do('markdown_to_html', data as string)).data as string
        const shown = (await desk.do('html_select', back, { fields: { p: 'p' } })).data as { p: string }
        expect(shown.p).toBe(`x${text}x`.replace(/\s+/g, ' ').trim())
      }),
      { numRuns: 300 },
    )
  })
})
