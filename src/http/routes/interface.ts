import { Elysia } from 'elysia'
import { AppError } from '../../domain/errors.ts'
import { type Door, pathOf, type ResponseSet } from '../access/door.ts'
import { onlyFrom } from '../responses/content-policy.ts'
import type { InterfaceFile, InterfaceFiles } from '../responses/interface-files.ts'

type Loads = { interfaceFiles(): Promise<InterfaceFiles> }

/**
 * The editor and dashboard: one page at each of its paths, and its files under `/assets/`. File names contain a content
 * hash, so browsers cache them forever. The page itself is revalidated each time, with 304 while it is unchanged.
 */
export function interfaceRoutes({ interfaceFiles }: Loads, door: Door) {
  const app = new Elysia()
  for (const path of pagePaths) {
    app.get(
      path,
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return respondWithPage({ interfaceFiles }, request, set)
      },
      { detail: { hide: true } },
    )
  }
  return app.get(
    '/assets/:name',
    async ({ request, set }) => {
      door.allowAnonymous(request, set)
      const path = pathOf(request)
      const files = await interfaceFiles()
      const file = Object.hasOwn(files, path) ? files[path] : undefined
      if (!file)
        throw new AppError(
          'NOT_FOUND',
          'There is no such file. If a page of an older version asks for it, reload the page.',
        )
      set.headers['cache-control'] = 'public, max-age=31536000, immutable'
      return await respondWithFile(request, set, file)
    },
    { detail: { hide: true } },
  )
}

/** The paths of the page. `ui/screens.tsx` decides what it shows there. */
const pagePaths = ['/', '/w/*', '/workflows', '/workflows/*', '/logs', '/logs/*', '/settings']

/** Responds with a page of the interface, by default the editor. */
export async function respondWithPage(
  { interfaceFiles }: Loads,
  request: Request,
  set: ResponseSet,
  path = '/',
): Promise<unknown> {
  const file = (await interfaceFiles())[path]
  if (!file) throw new AppError('NOT_FOUND', 'The editor has not been built: bun scripts/build-interface.ts')
  Object.assign(set.headers, pageHeaders)
  return await respondWithFile(request, set, file)
}

/** Allows only scripts and styles under `/assets/`, so that data of a workflow never becomes code. */
const pageHeaders = {
  'cache-control': 'no-cache',
  'content-security-policy':
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self' data: blob:; object-src 'none'; " +
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'; require-trusted-types-for 'script'; " +
    `trusted-types 'none', ${onlyFrom('/assets/', ['script-src', 'style-src'])}`,
  'cross-origin-opener-policy': 'same-origin',
  'referrer-policy': 'same-origin',
}

async function respondWithFile(request: Request, set: ResponseSet, file: InterfaceFile): Promise<unknown> {
  const { type, etag, br, gz, plain } = file
  Object.assign(set.headers, { etag, 'content-type': type, vary: 'accept-encoding' })
  if (set.status !== 404 && request.headers.get('if-none-match')?.includes(etag)) {
    set.status = 304
    return undefined
  }
  const accepted = request.headers.get('accept-encoding') ?? ''
  if (br && /\bbr\b/.test(accepted)) return await compressed(set, 'br', br)
  if (gz && /\bgzip\b/.test(accepted)) return await compressed(set, 'gzip', gz)
  return plain || !gz ? await Bun.file(plain ?? '').bytes() : Bun.gunzipSync(await Bun.file(gz).bytes())
}

async function compressed(set: ResponseSet, encoding: string, path: string): Promise<Uint8Array> {
  set.headers['content-encoding'] = encoding
  return await Bun.file(path).bytes()
}
