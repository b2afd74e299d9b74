import type { Program as SyntaxTree } from 'acorn'

/** A reference in the place of a name instead of a value. The line counts from 1. */
export type Misplaced = { name: string; line: number; advice: string }

type Node = { type: string; loc?: { start: { line: number } } | null; [member: string]: unknown }

/**
 * Finds the first reference in a place where JavaScript needs a name: as the key of an object, after a dot, or where
 * something is declared or assigned. JavaScript would use the variable's name itself there, without an error.
 */
export function findMisplaced(tree: SyntaxTree, isReference: (name: string) => boolean): Misplaced | undefined {
  const open: unknown[] = [tree]
  for (let node = open.pop(); node !== undefined; node = open.pop()) {
    if (Array.isArray(node)) open.push(...node)
    else if (isNode(node)) {
      const misplaced = misplacedIn(node, isReference)
      if (misplaced) return misplaced
      open.push(...Object.values(node).filter((member) => typeof member === 'object' && member !== null))
    }
  }
  return undefined
}

function misplacedIn(node: Node, isReference: (name: string) => boolean): Misplaced | undefined {
  for (const { of, member, advice } of namesIn(node)) {
    const name = (of[member] as Node | null | undefined)?.['name']
    if (typeof name === 'string' && isReference(name)) return { name, line: node.loc?.start.line ?? 1, advice }
  }
  return undefined
}

type Name = { of: Node; member: string; advice: string }

function namesIn(node: Node): Name[] {
  const inBrackets = 'put it in brackets: [<…>]'
  const asValue = 'use it as a value'
  switch (node.type) {
    case 'Property':
    case 'MethodDefinition':
    case 'PropertyDefinition':
      return node['computed'] ? [] : [{ of: node, member: 'key', advice: inBrackets }]
    case 'MemberExpression':
      return node['computed'] ? [] : [{ of: node, member: 'property', advice: inBrackets }]
    case 'VariableDeclarator':
    case 'FunctionDeclaration':
    case 'FunctionExpression':
    case 'ClassDeclaration':
    case 'ClassExpression':
      return [{ of: node, member: 'id', advice: asValue }]
    case 'AssignmentExpression':
    case 'AssignmentPattern':
      return [{ of: node, member: 'left', advice: asValue }]
    case 'UpdateExpression':
      return [{ of: node, member: 'argument', advice: asValue }]
    default:
      return []
  }
}

function isNode(value: unknown): value is Node {
  return typeof value === 'object' && value !== null && typeof (value as Node).type === 'string'
}
