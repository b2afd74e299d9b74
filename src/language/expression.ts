import { type Expression, parseExpressionAt } from 'acorn'
import type { Program } from '../domain/run/program.ts'
import type { Slices } from '../domain/slices.ts'
import { type CodeSlot, makeProgram, type Recognise, rewrite, type SyntaxProblem } from './code.ts'
import { compileNode } from './native.ts'
import { Work } from './work.ts'

/** Evaluates an expression of the subset. `values[i]` is the value of `slots[i]`; `workMax` limits the work. */
export type Native = (values: readonly unknown[], workMax: number) => unknown

export type CompiledExpression =
  /**
   * `native`: evaluates an expression of the subset in place. It throws what JavaScript would throw, or `NotNative` for
   * values that need the sandbox. Null for an expression outside the subset.
   * `program`: the same expression for the sandbox.
   */
  | { ok: true; native: Native | null; program: Program; slots: readonly CodeSlot[] }
  | { ok: false; problem: SyntaxProblem }

/** Compiles a JavaScript expression with references. Called once, at deployment. */
export function* compileExpression(source: string, recognise: Recognise): Slices<CompiledExpression> {
  const read = yield* readExpression(source, recognise)
  if (!read.ok) return read
  const { native, slots, parameters } = read
  return { ok: true, native, program: makeProgram(`return ${read.source}`, parameters), slots }
}

type ReadExpression =
  | { ok: true; native: Native | null; source: string; parameters: string[]; slots: readonly CodeSlot[] }
  | { ok: false; problem: SyntaxProblem }

/** The part of the compilation that also works in browsers. `source`: with variables in place of references. */
export function* readExpression(source: string, recognise: Recognise): Slices<ReadExpression> {
  if (source.trim() === '') return { ok: false, problem: { message: 'The expression is empty', line: 1, column: 1 } }
  // The parentheses keep an object literal from being read as a block. The line break ends a trailing comment.
  const rewritten = yield* rewrite(`(${source}\n)`, recognise)
  if (!rewritten.ok) return rewritten
  const { slots, parameters } = rewritten
  const tree = treeOf(rewritten.source)
  if (!tree.ok) return tree
  return { ok: true, native: nativeOf(tree.expression, parameters), source: rewritten.source, parameters, slots }
}

/** Also null for a sum of thousands of terms, whose syntax tree is too deep for recursion here. */
function nativeOf(expression: Expression, names: readonly string[]): Native | null {
  // Every part of an expression takes time, too.
  if (expression.end - expression.start > nativeCharsMax) return null
  const work = new Work()
  try {
    const compiled = compileNode(expression, { names, work })
    if (!compiled) return null
    return (values, workMax) => {
      work.left = workMax
      return compiled(values)
    }
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

const nativeCharsMax = 65_536

type Tree = { ok: true; expression: Expression } | { ok: false; problem: SyntaxProblem }

/**
 * The text is the author's expression in parentheses. Any other tree means that the author closed them and opened
 * others.
 */
function treeOf(text: string): Tree {
  try {
    const expression = parseExpressionAt(text, 0, { ecmaVersion: 'latest', preserveParens: true })
    if (expression.type === 'ParenthesizedExpression' && expression.end === text.length) return { ok: true, expression }
    return { ok: false, problem: { message: 'The parentheses do not match', line: 1, column: 1 } }
  } catch (error) {
    return {
      ok: false,
      problem: { message: (error as Error).message.replace(/ \(\d+:\d+\)$/, ''), line: 1, column: 1 },
    }
  }
}
