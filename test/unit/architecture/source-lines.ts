// Parses TypeScript for the architecture check: import lines, and code without comments and strings.

/** One import or re-export of another module. */
export type ImportLine = { line: number; target: string; typeOnly: boolean }

/** A line of code with blanks for comments and strings. `depth`: the number of open braces at its beginning. */
export type CodeLine = { line: number; text: string; depth: number }

/** Every import: static, for its effects, re-exports, dynamic, and types written as `import('…')`. */
export function importLines(text: string): ImportLine[] {
  const found: ImportLine[] = []
  // Only comments are blanked here, because the import target is a string. The offsets are the same in both texts.
  const code = blank(text, { strings: false })
  const hidden = blank(text, { strings: true })
  const lineOf = (offset: number) => text.slice(0, offset).split('\n').length
  for (const match of code.matchAll(/\b(import|export)\b([^'"`;()=]*?)\bfrom\s*(['"])([^'"\n]+)\3/g)) {
    if (hidden.slice(match.index, match.index + 6) !== match[1]) continue
    found.push({ line: lineOf(match.index), target: match[4]!, typeOnly: isTypeOnly(match[2]!) })
  }
  for (const match of code.matchAll(/\bimport\s*(['"])([^'"\n]+)\1/g)) {
    if (hidden.slice(match.index, match.index + 6) !== 'import') continue
    found.push({ line: lineOf(match.index), target: match[2]!, typeOnly: false })
  }
  for (const match of code.matchAll(/\b(typeof\s+)?import\s*\(\s*(['"])([^'"\n]+)\2/g)) {
    if (hidden.slice(match.index).startsWith(' ')) continue
    found.push({ line: lineOf(match.index), target: match[3]!, typeOnly: match[1] !== undefined })
  }
  return found.toSorted((a, b) => a.line - b.line)
}

/** Whether it is `import type …`, or every name in the braces has `type`. */
function isTypeOnly(clause: string): boolean {
  if (/^\s*type\s+(?!from\b)/.test(clause)) return true
  const names = /^\s*\{([^}]*)\}\s*$/
    .exec(clause)?.[1]
    ?.split(',')
    .map((name) => name.trim())
    .filter(Boolean)
  return names !== undefined && names.length > 0 && names.every((name) => /^type\s/.test(name))
}

/** The lines of code. A multi-line declaration at depth 0 is one entry. */
export function codeLines(text: string): CodeLine[] {
  const lines = blank(text, { strings: true }).split('\n')
  const found: CodeLine[] = []
  let depth = 0
  for (const [index, line] of lines.entries()) {
    if (line.trim() !== '') found.push({ line: index + 1, text: statementAt(lines, index, depth), depth })
    for (const letter of line) {
      if (letter === '{' || letter === '(' || letter === '[') depth++
      else if (letter === '}' || letter === ')' || letter === ']') depth--
    }
  }
  return found
}

/** At depth 0, returns a `const` with its whole value, so that a check sees `as const` many lines below. */
function statementAt(lines: readonly string[], index: number, depth: number): string {
  const first = lines[index]!
  if (depth !== 0 || !/^(export\s+)?const\b/.test(first)) return first
  let statement = ''
  let open = 0
  for (let i = index; i < lines.length; i++) {
    statement += `${lines[i]!.trim()} `
    for (const letter of lines[i]!) open += '{(['.includes(letter) ? 1 : '})]'.includes(letter) ? -1 : 0
    if (open === 0 && !/[=,|&?:]\s*$/.test(lines[i]!)) break
  }
  return statement.trim()
}

/** Replaces comments, and optionally the contents of strings, with spaces. Keeps line breaks and offsets. */
export function blank(text: string, { strings }: { strings: boolean }): string {
  const out = text.split('')
  const wipe = (from: number, to: number) => {
    for (let i = from; i < to; i++) if (out[i] !== '\n') out[i] = ' '
  }
  /** The text before a slash decides whether it divides or starts a regular expression. */
  let before = ''
  /** For each `${` that is open: how many braces are open inside. */
  const templates: number[] = []
  let i = 0
  const string = (from: number, end: number) => {
    if (strings) wipe(from, Math.max(from, end - 1))
    before = '"'
    return end
  }
  while (i < text.length) {
    const two = text.slice(i, i + 2)
    const letter = text[i]!
    if (two === '//') {
      const end = endOf(text, i, /\n|$/g)
      wipe(i, end)
      i = end
    } else if (two === '/*') {
      const end = text.indexOf('*/', i + 2) === -1 ? text.length : text.indexOf('*/', i + 2) + 2
      wipe(i, end)
      i = end
    } else if (letter === "'" || letter === '"') i = string(i + 1, quotedEnd(text, i))
    else if (letter === '`' || (letter === '}' && templates.at(-1) === 0)) {
      if (letter === '}') templates.pop()
      const end = templateEnd(text, i + 1)
      if (text[end - 1] === '{') templates.push(0)
      if (strings) wipe(i + 1, text[end - 1] === '{' ? end - 2 : end - 1)
      before = text[end - 1] === '{' ? '{' : '"'
      i = end
    } else if (letter === '/' && startsExpression(before)) {
      const end = expressionEnd(text, i)
      if (strings) wipe(i + 1, end - 1)
      before = '"'
      i = end
    } else {
      if (templates.length > 0 && letter === '{') templates[templates.length - 1]!++
      if (templates.length > 0 && letter === '}') templates[templates.length - 1]!--
      const word = /[\w$]+/y
      word.lastIndex = i
      const match = word.exec(text)?.[0]
      if (match !== undefined) before = match
      else if (!/\s/.test(letter)) before = letter
      i += match?.length ?? 1
    }
  }
  return out.join('')
}

function endOf(text: string, from: number, pattern: RegExp): number {
  pattern.lastIndex = from
  return pattern.exec(text)?.index ?? text.length
}

function quotedEnd(text: string, start: number): number {
  for (let i = start + 1; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === text[start] || text[i] === '\n') return i + 1
  }
  return text.length
}

/** The offset after the closing backtick, or after the `${` before it. */
function templateEnd(text: string, start: number): number {
  for (let i = start; i < text.length; i++) {
    if (text[i] === '\\') i++
    else if (text[i] === '`') return i + 1
    else if (text[i] === '$' && text[i + 1] === '{') return i + 2
  }
  return text.length
}

function startsExpression(before: string): boolean {
  if (/^(return|typeof|case|in|of|delete|void|throw|await|yield|else|do)$/.test(before)) return true
  return before === '' || !/[\w$)\]}"]$/.test(before)
}

function expressionEnd(text: string, start: number): number {
  let inClass = false
  for (let i = start + 1; i < text.length; i++) {
    const letter = text[i]
    if (letter === '\\') i++
    else if (letter === '\n') return start + 1
    else if (letter === '[') inClass = true
    else if (letter === ']') inClass = false
    else if (letter === '/' && !inClass) return i + 1
  }
  return text.length
}
