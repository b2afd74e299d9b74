import { type AnyElysia, Elysia } from 'elysia'
import { Door } from './door.ts'
import { accountRoutes } from './routes/account.ts'
import { chatPageRoutes } from './routes/chat-page.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { editorRoutes } from './routes/editor.ts'
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
  execute?: (door: Door) => AnyElysia
  webhooks?: (door: Door) => AnyElysia
  chat?: (door: Door) => AnyElysia
}

export type HttpServer = {
  app: AnyElysia
  /** Answers what even the app could not. */
  lost(thrown: unknown): Response
}

/** The whole HTTP interface: the table of contents of the API. It answers on a `Listener`. */
export function createServer(services: Services, more: MoreRoutes = {}): HttpServer {
  const door = new Door(services)
  const server: AnyElysia = new Elysia({
    normalize: false,
    // Without this a Host of fewer than four letters gives 404s, or loses the query.
    handler: { standardHostname: false },
  })
    // First: hooks apply only to routes registered after them.
    .onError(({ error, request, set, server }) => door.refuse(request, set, server, error))
    .use(more.execute?.(door) ?? new Elysia())
    .use(more.webhooks?.(door) ?? new Elysia())
    .use(more.chat?.(door) ?? new Elysia())
    .use(leaving(door))
    .use(fileRoutes(services, door))
    .use(signInLink(services, door, (request, set) => answerPage(services, request, set)))
    .use(apiRoutes(services, door))
    .use(interfaceRoutes(services, door))
    .use(chatPageRoutes(services, door))
    .use(swaggerRoutes(door, services.settings.version, () => server))
    .use(unknownRoutes(door, () => server.routes))
  return { app: server, lost: (thrown) => door.lost(thrown) }
}

/** What the editor's typed client is made of. */
export type Api = ReturnType<typeof apiRoutes>

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
    .use(editorRoutes(services, door))
    .use(sampleRoutes(door))
    .use(healthRoutes(services, door))
    .use(metricsRoutes(services, door))
}

/** Sees every answer out. After the routes that start runs, which pay for no hook and report to the door themselves. */
function leaving(door: Door): AnyElysia {
  return new Elysia().mapResponse({ as: 'global' }, ({ request, set, route, responseValue }) => {
    const own = responseValue instanceof Response ? responseValue : undefined
    const status = own?.status ?? (typeof set.status === 'number' ? set.status : 200)
    door.leave(request, { route, status, bytes: () => (own ? null : bytesOf(responseValue)) })
  })
}

function bytesOf(answer: unknown): number {
  if (answer === undefined || answer === null) return 0
  if (answer instanceof Uint8Array) return answer.byteLength
  return Buffer.byteLength(typeof answer === 'string' ? answer : JSON.stringify(answer))
}
