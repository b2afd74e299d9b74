import { type AnyElysia, Elysia } from 'elysia'
import { Door } from './door.ts'
import { leaving } from './leaving.ts'
import type { Shortcut } from './listener.ts'
import { accountRoutes } from './routes/account.ts'
import { chatPageRoutes } from './routes/chat-page.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { docsRoutes } from './routes/docs.ts'
import type { EditorApi } from './routes/editor.ts'
import { environmentRoutes } from './routes/environment.ts'
import { executionRoutes } from './routes/executions.ts'
import { fileRoutes } from './routes/files.ts'
import { healthRoutes } from './routes/health.ts'
import { answerPage, interfaceRoutes } from './routes/interface.ts'
import { logRoutes } from './routes/logs.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { sampleRoutes } from './routes/sample.ts'
import { sessionRoutes, signInLink } from './routes/session.ts'
import { swaggerRoutes } from './routes/swagger.ts'
import { unknownRoutes } from './routes/unknown.ts'
import { workflowRoutes } from './routes/workflows.ts'
import type { Services } from './services.ts'

/** Routes that `app.ts` adds: each gets the door, for request ids and the access log. */
export type MoreRoutes = {
  execute?: (door: Door) => { routes: AnyElysia; shortcut?: Shortcut }
  webhooks?: (door: Door) => AnyElysia
  chat?: (door: Door) => AnyElysia
}

export type HttpServer = {
  app: AnyElysia
  /** To the one route that is asked much more often than all others. */
  shortcut: Shortcut | undefined
  /** What only the dashboard asks for. */
  editor(): Promise<AnyElysia>
  /** Answers what even the app could not. */
  lost(thrown: unknown): Response
}

/** The whole HTTP interface: the table of contents of the API. It answers on a `Listener`. */
export function createServer(services: Services, more: MoreRoutes = {}): HttpServer {
  const door = new Door(services)
  let editor: Promise<AnyElysia> | undefined
  const loadEditor = () => {
    editor ??= import('./routes/editor.ts').then(({ editorRoutes }) => {
      const routes = newApp(door).use(leaving(door)).use(editorRoutes(services, door))
      return routes.use(unknownRoutes(door, () => routes.routes))
    })
    return editor
  }
  const execute = more.execute?.(door)
  const server: AnyElysia = newApp(door)
    .use(execute?.routes ?? new Elysia())
    .use(more.webhooks?.(door) ?? new Elysia())
    .use(more.chat?.(door) ?? new Elysia())
    .use(editorLater(loadEditor))
    .use(leaving(door))
    .use(fileRoutes(services, door))
    .use(signInLink(services, door, (request, set) => answerPage(services, request, set)))
    .use(apiRoutes(services, door))
    .use(interfaceRoutes(services, door))
    .use(chatPageRoutes(services, door))
    .use(docsRoutes(services, door))
    .use(swaggerRoutes(door, services.settings.version, () => server))
    .use(unknownRoutes(door, () => server.routes))
  return { app: server, shortcut: execute?.shortcut, editor: loadEditor, lost: (thrown) => door.lost(thrown) }
}

function newApp(door: Door): AnyElysia {
  const app = new Elysia({
    normalize: false,
    // Without this a Host of fewer than four letters gives 404s, or loses the query.
    handler: { standardHostname: false },
  })
  // First: hooks apply only to routes registered after them.
  return app.onError(({ error, request, set, server }) => door.refuse(request, set, server, error))
}

/** The dashboard's own routes, made when a page first asks: a tenth of the start, of which most services have no use. */
function editorLater(load: () => Promise<AnyElysia>): AnyElysia {
  return new Elysia().all(
    '/api/editor/*',
    async ({ request, server }) => {
      const app = await load()
      // Where its handlers look for the address of a caller, and lift the timeout of a connection.
      app.server = server
      return await app.fetch(request)
    },
    { parse: 'none', detail: { hide: true } },
  )
}

/** What the editor's typed client is made of. */
export type Api = { '~Routes': ReturnType<typeof apiRoutes>['~Routes'] & EditorApi['~Routes'] }

function apiRoutes(services: Services, door: Door) {
  return new Elysia()
    .use(workflowRoutes(services, door))
    .use(deploymentRoutes(services, door))
    .use(executionRoutes(services, door))
    .use(deliveryRoutes(services, door))
    .use(logRoutes(services, door))
    .use(accountRoutes(services, door))
    .use(sessionRoutes(services, door))
    .use(environmentRoutes(services, door))
    .use(sampleRoutes(door))
    .use(healthRoutes(services, door))
    .use(metricsRoutes(services, door))
}
