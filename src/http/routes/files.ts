import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { filesPath } from '../../files/signed-url.ts'
import type { Door, ResponseSet } from '../door.ts'
import type { Services } from '../services.ts'

/** Files of runs, under signed URLs: whoever has one needs no key. Where files lie in a bucket there are none here. */
export function fileRoutes(services: Pick<Services, 'files'>, door: Door) {
  type Call = { request: Request; set: ResponseSet }
  // Named by a star, which is left out of the OpenAPI document: these URLs are made here and given to callers as a whole.
  return new Elysia()
    .get(`${filesPath}*`, ({ request, set }: Call) => respond(request, set), { detail: { hide: true } })
    .head(`${filesPath}*`, ({ request, set }: Call) => respond(request, set), { detail: { hide: true } })

  async function respond(request: Request, set: ResponseSet): Promise<Response> {
    door.allowAnonymous(request, set)
    const { served } = services.files
    const { pathname, searchParams } = new URL(request.url)
    const key = pathname.slice(filesPath.length)
    const expires = searchParams.get('expires') ?? ''
    const signature = searchParams.get('signature') ?? ''
    const hasOthers = [...searchParams.keys()].length !== 2
    const verdict = hasOthers || !served ? 'forged' : served.verify({ key, expires, signature })
    if (verdict === 'forged') throw new AppError('FORBIDDEN', 'This URL is not one that was signed here.')
    if (verdict === 'expired') {
      throw new AppError('FORBIDDEN', 'This URL has expired. Read the log entry of the run again for a new one.')
    }
    const file = await served?.read(key)
    if (!file) throw new AppError('NOT_FOUND', 'This file is gone: it was deleted with the log entry of its run.')
    return fileResponse(request, file, key.slice(key.lastIndexOf('/') + 1))
  }
}

function fileResponse(request: Request, file: Blob, name: string): Response {
  const headers: Record<string, string> = {
    'accept-ranges': 'bytes',
    'cache-control': 'private, no-store',
    'content-disposition': `attachment; filename="${name}"`,
    // Whatever a file says, a browser runs nothing of it here.
    'content-security-policy': "default-src 'none'; sandbox",
    'content-type': file.type === '' ? 'application/octet-stream' : file.type,
    'x-content-type-options': 'nosniff',
  }
  const range = rangeOf(request.headers, file.size)
  if (range === 'unsatisfiable') {
    headers['content-range'] = `bytes */${file.size}`
    return new Response(null, { status: 416, headers })
  }
  // The body of a response to HEAD is left out by the server, which takes the length from it.
  if (!range) return new Response(file, { headers })
  const { from, to } = range
  headers['content-range'] = `bytes ${from}-${to}/${file.size}`
  return new Response(file.slice(from, to + 1), { status: 206, headers })
}

/** The one range that a request asks for; undefined for the whole: several ranges and other units are passed over. */
function rangeOf(headers: Headers, size: number): { from: number; to: number } | 'unsatisfiable' | undefined {
  const header = headers.get('range')
  // There is no validator that a condition could name.
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
