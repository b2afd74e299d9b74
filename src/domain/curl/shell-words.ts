/**
 * The words of a POSIX shell command: quotes, backslashes, `$'…'` and line continuations. Nothing is expanded or run.
 * Also understands the carets with which browsers write commands for the Windows command line.
 */
export function shellWords(command: string): string[] {
  const text = /\^\r?\n/.test(command)
    ? command.replaceAll(/\^(\r?\n|.)/g, (_, next: string) => (next.trim() === '' ? ' ' : next))
    : command
  const words: string[] = []
  let word: string | undefined
  for (let at = 0; at < text.length; at += 1) {
    const char = text[at]!
    if (char === '\\') {
      at += text[at + 1] === '\r' ? 2 : 1
      const next = text[at]
      if (next !== undefined && next !== '\n') word = (word ?? '') + next
    } else if (char === "'" || (char === '$' && text[at + 1] === "'")) {
      const isAnsi = char === '$'
      const end = closing(text, at + (isAnsi ? 2 : 1), isAnsi)
      const content = text.slice(at + (isAnsi ? 2 : 1), end)
      word = (word ?? '') + (isAnsi ? ansi(content) : content)
      at = end
    } else if (char === '"') {
      let content = ''
      at += 1
      for (; at < text.length && text[at] !== '"'; at += 1) {
        if (text[at] === '\\' && /["\\$`\n]/.test(text[at + 1] ?? '')) {
          at += 1
          if (text[at] !== '\n') content += text[at]
        } else content += text[at]
      }
      word = (word ?? '') + content
    } else if (/\s/.test(char)) {
      if (word !== undefined) words.push(word)
      word = undefined
      // A pipe or another command follows.
    } else if (word === undefined && /[|;&<>]/.test(char)) break
    else word = (word ?? '') + char
  }
  if (word !== undefined) words.push(word)
  return words
}

/** The end of a quoted part. In `$'…'`, a backslash keeps the quote after it. */
function closing(text: string, from: number, isAnsi: boolean): number {
  for (let at = from; at < text.length; at += 1) {
    if (isAnsi && text[at] === '\\') at += 1
    else if (text[at] === "'") return at
  }
  return text.length
}

const escapes: Readonly<Record<string, string>> = {
  n: '\n',
  t: '\t',
  r: '\r',
  '0': '\0',
  a: '\x07',
  b: '\b',
  f: '\f',
  v: '\v',
}

function ansi(text: string): string {
  return text.replaceAll(/\\(u[0-9a-fA-F]{1,4}|x[0-9a-fA-F]{1,2}|.)/gs, (_, code: string) => {
    if (/^[ux][0-9a-fA-F]/.test(code)) return String.fromCharCode(Number.parseInt(code.slice(1), 16))
    return escapes[code] ?? code
  })
}
