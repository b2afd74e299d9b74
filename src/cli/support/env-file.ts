/** An invalid line of an env file. */
export class EnvFileError extends Error {
  readonly line: number
  constructor(line: number, message: string) {
    super(message)
    this.name = 'EnvFileError'
    this.line = line
  }
}

/**
 * Parses the dotenv format: `NAME=value` lines, optional `export`, `#` comments. Text in single quotes is literal; in
 * double quotes `\n`, `\r`, `\t`, `\"`, `\\` and `\$` are escapes; both may span lines. An unquoted value ends at the
 * end of the line or at ` #`. Nothing is expanded: `$NAME` stays. The later of two lines with the same name wins.
 */
export function parseEnvFile(text: string): Record<string, string> {
  const values: Record<string, string> = Object.create(null)
  const source = text.replace(/^\uFEFF/, '').replaceAll(/\r\n?/g, '\n')
  const fail = (offset: number, message: string) =>
    new EnvFileError(source.slice(0, offset).split('\n').length, message)
  let position = 0
  while (position < source.length) {
    const blank = matchAt(/[ \t]*(?:#[^\n]*)?(?:\n|$)/y, source, position)
    if (blank) {
      position += blank[0].length || 1
      continue
    }
    const start = matchAt(/[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_]*)[ \t]*=[ \t]*/y, source, position)
    if (!start) throw fail(position, 'expected NAME=value, a comment that begins with #, or an empty line')
    const name = start[1]!
    const value = readValue(source, position + start[0].length)
    if (!value) throw fail(position, `the value of ${name} has no closing quote`)
    const rest = matchAt(/[ \t]*(?:#[^\n]*)?(?=\n|$)/y, source, value.end)
    if (!rest) throw fail(value.end, `unexpected text after the closing quote of ${name}`)
    values[name] = value.text
    position = value.end + rest[0].length
  }
  return values
}

/** Undefined when a quote has no closing quote. */
function readValue(source: string, start: number): { text: string; end: number } | undefined {
  const quote = source[start]
  if (quote !== '"' && quote !== "'") {
    const line = matchAt(/[^\n]*/y, source, start)?.[0] ?? ''
    return { text: line.replace(/(?:^|\s)#.*$/, '').trim(), end: start + line.length }
  }
  const match = matchAt(quote === '"' ? /"((?:\\.|[^"\\])*)"/sy : /'([^']*)'/y, source, start)
  if (!match) return undefined
  const inside = match[1]!
  return { text: quote === '"' ? unescapeText(inside) : inside, end: start + match[0].length }
}

const escapes: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t', '"': '"', '\\': '\\', $: '$' }

function unescapeText(text: string): string {
  return text.replaceAll(/\\(.)/gs, (whole, letter: string) => escapes[letter] ?? whole)
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray | undefined {
  pattern.lastIndex = position
  return pattern.exec(text) ?? undefined
}
