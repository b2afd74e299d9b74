import { type Options, parse, type Program as SyntaxTree, type Token, tokTypes } from 'acorn'
import type { Program } from '../domain/run/program.ts'
import type { Slices } from '../domain/slices.ts'
import { parseTemplate, type Segment } from '../domain/workflow/reference.ts'
import { findMisplaced } from './placement.ts'

/** A value that code reads: a reference or an environment variable, as the value itself or as text. */
export type CodeSlot = { segment: Exclude<Segment, { kind: 'text' }>; as: 'value' | 'text' }

/** A syntax error. `line` and `column` count from 1. */
export type SyntaxProblem = { message: string; line: number; column: number }

export type CompiledCode =
  | { ok: true; program: Program; slots: readonly CodeSlot[] }
  | { ok: false; problem: SyntaxProblem }

export type Recognise = (segment: CodeSlot['segment']) => boolean

/**
 * Turns the body of an async function into a program in which every recognised reference is a variable. A reference
 * inside a string or template literal becomes part of that literal's content. No value is ever inserted as source text.
 */
export function* compileCode(source: string, recognise: Recognise): Slices<CompiledCode> {
  const rewritten = yield* rewrite(source, recognise)
  if (!rewritten.ok) return rewritten
  return { ok: true, program: makeProgram(rewritten.source, rewritten.parameters), slots: rewritten.slots }
}

export function makeProgram(source: string, parameters: readonly string[]): Program {
  const id = Bun.hash(`${parameters.join(',')}\n${source}`).toString(36) + source.length.toString(36)
  return { id, source, parameters }
}

export type Rewritten =
  | { ok: true; source: string; parameters: string[]; slots: CodeSlot[] }
  | { ok: false; problem: SyntaxProblem }

/**
 * Replaces references by variables. Pauses after each step: 100 kB take 20 ms to parse. `parameters[i]` is the name of
 * the variable for `slots[i]`.
 */
export function* rewrite(source: string, recognise: Recognise): Slices<Rewritten> {
  const mark = freeMark(source)
  const { text, segments } = withPlaceholders(source, mark, recognise)
  yield
  const tokens: Token[] = []
  const read = readSyntax(text, { onToken: tokens })
  if (!read.ok) return read
  if (segments.length === 0) return { ok: true, source, parameters: [], slots: [] }

  const used = new Map<string, CodeSlot>()
  const variable = (index: number, as: CodeSlot['as']): string => {
    const name = as === 'value' ? `${mark}${index}` : `${mark}${index}t`
    const segment = segments[index]
    if (segment) used.set(name, { segment, as })
    return name
  }
  yield
  const result = replaceInTokens(text, tokens, { mark, segments, variable })
  yield
  const again = readSyntax(result, { locations: true })
  yield
  const broken = again.ok ? misplacedIn(again.tree, used) : again.problem
  if (broken) return { ok: false, problem: { ...broken, message: `A reference cannot be here: ${broken.message}` } }
  return { ok: true, source: result, parameters: [...used.keys()], slots: [...used.values()] }
}

const options: Options = {
  ecmaVersion: 'latest',
  sourceType: 'script',
  allowReturnOutsideFunction: true,
  allowAwaitOutsideFunction: true,
}

function misplacedIn(tree: SyntaxTree, used: ReadonlyMap<string, CodeSlot>): SyntaxProblem | undefined {
  const misplaced = findMisplaced(tree, (name) => used.has(name))
  if (!misplaced) return undefined
  const source = used.get(misplaced.name)?.segment.source ?? ''
  return {
    message: `${source} is in a place where JavaScript needs a name; ${misplaced.advice}`,
    line: misplaced.line,
    column: 1,
  }
}

type Syntax = { ok: true; tree: SyntaxTree } | { ok: false; problem: SyntaxProblem }

