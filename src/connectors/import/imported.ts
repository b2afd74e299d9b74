import { connectorBounds } from '../../domain/connector/bounds.ts'
import type { Connector, Operation, ValueSchema } from '../../domain/connector/connector.ts'

/** A part of a document that a connector cannot have, and why. `path`: in the document. */
export type NotTaken = { path: string; reason: string }

/** A connector that was made from another document, and everything of the document that it does not have. */
export type Imported = { connector: Connector; notTaken: NotTaken[] }

export type ImportOptions = {
  id: string | undefined
  /** The operations to take; all when undefined. */
  operations: readonly string[] | undefined
}

/** A document that cannot be imported. The message is for people. */
export class ImportError extends Error {}

/** Remembers what is not taken, up to a limit. */
export class Leftovers {
  readonly #list: NotTaken[] = []
  #more = 0

  add(path: string, reason: string): void {
    if (this.#list.length < notTakenMax) this.#list.push({ path, reason })
    else this.#more += 1
  }

  get list(): NotTaken[] {
    if (this.#more === 0) return this.#list
    return [...this.#list, { path: '', reason: `There are ${this.#more} more parts that are not taken.` }]
  }
}

const notTakenMax = 500

/** The operations of a connector that is being made: as many as fit. The others are listed as not taken. */
export class TakenOperations {
  readonly all: Record<string, Operation> = {}
  readonly #leftovers: Leftovers
  #count = 0
  #bytesLeft = connectorBounds.bytesMax - bytesOfTheRest

  constructor(leftovers: Leftovers) {
    this.#leftovers = leftovers
  }

  get isEmpty(): boolean {
    return this.#count === 0
  }

  /** Makes an operation and adds it, if there is room. `path`: its place in the document. */
  add(name: string, path: string, make: () => Operation | undefined): void {
    if (this.#count === connectorBounds.operationsMax) {
      this.#leftovers.add(path, `A connector has at most ${connectorBounds.operationsMax} operations.${hint}`)
      return
    }
    const made = make()
    if (!made) return
    const operation = withoutManyParameters(made, path, this.#leftovers)
    const bytes = Buffer.byteLength(JSON.stringify(operation)) + name.length
    if (bytes > this.#bytesLeft) {
      this.#leftovers.add(path, `A connector has at most ${connectorBounds.bytesMax} bytes of JSON.${hint}`)
      return
    }
    this.#bytesLeft -= bytes
    this.#count += 1
    this.all[name] = operation
  }

  /** Adds the shape of an operation's result, if there is room left. Call it once all operations are added. */
  describe(name: string, output: ValueSchema): void {
    const operation = this.all[name]
    const bytes = Buffer.byteLength(JSON.stringify(output)) + 12
    if (!operation || bytes > this.#bytesLeft) return
    this.#bytesLeft -= bytes
    this.all[name] = { ...operation, output }
  }
}

const hint = ' Choose the operations to import.'
/** Room for the names and the credentials of the connector, and for the commas. */
const bytesOfTheRest = 65_536

/** Optional parameters beyond the limit are listed as not taken. */
function withoutManyParameters(operation: Operation, path: string, leftovers: Leftovers): Operation {
  const { parameters } = operation
  const max = connectorBounds.parametersMax
  const all = Object.entries(parameters?.properties ?? {})
  if (!parameters || all.length <= max) return operation
  const required = new Set(parameters.required)
  const requiredFirst = [...all].sort(([a], [b]) => Number(required.has(b)) - Number(required.has(a)))
  const kept = new Set(requiredFirst.slice(0, max))
  leftovers.add(path, `An operation has at most ${max} parameters: ${all.length - max} are not taken.`)
  const properties = Object.fromEntries(all.filter((each) => kept.has(each)))
  const names = parameters.required?.filter((name) => Object.hasOwn(properties, name))
  return { ...operation, parameters: { ...parameters, properties, ...(names ? { required: names } : {}) } }
}

/** A text as the ID of a connector. */
export function connectorIdOf(text: string): string {
  const id = text
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 64)
    .replaceAll(/^-+|-+$/g, '')
  return id === '' ? 'imported' : id
}

/** An ID that no other operation has, such as `getUsers` or `getUsers_2`. */
export function operationIdOf(text: string, taken: Readonly<Record<string, Operation>>): string {
  const base =
    text
      .replaceAll(/[^A-Za-z0-9_.-]+/g, '_')
      .replaceAll(/^[^A-Za-z0-9_]+|_+$/g, '')
      .slice(0, 90) || 'operation'
  for (let number = 1; ; number += 1) {
    const id = number === 1 ? base : `${base}_${number}`
    if (!Object.hasOwn(taken, id)) return id
  }
}

/** The first line of a text, shortened. */
export function firstLine(text: unknown, charsMax: number): string | undefined {
  if (typeof text !== 'string') return undefined
  const line = text.trim().split('\n')[0]?.trim() ?? ''
  if (line === '') return undefined
  return line.length > charsMax ? `${line.slice(0, charsMax - 1)}…` : line
}

/** A text that is too long for a connector, shortened. */
export function shortText(text: unknown, charsMax: number): string | undefined {
  if (typeof text !== 'string' || text.trim() === '') return undefined
  const trimmed = text.trim()
  return trimmed.length > charsMax ? `${trimmed.slice(0, charsMax - 1)}…` : trimmed
}

/** The members that are not undefined. */
export function given<Value extends object>(value: Value): { [Name in keyof Value]: Exclude<Value[Name], undefined> } {
  return Object.fromEntries(Object.entries(value).filter(([, each]) => each !== undefined)) as never
}

export type Properties = Record<string, ValueSchema>
