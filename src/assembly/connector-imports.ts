import { environmentWith, ownProgram } from '../config.ts'
import type { ImportSettings } from '../connectors/import/import.ts'
import type { Imported } from '../connectors/import/imported.ts'
import { isCurl } from '../domain/curl/curl.ts'
import { AppError } from '../domain/errors.ts'

type Wanted = Omit<ImportSettings, 'limits'>

/**
 * Imports connectors in a process of their own, one at a time: parsing a large document, or one that refers to itself
 * again and again, would keep all other requests waiting. A short cURL command is read at once.
 */
export class ConnectorImports {
  #last: Promise<unknown> = Promise.resolve()
  #waiting = 0

  async import(document: unknown, wanted: Wanted, signal: AbortSignal): Promise<Imported> {
    if (typeof document === 'string' && document.length <= shortChars && isCurl(document)) {
      // Loaded on first use, like all that few installations need.
      const { importConnector, importLimits } = await import('../connectors/import/import.ts')
      return importConnector(document, { ...wanted, limits: importLimits })
    }
    if (this.#waiting >= waitingMax) throw new AppError('OVERLOADED', 'Too many imports are waiting. Try again later.')
    const text = typeof document === 'string' ? document : JSON.stringify(document)
    this.#waiting += 1
    const own = this.#last.then(() => (signal.aborted ? undefined : runImport(text, wanted, signal)))
    this.#last = own.catch(() => undefined)
    const imported = await own.finally(() => {
      this.#waiting -= 1
    })
    if (!imported) throw new AppError('CONFLICT', 'The import was cancelled.')
    return imported
  }
}

async function runImport(
  text: string,
  { format, id, operations, source }: Wanted,
  signal: AbortSignal,
): Promise<Imported> {
  const timeout = AbortSignal.timeout(importMs)
  const child = Bun.spawn([...ownProgram(), ...argumentsOf({ format, id, operations, source: source ?? '' })], {
    env: environmentWith({}),
    stdin: new Blob([text]),
    stdout: 'pipe',
    stderr: 'pipe',
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
  })
  const [code, out, errors] = await Promise.all([
    child.exited,
    new Response(child.stdout).text(),
    new Response(child.stderr).text(),
  ])
  if (timeout.aborted) throw new AppError('CONFLICT', `The import took longer than ${importMs / 1_000} s.`)
  if (code === 0) return JSON.parse(out) as Imported
  const reason = errors
    .trim()
    .replace(/^millrace: /, '')
    .slice(0, errorCharsMax)
  throw new AppError('INVALID_INPUT', reason || 'The document cannot be imported.')
}

function argumentsOf({ format, id, operations, source }: Wanted): string[] {
  return [
    ...['connectors', 'import', '-', '--print', '--json'],
    ...(format === undefined ? [] : [`--format=${format}`]),
    ...(id === undefined ? [] : [`--id=${id}`]),
    ...(source ? [`--source=${source}`] : []),
    ...(operations ?? []).map((operation) => `--operation=${operation}`),
  ]
}

const shortChars = 20_000
const waitingMax = 20
const importMs = 30_000
const errorCharsMax = 2_000
