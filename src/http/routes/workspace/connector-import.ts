import { type ImportFormat, importFormats } from '../../../connectors/import/formats.ts'
import { connectorId } from '../../../domain/connector/bounds.ts'
import { AppError, problemsError } from '../../../domain/errors.ts'
import { isObject } from '../../../domain/run/input.ts'

export type WantedImport = {
  url: string | undefined
  document: unknown
  format: ImportFormat | undefined
  id: string | undefined
  operations: string[] | undefined
  preview: boolean
}

/** The body of a request that imports a connector. INVALID_INPUT lists members of the wrong type. */
export function readImport(body: unknown): WantedImport {
  const { url, document, format, id, operations, preview } = isObject(body) ? body : {}
  const problems = [
    ...problemOf('url', url, (value) => typeof value === 'string', 'a text'),
    ...problemOf(
      'format',
      format,
      (value) => importFormats.includes(value as ImportFormat),
      `one of ${importFormats.join(', ')}`,
    ),
    ...problemOf(
      'id',
      id,
      (value) => typeof value === 'string' && connectorId.test(value),
      '1 to 64 lower-case letters, digits and -',
    ),
    ...problemOf('operations', operations, isTexts, 'a list of texts'),
    ...problemOf('preview', preview, (value) => typeof value === 'boolean', 'true or false'),
  ]
  if (problems.length > 0) throw problemsError('INVALID_INPUT', problems)
  if ((url === undefined) === (document === undefined)) {
    throw new AppError('INVALID_INPUT', 'Give either url or document.')
  }
  return { url, document, format, id, operations, preview: preview === true } as WantedImport
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((each) => typeof each === 'string')
}

function problemOf(path: string, value: unknown, isRight: (value: unknown) => boolean, shape: string) {
  return value === undefined || isRight(value) ? [] : [{ path, message: `${path} must be ${shape}.` }]
}
