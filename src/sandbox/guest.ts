import { responseBytesMax } from '../domain/limits.ts'

/**
 * The environment of user code in addition to the language itself, and the functions that the host calls. It is
 * evaluated before any user code, and keeps its own references to what it needs later, so that user code cannot replace
 * them.
 *
 * The script's value is a function that takes the host's functions (`hostFunctions`, in that order) and returns
 * `[prepare, finish, describe]`. `prepare(body, source)` returns the function that starts a run with the JSON text of
 * its values and returns its promise. `finish(value)` returns the JSON text of the promise's value (empty when it is
 * too long). `describe(error)` returns a report of a thrown value.
 */
export function guestSource(): string {
  return `${guest}(${JSON.stringify(guestGlobals)}, ${responseBytesMax})`
}

/** The host's functions. The host distinguishes them by their first letters. */
export const hostFunctions = ['print', 'seed'] as const

/** Separates name, message and stack in the report of a thrown value. */
export const reportSeparator = '\0'

/** Every name in the global object of user code. */
const guestGlobals: readonly string[] = `
  AggregateError Array ArrayBuffer AsyncDisposableStack BigInt BigInt64Array BigUint64Array Boolean DOMException
  DataView Date DisposableStack Error EvalError FinalizationRegistry Float16Array Float32Array Float64Array Function
  Infinity Int16Array Int32Array Int8Array InternalError Iterator JSON Map Math NaN Number Object Promise Proxy
  RangeError ReferenceError Reflect RegExp Set String SuppressedError Symbol SyntaxError TypeError URIError
  Uint16Array Uint32Array Uint8Array Uint8ClampedArray WeakMap WeakRef WeakSet atob btoa console decodeURI
  decodeURIComponent encodeURI encodeURIComponent escape eval globalThis isFinite isNaN parseFloat parseInt
  queueMicrotask undefined unescape`
  .trim()
  .split(/\s+/)

/** JavaScript for the engine, not for this process. It is text, so that no bundler changes it. */
const guest = String.raw`((globals, textLengthMax) => {
'use strict'
for (const name of Object.getOwnPropertyNames(globalThis)) if (!globals.includes(name)) delete globalThis[name]

return (print, seed) => {
  const { parse, stringify } = JSON
  const { apply } = Reflect
  const { slice } = String.prototype
  const { toString: sourceOf } = Function.prototype
  const text = String
  const Failure = Error

  /** A value as readable text. */
  function show(value) {
    if (typeof value === 'string') return value
    if (typeof value === 'bigint') return text(value) + 'n'
    if (typeof value === 'function') return '[function ' + text(value.name || 'anonymous') + ']'
    if (typeof value !== 'object' || value === null || value instanceof Failure) return text(value)
    try {
      return stringify(value) ?? text(value)
    } catch {
      return text(value)
    }
  }

  function write(...values) {
    let line = ''
    for (let index = 0; index < values.length; index++) line += (index === 0 ? '' : ' ') + show(values[index])
    print(line.length > textLengthMax ? apply(slice, line, [0, textLengthMax]) : line)
  }
  const log = { log: write, info: write, warn: write, error: write, debug: write }
  Object.defineProperty(globalThis, 'console', { value: log, writable: true, configurable: true, enumerable: false })

  // The engine's own generator would repeat itself, because its state is part of the snapshot of every run.
  // This one (sfc32) is seeded at its first use in a run.
  let a, b, c, counter
  function next() {
    const sum = (((a + b) | 0) + counter) | 0
    counter = (counter + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  Math.random = {
    random() {
      if (counter === undefined) {
        a = seed()
        b = seed()
        c = seed()
        counter = 1
      }
      return ((next() >>> 5) * 67108864 + (next() >>> 6)) / 9007199254740992
    },
  }.random

  function describe(error) {
    let name = ''
    let message = 'The code threw a value that cannot be read'
    let stack = ''
    try {
      if (error instanceof Failure) {
        name = text(error.name)
        message = text(error.message)
        stack = text(error.stack)
      } else message = typeof error === 'string' ? error : 'The code threw ' + show(error)
    } catch {}
    return name + '\0' + message + '\0' + stack
  }

  function finish(value) {
    try {
      const json = stringify(value) ?? 'null'
      return json.length > textLengthMax ? '' : json
    } catch (error) {
      if (!(error instanceof TypeError)) throw error
      throw new TypeError('the returned value is not JSON data: ' + error.message)
    }
  }

  function prepare(body, source) {
    // Refuses code that closes the function early and opens another one.
    if (typeof body !== 'function' || apply(sourceOf, body, []) !== source) {
      throw new SyntaxError('the code is not the body of a function')
    }
    return (values) => apply(body, undefined, parse(values))
  }
  return [prepare, finish, describe]
}
})`
