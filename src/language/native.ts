// Long because one switch lists all kinds of expressions, and one table all methods of the subset.
import type { Expression, MemberExpression, SpreadElement, Super } from 'acorn'
import { responseBytesMax } from '../domain/limits.ts'
import { jsonRefusal } from '../domain/text/json.ts'

/** Evaluates a compiled expression over the values of its references. */
export type Native = (values: readonly unknown[]) => unknown

/**
 * Compiles a syntax tree to closures. Returns undefined when it uses more than the subset: operators, member access,
 * literals, `?:`, `??`, `?.`, template strings and simple methods of strings, numbers, arrays, `Math`, `JSON`,
 * `Object`. Expressions cannot reach the host: members are own members of data, and methods come from the tables below.
 */
export function compileNode(node: Expression | SpreadElement | Super, names: readonly string[]): Native | undefined {
  const compile = (inner: Expression | SpreadElement | Super) => compileNode(inner, names)
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
      const operate = unary[node.operator as keyof typeof unary]
      const argument = compile(node.argument)
      return operate && argument && ((values) => operate(argument(values)))
    }
    case 'BinaryExpression': {
      const operate = binary[node.operator as keyof typeof binary]
      if (!operate || node.left.type === 'PrivateIdentifier') return undefined
      const left = compile(node.left)
      const right = compile(node.right)
      return left && right && ((values) => bounded(operate(left(values) as never, right(values) as never)))
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
      const parts = compileAll(node.expressions, names)
      const texts = node.quasis.map((quasi) => quasi.value.cooked ?? '')
      if (!parts) return undefined
      return (values) => {
        let text = texts[0] ?? ''
        for (const [index, part] of parts.entries()) text += `${part(values)}${texts[index + 1] ?? ''}`
        return bounded(text)
      }
    }
    case 'ArrayExpression': {
      if (node.elements.some((element) => element === null)) return undefined
      const elements = compileAll(node.elements as Expression[], names)
      return elements && ((values) => elements.map((element) => element(values)))
    }
    case 'ObjectExpression':
      return compileObject(node.properties, names)
    case 'ChainExpression': {
      const chain = compile(node.expression)
      return chain && ((values) => endOfChain(chain(values)))
    }
    case 'MemberExpression':
      return compileMember(node, names)
    case 'CallExpression': {
      if (node.callee.type !== 'MemberExpression') return undefined
      return compileCall(node.callee, node.arguments, node.optional, names)
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
  if (typeof value === 'string' && value.length > responseBytesMax) throw new RangeError('Invalid string length')
  return value
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

function compileAll(nodes: readonly (Expression | SpreadElement)[], names: readonly string[]): Native[] | undefined {
  const compiled = nodes.map((node) => compileNode(node, names))
  return compiled.every((native) => native !== undefined) ? (compiled as Native[]) : undefined
}

type Properties = Extract<Expression, { type: 'ObjectExpression' }>['properties']

function compileObject(properties: Properties, names: readonly string[]): Native | undefined {
  const members: { key: string; value: Native }[] = []
  for (const property of properties) {
    if (property.type !== 'Property' || property.kind !== 'init' || property.computed || property.method)
      return undefined
    const value = compileNode(property.value, names)
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

function compileMember(node: MemberExpression, names: readonly string[]): Native | undefined {
  if (node.property.type === 'PrivateIdentifier') return undefined
  const object = compileNode(node.object, names)
  if (!object) return undefined
  const { optional } = node
  if (!node.computed) {
    const name = node.property.type === 'Identifier' ? node.property.name : undefined
    if (name === undefined || inherited.has(name)) return undefined
    return (values) => memberOf(object(values), name, optional)
  }
  const property = compileNode(node.property, names)
  return property && ((values) => memberOf(object(values), property(values), optional))
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
  names: readonly string[],
): Native | undefined {
  if (callee.computed || callee.property.type !== 'Identifier' || optionalCall) return undefined
  const name = callee.property.name
  const values = compileAll(args, names)
  if (!values) return undefined
  if (callee.object.type === 'Identifier' && !names.includes(callee.object.name)) {
    const call = functionOf(callee.object.name, name, args.length)
    return call && ((scope) => bounded(call(...values.map((value) => value(scope)))))
  }
  const object = compileNode(callee.object, names)
  if (!object || !methodNames.has(name)) return undefined
  const { optional } = callee
  return (scope) => {
    const self = object(scope)
    if (self === nothing || (optional && (self === null || self === undefined))) return nothing
    const method = methodOf(self, name)
    // It may be a method that every object inherits, which the tables below do not have.
    if (!method) throw new NotNative()
    return bounded(method.apply(self, values.map((value) => value(scope)) as never[]))
  }
}

type AnyFunction = (...args: never[]) => unknown

const mathFunctions = new Set([
  ...['abs', 'acos', 'asin', 'atan', 'atan2', 'cbrt', 'ceil', 'cos', 'exp', 'floor', 'hypot', 'log', 'log10', 'log2'],
  ...['max', 'min', 'pow', 'random', 'round', 'sign', 'sin', 'sqrt', 'tan', 'trunc'],
])

function functionOf(owner: string, name: string, count: number): ((...args: unknown[]) => unknown) | undefined {
  if (owner === 'Math' && mathFunctions.has(name)) {
    return Math[name as 'abs'] as unknown as (...args: unknown[]) => unknown
  }
  if (owner === 'JSON' && name === 'stringify' && count === 1) return (value) => JSON.stringify(value)
  if (owner === 'JSON' && name === 'parse') return parseJson
  if (owner === 'Object' && name === 'keys') return (value) => Object.keys(value as object)
  if (owner === 'Object' && name === 'values') return (value) => Object.values(value as object)
  if (owner === 'Object' && name === 'entries') return (value) => Object.entries(value as object)
  return undefined
}

/** JSON that is too deep or has too many values is left to the sandbox: it takes seconds to stringify. */
function parseJson(value: unknown): unknown {
  const text = String(value)
  if (jsonRefusal(text) !== undefined) throw new NotNative()
  return JSON.parse(text)
}

/**
 * Thrown when an expression must be evaluated in the sandbox, with its time limit: it would take too long in the
 * service's own thread, or uses something that the tables below do not have.
 */
export class NotNative extends Error {}

/** A search may take time proportional to the product of both lengths: JavaScriptCore guarantees no better. */
const searchWorkMax = 4_000_000

function searching<Result>(search: (this: string, searched: string, ...rest: never[]) => Result) {
  return function (this: string, searched: unknown, ...rest: never[]): Result {
    const text = String(searched)
    if (this.length * text.length > searchWorkMax && text.length > 1) throw new NotNative()
    return search.call(this, text, ...rest)
  }
}

/** A replacement with `$` may insert the whole text several times. */
function replacing(replace: (this: string, from: string, to: string) => string) {
  return function (this: string, from: unknown, to: unknown): string {
    const [searched, replacement] = [String(from), String(to)]
    if (replacement.includes('$') || this.length * Math.max(1, searched.length) > searchWorkMax) throw new NotNative()
    checkLength(this.length * (replacement.length + 1))
    return replace.call(this, searched, replacement)
  }
}

/** Throws before a method creates a text above the limit. */
function checkLength(length: number): void {
  if (length > responseBytesMax) throw new RangeError('Invalid string length')
}

const text = String.prototype
const stringMethods: Record<string, AnyFunction> = {
  ...pick(text, ['startsWith', 'endsWith', 'slice', 'substring', 'at', 'toLowerCase', 'toUpperCase', 'trim']),
  ...pick(text, ['trimStart', 'trimEnd', 'charAt', 'charCodeAt', 'codePointAt', 'concat', 'toString', 'valueOf']),
  includes: searching(text.includes),
  indexOf: searching(text.indexOf),
  lastIndexOf: searching(text.lastIndexOf),
  split(this: string, separator?: string, limit?: number) {
    // Without a separator the text stays whole. `undefined` must not be converted to text here.
    if (separator === undefined) return [this.toString()]
    if (String(separator) === '' && this.length > searchWorkMax) throw new NotNative()
    return searching(function (this: string, searched: string) {
      return this.split(searched, limit)
    }).call(this, separator)
  },
  replace: replacing(text.replace as (from: string, to: string) => string),
  replaceAll: replacing(text.replaceAll as (from: string, to: string) => string),
  repeat(this: string, count: number) {
    checkLength(this.length * count)
    return this.repeat(count)
  },
  padStart(this: string, length: number, fill?: string) {
    checkLength(length)
    return this.padStart(length, fill)
  },
  padEnd(this: string, length: number, fill?: string) {
    checkLength(length)
    return this.padEnd(length, fill)
  },
}
const numberMethods: Record<string, AnyFunction> = pick(Number.prototype, [
  'toFixed',
  'toString',
  'toPrecision',
  'toExponential',
  'valueOf',
])
const arrayMethods: Record<string, AnyFunction> = {
  ...pick(Array.prototype, ['includes', 'indexOf', 'lastIndexOf', 'slice', 'concat', 'at', 'toString']),
  join(this: unknown[], separator: unknown = ',') {
    checkLength(String(separator).length * this.length)
    return this.join(String(separator))
  },
}
const booleanMethods: Record<string, AnyFunction> = pick(Boolean.prototype, ['toString', 'valueOf'])

const methodNames = new Set(
  [stringMethods, numberMethods, arrayMethods, booleanMethods].flatMap((methods) => Object.keys(methods)),
)

function pick(from: object, names: readonly string[]): Record<string, AnyFunction> {
  return Object.fromEntries(names.map((name) => [name, from[name as keyof typeof from] as AnyFunction]))
}

function methodOf(self: unknown, name: string): AnyFunction | undefined {
  if (typeof self === 'string') return own(stringMethods, name)
  if (typeof self === 'number') return own(numberMethods, name)
  if (typeof self === 'boolean') return own(booleanMethods, name)
  if (Array.isArray(self)) return own(arrayMethods, name)
  if (self === null || self === undefined) throw new TypeError(`Cannot read "${name}" of ${self}`)
  return undefined
}

function own(methods: Record<string, AnyFunction>, name: string): AnyFunction | undefined {
  return Object.hasOwn(methods, name) ? methods[name] : undefined
}