function readSyntax(text: string, more: Pick<Options, 'onToken' | 'locations'>): Syntax {
  try {
    return { ok: true, tree: parse(text, { ...options, ...more }) }
  } catch (error) {
    const { message, loc } = error as { message: string; loc?: { line: number; column: number } }
    const problem = {
      message: message.replace(/ \(\d+:\d+\)$/, ''),
      line: loc?.line ?? 1,
      column: (loc?.column ?? 0) + 1,
    }
    return { ok: false, problem }
  }
}

/** A prefix for identifiers that does not occur in the source. */
function freeMark(source: string): string {
  let mark = '$ref'
  while (source.includes(mark)) mark = `$${mark}`
  return mark
}

/**
 * A placeholder is an identifier between two spaces. In the place of a value it is parsed as a variable, and inside
 * literals it can be found again. The spaces separate it from its neighbours and are removed with it.
 */
function withPlaceholders(source: string, mark: string, recognise: Recognise) {
  const segments: CodeSlot['segment'][] = []
  const indexes = new Map<string, number>()
  const text = parseTemplate(source)
    .map((segment) => {
      if (segment.kind === 'text') return segment.text
      if (!recognise(segment)) return segment.source
      const index = indexes.get(segment.source) ?? segments.push(segment) - 1
      indexes.set(segment.source, index)
      return ` ${mark}${index} `
    })
    .join('')
  return { text, segments }
}

type Replacing = {
  mark: string
  segments: readonly CodeSlot['segment'][]
  variable(index: number, as: CodeSlot['as']): string
}

function replaceInTokens(text: string, tokens: readonly Token[], replacing: Replacing): string {
  const pieces: string[] = []
  let from = 0
  tokens.forEach((token, position) => {
    const replacement = replacementOf(text.slice(token.start, token.end), token, replacing, {
      before: tokens[position - 1],
      after: tokens[position + 1],
    })
    if (replacement === undefined) return
    pieces.push(text.slice(from, token.start), replacement)
    from = token.end
  })
  pieces.push(text.slice(from))
  return pieces.join('')
}

function replacementOf(
  raw: string,
  token: Token,
  { mark, segments, variable }: Replacing,
  around: { before: Token | undefined; after: Token | undefined },
): string | undefined {
  if (!raw.includes(mark)) return undefined
  if (token.type === tokTypes.name) {
    variable(Number(raw.slice(mark.length)), 'value')
    return undefined
  }
  const placeholder = new RegExp(` ${mark.replaceAll('$', '\\$')}(\\d+) `, 'g')
  if (token.type === tokTypes.regexp)
    return raw.replace(placeholder, (_, index) => segments[Number(index)]?.source ?? '')
  if (token.type === tokTypes.template) {
    const parts = raw.split(placeholder)
    return parts
      .map((part, index) => {
        if (index % 2 === 1) return `\${${variable(Number(part), 'text')}}`
        return index < parts.length - 1 ? withoutLoneBackslash(part) : part
      })
      .join('')
  }
  if (token.type !== tokTypes.string) return undefined
  const quote = raw[0] ?? "'"
  const parts = raw.slice(1, -1).split(placeholder)
  const sum = parts
    .map((part, index) =>
      index % 2 === 1 ? variable(Number(part), 'text') : quote + withoutLoneBackslash(part) + quote,
    )
    .join(' + ')
  const isKey =
    around.after?.type === tokTypes.colon &&
    (around.before?.type === tokTypes.braceL || around.before?.type === tokTypes.comma)
  return isKey ? `[${sum}]` : `(${sum})`
}

/** In `'\<a.b>'` the backslash escapes the removed bracket. It is removed too, or it would escape the closing quote. */
function withoutLoneBackslash(part: string): string {
  // Counted from the end: the search for /\\*$/ takes n² steps in a text of backslashes.
  let start = part.length
  while (part[start - 1] === '\\') start -= 1
  return (part.length - start) % 2 === 1 ? part.slice(0, -1) : part
}
