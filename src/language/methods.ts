import { responseBytesMax } from '../domain/limits.ts'
import { jsonRefusal } from '../domain/text/json.ts'
import { NotNative, type Work } from './work.ts'

/** The functions and methods of the subset. Each one takes the work that it will do before it starts. */
export type NativeFunction = (args: readonly unknown[], work: Work) => unknown
export type NativeMethod = (self: never, args: readonly unknown[], work: Work) => unknown

const mathFunctions = new Set([
  ...['abs', 'acos', 'asin', 'atan', 'atan2', 'cbrt', 'ceil', 'cos', 'exp', 'floor', 'hypot', 'log', 'log10', 'log2'],
  ...['max', 'min', 'pow', 'random', 'round', 'sign', 'sin', 'sqrt', 'tan', 'trunc'],
])

/** A function such as `Math.max`; undefined when the subset does not have it. `count`: of its arguments. */
export function functionOf(owner: string, name: string, count: number): NativeFunction | undefined {
  if (owner === 'Math' && mathFunctions.has(name)) {
    const call = Math[name as 'max']
    return (args, work) => {
      // An argument may be a text or an array, which becomes a number by way of its text.
      for (const each of args) work.read(each)
      return call(...(args as number[]))
    }
  }
  if (owner === 'JSON' && name === 'stringify' && count === 1) {
    return ([value], work) => {
      work.read(value)
      return JSON.stringify(value)
    }
  }
  if (owner === 'JSON' && name === 'parse') return ([value], work) => parseJson(value, work)
  if (owner === 'Object' && (name === 'keys' || name === 'values' || name === 'entries')) {
    const call = Object[name] as (value: object) => unknown[]
    return ([value], work) => {
      work.list(value)
      return call(value as object)
    }
  }
  return undefined
}

/** Deeply nested JSON is left to the sandbox: it takes seconds to stringify. */
function parseJson(value: unknown, work: Work): unknown {
  work.read(value)
  const text = String(value)
  work.take(text.length * unitsPerJsonChar)
  if (jsonRefusal(text) !== undefined) throw new NotNative()
  return JSON.parse(text)
}

const unitsPerJsonChar = 0.5

/** Throws before a method creates a text above the limit. */
export function checkLength(length: number): void {
  if (length > responseBytesMax) throw new RangeError('Invalid string length')
}

/** The time of a search is up to the product of both lengths: JavaScriptCore's search has no better bound. */
function takeSearch(text: string, searched: string, work: Work): void {
  work.chars((text.length / 2) * Math.max(1, searched.length))
}

type Text = (self: string, args: readonly unknown[], work: Work) => unknown

/** A method that reads its text once. */
function reading(name: 'toLowerCase' | 'toUpperCase' | 'trim' | 'trimStart' | 'trimEnd'): Text {
  return (self, _, work) => {
    work.chars(self.length)
    return self[name]()
  }
}

/** A method that reads no more of its text than its arguments say. */
function picking(name: 'slice' | 'substring' | 'at' | 'charAt' | 'charCodeAt' | 'codePointAt'): Text {
  return (self, args, work) => {
    for (const each of args) work.read(each)
    return self[name](...(args as [number]))
  }
}

function searching(name: 'includes' | 'indexOf' | 'lastIndexOf' | 'startsWith' | 'endsWith'): Text {
  return (self, [searched, ...rest], work) => {
    for (const each of [searched, ...rest]) work.read(each)
    const text = String(searched)
    if (name === 'startsWith' || name === 'endsWith') work.chars(text.length)
    else takeSearch(self, text, work)
    return self[name](text, ...(rest as number[]))
  }
}

/** Finding one occurrence reads the text once; each piece that is made costs more. */
function replacing(name: 'replace' | 'replaceAll'): Text {
  return (self, [from, to], work) => {
    work.read(from)
    work.read(to)
    const [searched, replacement] = [String(from), String(to)]
    // A replacement with `$` may insert the whole text several times.
    if (replacement.includes('$')) throw new NotNative()
    takeSearch(self, searched, work)
    if (name === 'replaceAll') work.take(self.length)
    checkLength(self.length * (replacement.length + 1))
    return self[name](searched, replacement)
  }
}

function padding(name: 'padStart' | 'padEnd'): Text {
  return (self, args, work) => {
    for (const each of args) work.read(each)
    const length = Number(args[0])
    checkLength(length)
    if (length > 0) work.chars(length)
    return self[name](length, ...(args.slice(1) as string[]))
  }
}

