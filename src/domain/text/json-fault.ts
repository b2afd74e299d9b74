/**
 * Explains where and why a text is not valid JSON; undefined when it is valid. It is slower than the engine's parser,
 * so it only serves error messages. The caller must limit the nesting of the text, because this reader is recursive.
 */
export function findJsonFault(text: string): string | undefined {
  try {
    const end = skipSpace(text, readValue(text, skipSpace(text, 0)))
    if (end < text.length) fail(end, 'the end of the text')
    return undefined
  } catch (fault) {
    if (!(fault instanceof Fault)) throw fault
    return describe(text, fault)
  }
}

class Fault extends Error {
  readonly at: number
  readonly expected: string
  constructor(at: number, expected: string) {
    super(expected)
    this.at = at
    this.expected = expected
  }
}

function fail(at: number, expected: string): never {
  throw new Fault(at, expected)
}

/** `line 2, column 7: expected a comma or "}", found "x".` */
function describe(text: string, { at, expected }: Fault): string {
  const before = text.slice(0, at)
  const line = before.split('\n').length
  const column = at - before.lastIndexOf('\n')
  const character = text.codePointAt(at)
  const found = character === undefined ? 'the end of the text' : nameOf(character)
  return `line ${line}, column ${column}: expected ${expected}, found ${found}.`
}

function nameOf(character: number): string {
  if (character === 0x0a || character === 0x0d) return 'a line break'
  if (character === 0x09) return 'a tab'
  if (character === 0x22) return "'\"'"
  if (character < 0x20 || character === 0x7f || (character >= 0xd800 && character <= 0xdfff)) {
    return `the character U+${character.toString(16).toUpperCase().padStart(4, '0')}`
  }
  return `"${String.fromCodePoint(character)}"`
}

const space = /[ \t\n\r]*/y
const number = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y
const word = /true|false|null/y

function match(pattern: RegExp, text: string, at: number): number | undefined {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : undefined
}

function skipSpace(text: string, at: number): number {
  return match(space, text, at) ?? at
}

function readValue(text: string, at: number): number {
  switch (text[at]) {
    case '{':
      return readMembers(text, at)
    case '[':
      return readItems(text, at)
    case '"':
      return readString(text, at)
  }
  return match(word, text, at) ?? match(number, text, at) ?? fail(at, 'a value')
}

function readMembers(text: string, start: number): number {
  let at = skipSpace(text, start + 1)
  if (text[at] === '}') return at + 1
  for (;;) {
    if (text[at] !== '"') fail(at, 'a member name in double quotes')
    at = skipSpace(text, readString(text, at))
    if (text[at] !== ':') fail(at, 'a colon')
    at = skipSpace(text, readValue(text, skipSpace(text, at + 1)))
    if (text[at] === '}') return at + 1
    if (text[at] !== ',') fail(at, 'a comma or "}"')
    at = skipSpace(text, at + 1)
  }
}

function readItems(text: string, start: number): number {
  let at = skipSpace(text, start + 1)
  if (text[at] === ']') return at + 1
  for (;;) {
    at = skipSpace(text, readValue(text, at))
    if (text[at] === ']') return at + 1
    if (text[at] !== ',') fail(at, 'a comma or "]"')
    at = skipSpace(text, at + 1)
  }
}

const escaped = /["\\/bfnrt]|u[0-9a-fA-F]{4}/y

function readString(text: string, start: number): number {
  let at = start + 1
  for (; text[at] !== '"'; at++) {
    if (at >= text.length) fail(at, 'a closing double quote')
    if (text.charCodeAt(at) < 0x20) fail(at, 'an escape such as \\n instead of a raw control character in the string')
    if (text[at] === '\\') at = (match(escaped, text, at + 1) ?? fail(at + 1, 'an escape such as \\n or \\u0041')) - 1
  }
  return at + 1
}
