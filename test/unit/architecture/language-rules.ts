import { blank } from './source-lines.ts'

/** One phrase that is not plain English, or one line that is too long. */
export type WordingBreach = { file: string; line: number; message: string }

const columnsMax = 120

/** Phrases that hide the actor or invert the sentence, wherever they are. */
const bannedPhrases: readonly { pattern: RegExp; instead: string }[] = [
  { pattern: /\bwhoever\b/i, instead: 'name the actor: "the caller", "a client that …"' },
  { pattern: /\bwhat (?:is|was|it|are|they) [^.,;:!?()"`]{1,40}? (?:is|are)\b/i, instead: 'name the thing itself' },
  { pattern: /\bnobody (?:knows|sees)\b/i, instead: 'say what is unknown or hidden' },
  { pattern: /\bis no [a-z]+ that\b/i, instead: 'say what it is' },
  { pattern: /\bthat is (?:none|no [a-z]+)\b/i, instead: '"that is not a …"' },
  { pattern: /\blets? [a-z]+ be\b/i, instead: '"leaves … unchanged", "ignores …"' },
  { pattern: /\b(?:says?|said|tells?|told) of\b/i, instead: '"says that", "reports", "describes"' },
  { pattern: /\bruns? by hand\b/i, instead: '"manual run"' },
  { pattern: /\bbehind everybody\b/i, instead: 'name who waits for whom' },
]

/** Words with which a comment or heading must not begin: an inverted clause or a riddle follows. */
const bannedBeginning = /^(?:Of|What|Whoever) [a-z]/

/** Every breach in a TypeScript file (comments, strings, line lengths) or a Markdown file (prose). */
export function wordingBreaches(file: string, text: string): WordingBreach[] {
  const found = file.endsWith('.md') ? markdownBreaches(text) : sourceBreaches(text)
  return found.map((one) => ({ file, ...one })).toSorted((a, b) => a.line - b.line)
}

type Found = Omit<WordingBreach, 'file'>

function sourceBreaches(text: string): Found[] {
  const withoutComments = blank(text, { strings: false })
  const withoutStrings = blank(text, { strings: true })
  const comments = difference(text, withoutComments)
  const strings = difference(withoutComments, withoutStrings)
  return [
    ...longLines(shortened(text, withoutStrings, comments)),
    ...comments.flatMap(({ line, text: comment }) => {
      const words = comment.replace(/^\s*(?:\/\*\*?|\/\/|\*)\s?/, '').replace(/\s*\*\/\s*$/, '')
      return phrasesIn(line, words)
    }),
    ...beginnings(comments),
    ...strings
      .filter(({ text: string }) => string.includes(' '))
      .flatMap(({ line, text: string }) => phrasesIn(line, string)),
  ]
}

/**
 * The lines of a source file for the check of their length. The formatter wraps code but cannot break a literal, so
 * literals count for nothing. Directives for the linter must stay on one line.
 */
function shortened(text: string, withoutStrings: string, comments: readonly Piece[]): string[] {
  const commented = new Map(comments.map((piece) => [piece.line, piece]))
  const codeOnly = withoutStrings.split('\n')
  return text.split('\n').map((line, index) => {
    if (line.includes('biome-ignore')) return ''
    return commented.has(index + 1) ? line : codeOnly[index]!.replace(/ {2,}/g, ' ')
  })
}

type Piece = { line: number; column: number; text: string }

/** The parts of each line that are blank in the other version of the text. */
function difference(text: string, blanked: string): Piece[] {
  const others = blanked.split('\n')
  return text.split('\n').flatMap((line, index) => {
    const other = others[index]!
    if (line === other) return []
    const pieces: Piece[] = []
    for (let at = 0; at < line.length; at++) {
      if (line[at] === other[at]) continue
      let end = at
      // A space is the same in both, so a piece goes on over single spaces.
      while (end < line.length && (line[end] !== other[end] || line[end] === ' ')) end++
      pieces.push({ line: index + 1, column: at, text: line.slice(at, end) })
      at = end
    }
    return pieces
  })
}

/** Comments that start with a banned word. A `//` below another one continues it. */
function beginnings(comments: readonly Piece[]): Found[] {
  const starts = new Set(comments.filter(({ text }) => text.startsWith('//')).map(({ line }) => line))
  return comments.flatMap(({ line, text }, index) => {
    const isStart = text.startsWith('//')
      ? !starts.has(line - 1)
      : /^\/\*/.test(text) || isAfterOpening(comments[index - 1], line)
    const words = text.replace(/^\s*(?:\/\*\*?|\/\/|\*)\s*/, '')
    return isStart && bannedBeginning.test(words) ? [{ line, message: beginningMessage(words) }] : []
  })
}

function isAfterOpening(before: Piece | undefined, line: number): boolean {
  return before !== undefined && before.line === line - 1 && /^\/\*\*?\s*$/.test(before.text)
}

function markdownBreaches(text: string): Found[] {
  let fence = false
  return text.split('\n').flatMap((content, index) => {
    const line = index + 1
    if (/^\s*(```|~~~)/.test(content)) {
      fence = !fence
      return []
    }
    if (fence || /^ {4}/.test(content)) return []
    const heading = /^#+ (.*)/.exec(content)?.[1] ?? ''
    return [
      ...(/^\s*\||https?:\/\/|^\s*!?\[/.test(content) ? [] : longLines([content], line)),
      ...(bannedBeginning.test(heading) ? [{ line, message: beginningMessage(heading) }] : []),
      ...phrasesIn(line, content.replace(/`[^`]*`/g, '``')),
    ]
  })
}

function phrasesIn(line: number, words: string): Found[] {
  return bannedPhrases.flatMap(({ pattern, instead }) => {
    const phrase = pattern.exec(words)?.[0]
    return phrase === undefined ? [] : [{ line, message: `"${phrase}" is not plain: ${instead}` }]
  })
}

function beginningMessage(words: string): string {
  return `do not begin with "${words.split(' ')[0]}": start with the subject`
}

function longLines(lines: readonly string[], first = 1): Found[] {
  return lines.flatMap((line, index) => {
    if (line.length <= columnsMax) return []
    return [{ line: first + index, message: `${line.length} columns, more than ${columnsMax}` }]
  })
}