const stringMethods: Record<string, Text> = {
  toLowerCase: reading('toLowerCase'),
  toUpperCase: reading('toUpperCase'),
  trim: reading('trim'),
  trimStart: reading('trimStart'),
  trimEnd: reading('trimEnd'),
  slice: picking('slice'),
  substring: picking('substring'),
  at: picking('at'),
  charAt: picking('charAt'),
  charCodeAt: picking('charCodeAt'),
  codePointAt: picking('codePointAt'),
  includes: searching('includes'),
  indexOf: searching('indexOf'),
  lastIndexOf: searching('lastIndexOf'),
  startsWith: searching('startsWith'),
  endsWith: searching('endsWith'),
  replace: replacing('replace'),
  replaceAll: replacing('replaceAll'),
  padStart: padding('padStart'),
  padEnd: padding('padEnd'),
  toString: (self: string) => self,
  valueOf: (self: string) => self,
  concat(self, args, work) {
    work.chars(self.length)
    for (const each of args) work.read(each)
    return self.concat(...(args as string[]))
  },
  split(self, args, work) {
    const [separator, limit] = args
    // Without a separator the text stays whole. `undefined` must not be converted to text here.
    if (separator === undefined) return limit === undefined ? [self] : self.split(separator as never, limit as number)
    for (const each of args) work.read(each)
    const text = String(separator)
    takeSearch(self, text, work)
    work.take(self.length)
    return self.split(text, limit as number)
  },
  repeat(self, [count], work) {
    work.read(count)
    const length = self.length * Number(count)
    checkLength(length)
    if (length > 0) work.chars(length)
    return self.repeat(count as number)
  },
}

/** A method of numbers or booleans, which are small. */
const numberMethods = Object.fromEntries(
  (['toFixed', 'toString', 'toPrecision', 'toExponential', 'valueOf'] as const).map((name) => [
    name,
    (self: number, args: readonly unknown[], work: Work) => {
      for (const each of args) work.read(each)
      return (self[name] as (...given: readonly unknown[]) => unknown)(...args)
    },
  ]),
)

const booleanMethods = {
  toString: (self: boolean) => self.toString(),
  valueOf: (self: boolean) => self,
}

type List = (self: unknown[], args: readonly unknown[], work: Work) => unknown

function findingItem(name: 'includes' | 'indexOf' | 'lastIndexOf'): List {
  return (self, args, work) => {
    const [searched, ...rest] = args
    for (const each of rest) work.read(each)
    // Every item may be a text of the same length that differs only at its end.
    const text = typeof searched === 'string' ? searched.length : 0
    work.take(self.length * (0.25 + text / 64))
    return (self[name] as (...given: readonly unknown[]) => unknown)(...args)
  }
}

const arrayMethods: Record<string, List> = {
  includes: findingItem('includes'),
  indexOf: findingItem('indexOf'),
  lastIndexOf: findingItem('lastIndexOf'),
  slice(self, args, work) {
    for (const each of args) work.read(each)
    work.take(self.length)
    return self.slice(...(args as number[]))
  },
  concat(self, args, work) {
    work.take(self.length)
    for (const each of args) work.take(Array.isArray(each) ? each.length : 1)
    return self.concat(...args)
  },
  at(self, args, work) {
    for (const each of args) work.read(each)
    return self.at(...(args as [number]))
  },
  toString(self: unknown[], _: readonly unknown[], work: Work) {
    work.read(self)
    return self.toString()
  },
  join(self, [separator = ','], work) {
    work.read(separator)
    const text = String(separator)
    checkLength(text.length * self.length)
    work.read(self)
    work.chars(text.length * self.length)
    return self.join(text)
  },
}

export const methodNames: ReadonlySet<string> = new Set(
  [stringMethods, numberMethods, arrayMethods, booleanMethods].flatMap((methods) => Object.keys(methods)),
)

/** The method of a value; undefined when the subset does not have it. */
export function methodOf(self: unknown, name: string): NativeMethod | undefined {
  if (typeof self === 'string') return own(stringMethods, name)
  if (typeof self === 'number') return own(numberMethods, name)
  if (typeof self === 'boolean') return own(booleanMethods, name)
  if (Array.isArray(self)) return own(arrayMethods, name)
  if (self === null || self === undefined) throw new TypeError(`Cannot read "${name}" of ${self}`)
  return undefined
}

function own(methods: Record<string, NativeMethod>, name: string): NativeMethod | undefined {
  return Object.hasOwn(methods, name) ? methods[name] : undefined
}
