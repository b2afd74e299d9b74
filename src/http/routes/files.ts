import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { filesPath } from '../../files/signed-url.ts'
import { type Door, pathOf, type ResponseSet } from '../access/door.ts'
import { searchParamsOf } from '../access/request-url.ts'
import { assertNotLoadedAsCode } from '../access/same-origin.ts'
import type { Services } from '../services.ts'

/** Files of runs under signed URLs, which need no key. With a bucket, the bucket serves the files instead. */
export function fileRoutes(services: Pick<Services, 'files'>, door: Door) {
  type Call = { request: Request; set: ResponseSet }
  // The star keeps the route out of the OpenAPI document: callers receive these URLs and do not build them.
  return new Elysia()
    .get(`${filesPath}*`, ({ request, set }: Call) => respond(request, set), { detail: { hide: true } })
    .head(`${filesPath}*`, ({ request, set }: Call) => respond(request, set), { detail: { hide: true } })

  async function respond(request: Request, set: ResponseSet): Promise<Response> {
    door.allowAnonymous(request, set)
    assertNotLoadedAsCode(request)
    const { served } = services.files
    const searchParams = searchParamsOf(request)
    const key = pathOf(request).slice(filesPath.length)
    const expires = searchParams.get('expires') ?? ''
    const signature = searchParams.get('signature') ?? ''
    const hasOthers = [...searchParams.keys()].length !== 2
    const verdict = hasOthers || !served ? 'forged' : served.verify({ key, expires, signature })
    if (verdict === 'forged') throw new AppError('FORBIDDEN', 'The signature of this URL is not valid.')
    if (verdict === 'expired') {
      throw new AppError('FORBIDDEN', 'This URL has expired. Read the log entry of the run again for a new one.')
    }
    const file = await served?.read(key)
    if (!file) throw new AppError('NOT_FOUND', 'This file was deleted with the log entry of its run.')
    return fileResponse(request, file, key.slice(key.lastIndexOf('/') + 1))
  }
}

function fileResponse(request: Request, file: Blob, name: string): Response {
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${name}"`,
    // A browser must never run a file's content.
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': file.type === '' ? 'application/octet-stream' : file.type,
  }
  const range = rangeOf(request.headers, file.size)
  if (range === 'unsatisfiable') {
    headers['content-range'] = `bytes */${file.size}`
    return new Response(null, { status: 416, headers })
  }
  // For HEAD, the server takes the length from the body and does not send the body.
  if (!range) return new Response(file, { headers })
  const { from, to } = range
  headers['content-range'] = `bytes ${from}-${to}/${file.size}`
  return new Response(file.slice(from, to + 1), { status: 206, headers })
}

/** The requested range; undefined for the whole file. Multiple ranges and other units are ignored. */
function rangeOf(headers: Headers, size: number): { from: number; to: number } | 'unsatisfiable' | undefined {
  const header = headers.get('range')
  // Files have no validator, so no condition can match.
  if (header === null || headers.has('if-range')) return undefined
  const [, first = '', last = ''] = /^bytes=(\d*)-(\d*)$/.exec(header.trim()) ?? []
  if (first === '' && last === '') return undefined
  if (first === '') {
    const length = Math.min(Number(last), size)
    return length === 0 ? 'unsatisfiable' : { from: size - length, to: size - 1 }
  }
  const from = Number(first)
  if (last !== '' && Number(last) < from) return undefined
  if (from >= size) return 'unsatisfiable'
  return { from, to: last === '' ? size - 1 : Math.min(Number(last), size - 1) }
}
