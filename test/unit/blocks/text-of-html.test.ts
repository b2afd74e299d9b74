import { expect, test } from 'bun:test'
import fc from 'fast-check'
import { textOfHtml } from '../../../src/blocks/email/text-of-html.ts'
import { finish } from '../../../src/domain/slices.ts'

const textOf = (html: string) => finish(textOfHtml(html))

test.each([
  ['plain', 'plain'],
  ['a<br>b<br/>c', 'a\nb\nc'],
  ['<ul><li>one</li><li>two</li></ul>', '- one\n- two'],
  ['<h1>Title</h1>\n  text   with\nspaces', 'Title\ntext with spaces'],
  ['<script>alert("x")</script>a<!-- b > c -->d', 'ad'],
  ['<table><tr><td>1</td><td>2</td></tr></table>', '1 2'],
  ['&lt;b&gt; &#233; &#xe9; &nope; &#0;', '<b> é é &nope;'],
  ['<a href="mailto:a@b.example">write</a>', 'write (a@b.example)'],
  ['<a href="javascript:alert(1)">click</a>', 'click'],
  ['<a href="https://a.example">https://a.example</a>', 'https://a.example'],
  ['1 < 2', '1'],
  ['<p', ''],
])('the text of %j is %j', (html, text) => expect(textOf(html)).toBe(text))

test('any HTML has a text without tags of scripts', () => {
  const piece = fc.constantFrom(
    '<',
    '>',
    '<p>',
    '</p>',
    '<script>',
    '</script>',
    '<a href="',
    '"',
    '&#x41;',
    '&',
    '<!--',
    '-->',
    'x',
    ' ',
  )
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
      const text = textOf(pieces.join(''))
      expect(text).toBe(text.trim())
      expect(text).not.toContain('<script>')
    }),
  )
})

test.each(['<', '<a href="', '<p>', '<!--', '<script>', '&', '<td>', "<a href='x", '</script '])(
  'a megabyte of %j takes less than a second',
  (piece) => {
    const html = piece.repeat(1_000_000 / piece.length)
    const from = performance.now()
    textOf(html)
    expect(performance.now() - from).toBeLessThan(1_000)
  },
)
