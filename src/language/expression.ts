import { type Expression, parseExpressionAt } from 'acorn'
import type { Program } from '../domain/program.ts'
import { type CodeSlot, makeProgram, type Recognise, rewrite, type SyntaxProblem } from './code.ts'
import { compileNode, type Native } from './native.ts'

export type CompiledExpression =
  /**
   * `native`: inside the subset; evaluates in place, `values[i]` is what `slots[i]` had. Throws what JavaScript would
   * throw, or `NotNative` for values that the sandbox has to see. Null: uses more than the subset. `program`: the same
   * for the sandbox.
   */
  | { ok: true; native: Native | null; program: Program; slots: readonly CodeSlot[] }
  | { ok: false; problem: SyntaxProblem }

/** Compiles a JavaScript expression with references in it, once, at deployment. */
export function compileExpression(source: string, recognise: Recognise): CompiledExpression {
  if (source.trim() === '') return { ok: false, problem: { message: 'The expression is empty', line: 1, column: 1 } }
  // In parentheses, so that an object literal is not read as a block, and on lines of their own, so that a comment ends.
  const rewritten = rewrite(`(${source}\n)`, recognise)
  if (!rewritten.ok) return rewritten
  const { slots, parameters } = rewritten
  const tree = treeOf(rewritten.source)
  if (!tree.ok) return tree
  const native = nativeOf(tree.expression, parameters)
  return { ok: true, native, program: makeProgram(`return ${rewritten.source}`, parameters), slots }
}

/** Null, too, for a sum of thousands of terms: its tree is as deep as it is long, and the sandbox does not walk trees. */
function nativeOf(expression: Expression, parameters: readonly string[]): Native | null {
  try {
    return compileNode(expression, parameters) ?? null
  } catch (error) {
    if (error instanceof RangeError) return null
    throw error
  }
}

type Tree = { ok: true; expression: Expression } | { ok: false; problem: SyntaxProblem }

/** The text is `(`, the author's expression, `)`: a tree of anything but that one pair closes it and opens another. */
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
