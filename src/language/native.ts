import type { Expression, MemberExpression, SpreadElement, Super } from 'acorn'
import { checkLength, functionOf, methodNames, methodOf } from './methods.ts'
import { NotNative, type Work } from './work.ts'

/** Evaluates a compiled expression over the values of its references. */
type Native = (values: readonly unknown[]) => unknown

/** `names[i]` is the variable for `values[i]`. Every evaluation draws on `work`. */
export type Scope = { names: readonly string[]; work: Work }

/**
 * Compiles a syntax tree to closures. Returns undefined when it uses more than the subset: operators, member access,
 * literals, `?:`, `??`, `?.`, template strings and simple methods of strings, numbers, arrays, `Math`, `JSON`,
 * `Object`. Expressions cannot reach the host: members are own members of data, and methods come from `methods.ts`.
 */
export function compileNode(node: Expression | SpreadElement | Super, scope: Scope): Native | undefined {
  const compile = (inner: Expression | SpreadElement | Super) => compileNode(inner, scope)
  const { names, work } = scope
  switch (node.type) {
    case 'ParenthesizedExpression':
      return compile(node.expression)
    case 'Literal': {
      if (node.regex || node.bigint) return undefined
      const { value } = node
      return () => value
    }
    case 'Identifier': {
      const index = names.indexOf(node.name)
      if (index >= 0) return (values) => values[index]
      if (!(node.name in constants)) return undefined
      const value = constants[node.name as keyof typeof constants]
      return () => value
    }
    case 'UnaryExpression': {
      const argument = compile(node.argument)
      return argument && compileUnary(node.operator, argument, work)
    }
    case 'BinaryExpression': {
      if (node.left.type === 'PrivateIdentifier') return undefined
      const left = compile(node.left)
      const right = compile(node.right)
      return left && right && compileBinary(node.operator, left, right, work)
    }
    case 'LogicalExpression': {
      const left = compile(node.left)
      const right = compile(node.right)
      if (!left || !right) return undefined
      if (node.operator === '&&') return (values) => left(values) && right(values)
      if (node.operator === '||') return (values) => left(values) || right(values)
      return (values) => left(values) ?? right(values)
    }
    case 'ConditionalExpression': {
      const test = compile(node.test)
      const yes = compile(node.consequent)
      const no = compile(node.alternate)
      return test && yes && no && ((values) => (test(values) ? yes(values) : no(values)))
    }
    case 'TemplateLiteral': {
      const parts = compileAll(node.expressions, scope)
      const texts = node.quasis.map((quasi) => quasi.value.cooked ?? '')
      if (!parts) return undefined
      return (values) => {
        let text = texts[0] ?? ''
        for (const [index, part] of parts.entries()) {
          const value = part(values)
          work.read(value)
          text += `${value}${texts[index + 1] ?? ''}`
          checkLength(text.length)
        }
        return text
      }
    }
    case 'ArrayExpression': {
      if (node.elements.some((element) => element === null)) return undefined
      const elements = compileAll(node.elements as Expression[], scope)
      return elements && ((values) => elements.map((element) => element(values)))
    }
    case 'ObjectExpression':
      return compileObject(node.properties, scope)
    case 'ChainExpression': {
      const chain = compile(node.expression)
      return chain && ((values) => endOfChain(chain(values)))
    }
    case 'MemberExpression':
      return compileMember(node, scope)
    case 'CallExpression': {
      if (node.callee.type !== 'MemberExpression') return undefined
      return compileCall(node.callee, node.arguments, node.optional, scope)
    }
    default:
      return undefined
  }
}

const constants = { undefined, NaN: Number.NaN, Infinity: Number.POSITIVE_INFINITY }

/** The value of a chain after `?.` on null or undefined. */
const nothing = Symbol('nothing')
const endOfChain = (value: unknown) => (value === nothing ? undefined : value)

function bounded<T>(value: T): T {
  if (typeof value === 'string') checkLength(value.length)
  return value
}

function compileUnary(operator: string, argument: Native, work: Work): Native | undefined {
  const operate = unary[operator as keyof typeof unary]
  if (!operate) return undefined
  if (operator === '!' || operator === 'typeof' || operator === 'void') return (values) => operate(argument(values))
  return (values) => {
    const value = argument(values)
    if (typeof value !== 'number') work.read(value)
    return operate(value)
  }
}

function compileBinary(operator: string, left: Native, right: Native, work: Work): Native | undefined {
  const operate = binary[operator as keyof typeof binary] as ((a: unknown, b: unknown) => unknown) | undefined
  if (!operate) return undefined
  const isEquality = operator === '==' || operator === '!=' || operator === '===' || operator === '!=='
  const take = isEquality ? takeEquality : takeOperands
  return (values) => {
    const a = left(values)
    const b = right(values)
    if (typeof a === 'number' && typeof b === 'number') return operate(a, b)
    take(a, b, work)
    return bounded(operate(a, b))
  }
}

function takeOperands(a: unknown, b: unknown, work: Work): void {
  work.read(a)
  work.read(b)
}

/** Only texts of the same length are compared, and an object only becomes a text to be compared with a text. */
function takeEquality(a: unknown, b: unknown, work: Work): void {
  if (typeof a === 'string' && typeof b === 'string') {
    if (a.length === b.length) work.chars(a.length)
  } else if (a !== null && a !== undefined && b !== null && b !== undefined && typeof a !== typeof b) {
    takeOperands(a, b, work)
  }
}

