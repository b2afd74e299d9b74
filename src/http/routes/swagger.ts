import { type AnyElysia, Elysia } from 'elysia'
import type { Door, ResponseSet } from '../access/door.ts'
import { type OpenApi, repairOpenApi } from '../openapi/openapi.ts'
import { contentSecurityPolicy, type EncodedFile, encodeFile, pageFiles } from '../openapi/swagger-page.ts'

/**
 * `/swagger/json`, the OpenAPI document of the routes in `api`, and `/swagger`, a page that shows it. Both are created
 * on the first request.
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
 * The OpenAPI document of an app. The swagger plugin runs on a separate app, because its page needs the internet and
 * its document needs repair.
 */
export async function describeApi(api: AnyElysia, version: string): Promise<OpenApi> {
  const [{ swagger }, { routeExamples }, { examplesV2 }, { errorExamples }] = await Promise.all([
    import('@elysiajs/swagger'),
    import('../openapi/route-examples.ts'),
    import('../openapi/examples-v2.ts'),
    import('../openapi/error-examples.ts'),
  ])
  const path = '/inner'
  const inner = new Elysia().use(
    // Without this option, the plugin omits every path with a dot.
    swagger({
      path,
      excludeStaticFile: false,
      exclude: [path, `${path}/json`],
      documentation: { info: infoOf(version) },
    }),
  )
  // `use` changes the given app's server to that of the outer app, which has none. Handlers could then no longer find a
  // caller's address or lift the idle timeout, so both members are restored.
  const { getServer, getGlobalRoutes } = api as unknown as Record<string, unknown>
  inner.use(api)
  Object.assign(api, { getServer, getGlobalRoutes })
  const response = await inner.handle(new Request(`http://localhost${path}/json`))
  const examples = { operations: { ...routeExamples, ...examplesV2 }, errors: errorExamples }
  return repairOpenApi((await response.json()) as OpenApi, examples)
}

function infoOf(version: string) {
  return {
    title: 'Millrace',
    version,
    description:
      'Execute workflows, manage them, and query their logs. Every response has `X-Request-Id`. Every error is ' +
      '`{ "error", "code", "details"? }`: `error` for people, `code` for programs.\n\n' +
      'Executions and the external API (`/api/v1/`, `/api/v2/`) are rate-limited per minute: `X-RateLimit-*` shows the remaining ' +
      'requests, and `Retry-After` the time to wait after 429 or 503. Other routes are not limited.',
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
