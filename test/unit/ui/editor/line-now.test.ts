import { expect, test } from 'bun:test'
import { lineNow } from '../../../../src/ui/editor/inspector/code/line-now.ts'

const code = 'one\ntwo\nthree\nfour'

test('a line keeps its place while other lines change, and while it changes itself', () => {
  expect(lineNow(code, code, 3)).toBe(3)
  expect(lineNow(code, 'zero\none\ntwo\nthree\nfour', 3)).toBe(4)
  expect(lineNow(code, 'two\nthree\nfour', 3)).toBe(2)
  expect(lineNow(code, `${code}\nfive\nsix`, 3)).toBe(3)
  expect(lineNow(code, 'one\ntwo\n3\nfour', 3)).toBe(3)
  expect(lineNow(code, 'one\n2\n3\nfour', 3)).toBe(3)
})

test('a line of a part that has more or fewer lines now is not known', () => {
  expect(lineNow(code, 'one\ntwo\nfour', 3)).toBeUndefined()
  expect(lineNow(code, 'one\ntwo\n3\n3.5\nfour', 3)).toBeUndefined()
  expect(lineNow(code, 'quite different', 3)).toBeUndefined()
  expect(lineNow(code, '', 1)).toBeUndefined()
})
