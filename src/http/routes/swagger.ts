import { type AnyElysia, Elysia } from 'elysia'
import type { Door, ResponseSet } from '../door.ts'
import { type OpenApi, repairOpenApi } from '../openapi.ts'
import { contentSecurityPolicy, type EncodedFile, encodeFile, pageFiles } from '../swagger-page.ts'

/**
 * `/swagger/json`, the OpenAPI document of the routes that `api` gives, and `/swagger`, a page that shows it. Both are
 * made when somebody first asks: they cost a service that nobody looks at nothing.
 */
export function swaggerRoutes(door: Door, version: string, api: () => AnyElysia) {
  let document: Promise<string> | undefined
  const files = new Map<string, Promise<EncodedFile>>()
  const app = new Elysia().get(
    '/swagger/json',
    async ({ request, set }) => {
      door.allowAnonymous(request, set)
      document ??= describeApi(api(), version).then((openApi) => JSON.stringify(openApi))
      set.headers['content-type'] = 'application/json'
      return await document
    },
    { detail: { hide: true } },
  )
  for (const [path, file] of Object.entries(pageFiles)) {
    app.get(
      path,
      async ({ request, set }) => {
        door.allowAnonymous(request, set)
        const encoded = files.get(path) ?? encodeFile(file)
        files.set(path, encoded)
        return respondWithFile(request, set, await encoded, file.type)
      },
      { detail: { hide: true } },
    )
  }
  return app
}

/**
 * The OpenAPI document of an app. The swagger plugin is loaded here and stays on an app of its own: its page needs the
 * internet, its document needs repair.
 */
export async function describeApi(api: AnyElysia, version: string): Promise<OpenApi> {
  const [{ swagger }, { routeExamples }, { errorExamples }] = await Promise.all([
    import('@elysiajs/swagger'),
    import('../route-examples.ts'),
    import('../error-examples.ts'),
  ])
  const path = '/inner'
  const inner = new Elysia().use(
    // Without the option it leaves out every path with a dot.
    swagger({
      path,
      excludeStaticFile: false,
      exclude: [path, `${path}/json`],
      documentation: { info: infoOf(version) },
    }),
  )
  // `use` makes the app that it is given believe that it runs on the server of the other one, which has none: handlers
  // would know no address of a caller any more, and could not lift the timeout of a connection.
  const { getServer, getGlobalRoutes } = api as unknown as Record<string, unknown>
  inner.use(api)
  Object.assign(api, { getServer, getGlobalRoutes })
  const response = await inner.handle(new Request(`http://localhost${path}/json`))
  const examples = { operations: routeExamples, errors: errorExamples }
  return repairOpenApi((await response.json()) as OpenApi, examples)
}

function infoOf(version: string) {
  return {
    title: 'Millrace',
    version,
    description:
      'Run workflows, manage them, and query what ran. Every response carries `X-Request-Id`. Every error is ' +
      '`{ "error", "code", "details"? }`: `error` for people, `code` for programs.\n\n' +
      'Executions and the external API (`/api/v1/`) are counted by the minute: `X-RateLimit-*` says what is left, and ' +
      '`Retry-After` how long to wait after 429 or 503. Other routes are not counted.',
  }
}

function respondWithFile(
  request: Request,
  set: ResponseSet,
  { body, gzipped, etag }: EncodedFile,
  type: string,
): unknown {
  Object.assign(set.headers, {
    etag,
    'content-type': type,
    'cache-control': 'no-cache',
    vary: 'accept-encoding',
    'content-security-policy': contentSecurityPolicy,
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
  })
  if (request.headers.get('if-none-match') === etag) {
    set.status = 304
    return
  }
  const isZipped = (request.headers.get('accept-encoding') ?? '').includes('gzip')
  if (isZipped) set.headers['content-encoding'] = 'gzip'
  return isZipped ? gzipped : body
}
