import { connectorFaults } from '../../domain/connector/validate.ts'
import { isCurl } from '../../domain/curl/curl.ts'
import { AppError, messageOf, problemsError } from '../../domain/errors.ts'
import { isObject } from '../../domain/run/input.ts'
import { importDiscovery } from './discovery.ts'
import type { ImportFormat } from './formats.ts'
import { ImportError, type Imported, type ImportOptions } from './imported.ts'
import { importOpenApi } from './openapi.ts'
import { importCurl, importHar } from './requests.ts'

/** Characters of a document to import. YAML takes five times as long to parse as JSON. */
export type ImportLimits = { jsonCharsMax: number; yamlCharsMax: number }

export const importLimits: ImportLimits = { jsonCharsMax: 67_108_864, yamlCharsMax: 33_554_432 }

/**
 * Makes a connector from an OpenAPI document (JSON or YAML), a Discovery document, a cURL command or a HAR file.
 * `source`: the URL of the document, against which relative servers are resolved. INVALID_INPUT says what is wrong.
 */
export function importConnector(
  document: unknown,
  { format, limits, source = '', ...options }: ImportSettings,
): Imported {
  try {
    const value = typeof document === 'string' && !isCommand(document, format) ? parsed(document, limits) : document
    const imported = read(value, format, source, options)
    const faults = connectorFaults(imported.connector)
    if (faults.length > 0) throw problemsError('INVALID_INPUT', faults)
    return imported
  } catch (error) {
    if (error instanceof ImportError) throw new AppError('INVALID_INPUT', error.message)
    throw error
  }
}

export type ImportSettings = ImportOptions & { format: ImportFormat | undefined; limits: ImportLimits; source?: string }

function isCommand(text: string, format: ImportFormat | undefined): boolean {
  return format === 'curl' || (format === undefined && isCurl(text))
}

function read(document: unknown, format: ImportFormat | undefined, source: string, options: ImportOptions): Imported {
  if (typeof document === 'string') return importCurl(document, options)
  if (!isObject(document))
    throw new ImportError('The document must be an OpenAPI, Discovery or HAR document, or a cURL command.')
  switch (format ?? formatOf(document)) {
    case 'openapi':
      return importOpenApi(document, options, source)
    case 'discovery':
      return importDiscovery(document, options)
    case 'har':
      return importHar(document, options)
    default:
      throw new ImportError('The document is not an OpenAPI, Discovery or HAR document, and not a cURL command.')
  }
}

function formatOf(document: Record<string, unknown>): ImportFormat | undefined {
  if (typeof document['openapi'] === 'string' || typeof document['swagger'] === 'string') return 'openapi'
  if (document['kind'] === 'discovery#restDescription' || typeof document['discoveryVersion'] === 'string')
    return 'discovery'
  return isObject(document['log']) ? 'har' : undefined
}

/** JSON, or else YAML. */
function parsed(text: string, { jsonCharsMax, yamlCharsMax }: ImportLimits): unknown {
  const isJson = /^\s*[[{]/.test(text)
  const max = isJson ? jsonCharsMax : yamlCharsMax
  if (text.length > max) {
    const message = `The document has ${text.length} characters, but at most ${max} can be imported.`
    throw new ImportError(message)
  }
  try {
    return isJson ? JSON.parse(text) : yaml(text)
  } catch (error) {
    if (error instanceof ImportError) throw error
    throw new ImportError(`The document cannot be read as ${isJson ? 'JSON' : 'YAML'}: ${messageOf(error)}.`)
  }
}

function yaml(text: string): unknown {
  const value: unknown = Bun.YAML.parse(text)
  // A few aliases of aliases describe billions of values, and an alias of itself has no end.
  if (hasMoreThan(value, valuesMax)) throw new ImportError(`The document has more than ${valuesMax} values.`)
  return value
}

/** Whether a value has more values than this inside. Looks at no more of them than that. */
function hasMoreThan(value: unknown, max: number): boolean {
  const open: unknown[] = [value]
  for (let count = 0; open.length > 0; count += 1) {
    if (count + open.length > max) return true
    const next = open.pop()
    if (typeof next === 'object' && next !== null) for (const each of Object.values(next)) open.push(each)
  }
  return false
}

const valuesMax = 5_000_000
