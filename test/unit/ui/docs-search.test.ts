import { expect, test } from 'bun:test'
import { DocsSearch } from '../../../src/ui/docs/search.ts'

const entry = (heading: string, text: string) => ({ address: `/docs/page#${heading}`, page: 'Page', heading, text })
const search = new DocsSearch([
  entry('Schedules', 'A cron expression says when a workflow runs.'),
  entry('Settings', `${'Other words. '.repeat(30)}MILLRACE_PORT is the port. ${'More words. '.repeat(30)}`),
  entry('Streaming', 'A run that streams sends server-sent events. Schedules may stream, too.'),
])
const headings = (query: string) => search.find(query).map(({ heading }) => heading)

test('matching headings come before matching text', () => {
  expect(headings('schedules')).toEqual(['Schedules', 'Streaming'])
})

test('word beginnings, parts of names and typing errors match; every word must match', () => {
  expect(headings('expr')).toEqual(['Schedules'])
  expect(headings('MILLRACE_PORT')).toEqual(['Settings'])
  expect(headings('streeming')).toEqual(['Streaming'])
  expect(headings('cron port')).toEqual([])
})

test('an excerpt is short and highlights the matching words', () => {
  const { excerpt } = search.find('port')[0]!
  const text = excerpt.map((piece) => piece.text).join('')
  expect(text.length).toBeLessThan(180)
  expect(text).toContain('MILLRACE_PORT is the port')
  expect(excerpt.filter(({ isMatch }) => isMatch).map((piece) => piece.text)).toContain('port')
})

test('characters with a meaning in regular expressions are searched literally', () => {
  for (const query of ['$', 'a+b', '(', '[x]|y', '\\']) expect(() => search.find(query)).not.toThrow()
  const signs = new DocsSearch([entry('Cost', 'It costs $5+tax.')])
  expect(signs.find('$5+tax')).toHaveLength(1)
})
