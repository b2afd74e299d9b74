import { Elysia } from 'elysia'
import type { Door } from '../access/door.ts'
import type { InterfaceFiles } from '../responses/interface-files.ts'
import { respondWithPage } from './interface.ts'

/**
 * The documentation, which `scripts/docs/build-docs.ts` makes from `docs/`: the list of pages, and a page at
 * `/docs/<page>`, as Markdown at `/docs/<page>.md`. Images, styles and scripts are under `/assets/`.
 */
export function docsRoutes(services: { interfaceFiles(): Promise<InterfaceFiles> }, door: Door) {
  return new Elysia()
    .get(
      '/docs',
      ({ request, set }) => {
        door.allowAnonymous(request, set)
        return respondWithPage(services, request, set, '/docs')
      },
      { detail: { hide: true } },
    )
    .get(
      '/docs/:page',
      async ({ request, set, params: { page } }) => {
        door.allowAnonymous(request, set)
        const path = `/docs/${page}`
        const isPage = Object.hasOwn(await services.interfaceFiles(), path)
        if (!isPage) set.status = 404
        return respondWithPage(services, request, set, isPage ? path : '/docs-not-found')
      },
      { detail: { hide: true } },
    )
}