const unary = {
  '-': (value: unknown) => -(value as number),
  '+': (value: unknown) => +(value as number),
  '!': (value: unknown) => !value,
  '~': (value: unknown) => ~(value as number),
  typeof: (value: unknown) => typeof value,
  void: () => undefined,
}

// The loose comparisons are intended: they have their JavaScript meaning.
const binary = {
  '+': (a: number, b: number) => a + b,
  '-': (a: number, b: number) => a - b,
  '*': (a: number, b: number) => a * b,
  '/': (a: number, b: number) => a / b,
  '%': (a: number, b: number) => a % b,
  '**': (a: number, b: number) => a ** b,
  // biome-ignore lint/suspicious/noDoubleEquals: the meaning of == is what is compiled here
  '==': (a: unknown, b: unknown) => a == b,
  // biome-ignore lint/suspicious/noDoubleEquals: the meaning of != is what is compiled here
  '!=': (a: unknown, b: unknown) => a != b,
  '===': (a: unknown, b: unknown) => a === b,
  '!==': (a: unknown, b: unknown) => a !== b,
  '<': (a: number, b: number) => a < b,
  '<=': (a: number, b: number) => a <= b,
  '>': (a: number, b: number) => a > b,
  '>=': (a: number, b: number) => a >= b,
  '&': (a: number, b: number) => a & b,
  '|': (a: number, b: number) => a | b,
  '^': (a: number, b: number) => a ^ b,
  '<<': (a: number, b: number) => a << b,
  '>>': (a: number, b: number) => a >> b,
  '>>>': (a: number, b: number) => a >>> b,
}

function compileAll(nodes: readonly (Expression | SpreadElement)[], scope: Scope): Native[] | undefined {
  const compiled = nodes.map((node) => compileNode(node, scope))
  return compiled.every((native) => native !== undefined) ? (compiled as Native[]) : undefined
}

type Properties = Extract<Expression, { type: 'ObjectExpression' }>['properties']

function compileObject(properties: Properties, scope: Scope): Native | undefined {
  const members: { key: string; value: Native }[] = []
  for (const property of properties) {
    if (property.type !== 'Property' || property.kind !== 'init' || property.computed || property.method)
      return undefined
    const value = compileNode(property.value, scope)
    const key =
      property.key.type === 'Identifier'
        ? property.key.name
        : property.key.type === 'Literal'
          ? String(property.key.value)
          : undefined
    if (!value || key === undefined || key === '__proto__') return undefined
    members.push({ key, value })
  }
  return (values) => Object.fromEntries(members.map((member) => [member.key, member.value(values)]))
}

/** Names that every JavaScript object inherits: an expression that means one of them is left to the sandbox. */
const inherited = new Set(Object.getOwnPropertyNames(Object.prototype))

function compileMember(node: MemberExpression, scope: Scope): Native | undefined {
  if (node.property.type === 'PrivateIdentifier') return undefined
  const object = compileNode(node.object, scope)
  if (!object) return undefined
  const { optional } = node
  const { work } = scope
  if (!node.computed) {
    const name = node.property.type === 'Identifier' ? node.property.name : undefined
    if (name === undefined || inherited.has(name)) return undefined
    return (values) => memberOf(object(values), name, optional)
  }
  const property = compileNode(node.property, scope)
  if (!property) return undefined
  return (values) => {
    const value = object(values)
    const name = property(values)
    if (typeof name !== 'number') work.read(name)
    return memberOf(value, name, optional)
  }
}

function memberOf(value: unknown, name: unknown, optional: boolean): unknown {
  if (value === nothing) return nothing
  if (value === null || value === undefined) {
    if (optional) return nothing
    throw new TypeError(`Cannot read "${String(name)}" of ${value}`)
  }
  const property = name as PropertyKey
  return Object.hasOwn(value as object, property) ? (value as Record<PropertyKey, unknown>)[property] : undefined
}

function compileCall(
  callee: MemberExpression,
  args: readonly (Expression | SpreadElement)[],
  optionalCall: boolean,
  scope: Scope,
): Native | undefined {
  if (callee.computed || callee.property.type !== 'Identifier' || optionalCall) return undefined
  const { names, work } = scope
  const { name } = callee.property
  const given = compileAll(args, scope)
  if (!given) return undefined
  if (callee.object.type === 'Identifier' && !names.includes(callee.object.name)) {
    const call = functionOf(callee.object.name, name, args.length)
    return call && ((values) => bounded(call(valuesOf(given, values), work)))
  }
  const object = compileNode(callee.object, scope)
  if (!object || !methodNames.has(name)) return undefined
  const { optional } = callee
  return (values) => {
    const self = object(values)
    if (self === nothing || (optional && (self === null || self === undefined))) return nothing
    const method = methodOf(self, name)
    // It may be a method that every object inherits, which the subset does not have.
    if (!method) throw new NotNative()
    return bounded(method(self as never, valuesOf(given, values), work))
  }
}

function valuesOf(given: readonly Native[], values: readonly unknown[]): unknown[] {
  return given.map((each) => each(values))
}
