import { type AnyElysia, Elysia } from 'elysia'
import { accessLog } from './access/access-log.ts'
import { Door } from './access/door.ts'
import { peerRoutes } from './peers/peer-routes.ts'
import { Turns } from './requests/turns.ts'
import { accountRoutes } from './routes/account.ts'
import { assistantRoutes } from './routes/assistant/assistant.ts'
import { chatRoutes } from './routes/chat/chat.ts'
import { chatPageRoutes } from './routes/chat/page.ts'
import { deliveryRoutes } from './routes/deliveries.ts'
import { deploymentRoutes } from './routes/deployments.ts'
import { docsRoutes } from './routes/docs.ts'
import type { EditorApi } from './routes/editor.ts'
import { executeRoutes } from './routes/execute.ts'
import { executionRoutes } from './routes/executions.ts'
import { fileRoutes } from './routes/files.ts'
import { formRoutes } from './routes/forms/forms.ts'
import { formPageRoutes } from './routes/forms/page.ts'
import { healthRoutes } from './routes/health.ts'
import { webhookRoutes } from './routes/inbound-webhooks.ts'
import { interfaceRoutes, respondWithPage } from './routes/interface.ts'
import { logRoutes } from './routes/logs.ts'
import type { ToolRequests } from './routes/mcp/api-call.ts'
import { mcpRoutes } from './routes/mcp/mcp.ts'
import { metricsRoutes } from './routes/metrics.ts'
import { oauthRoutes } from './routes/oauth/oauth.ts'
import { oauthCallbackRoutes } from './routes/oauth-callback.ts'
import { pauseAnswerRoutes } from './routes/pauses/answers.ts'
import { pausePageRoutes } from './routes/pauses/page.ts'
import { pausedExecutionRoutes } from './routes/pauses/paused-executions.ts'
import { pinRoutes } from './routes/pins.ts'
import { pollRoutes } from './routes/polls/polls.ts'
import { rerunRoutes } from './routes/reruns.ts'
import { sampleRoutes } from './routes/sample.ts'
import { sessionRoutes, signInLink } from './routes/session.ts'
import { swaggerRoutes } from './routes/swagger.ts'
import { testChatRoutes } from './routes/test-chats.ts'
import { testWebhookRoutes } from './routes/test-webhooks.ts'
import { unknownRoutes } from './routes/unknown.ts'
import { transferRoutesV1 } from './routes/v1/transfer.ts'
import { workflowRoutesV1 } from './routes/v1/workflows.ts'
import { routesV2 } from './routes/v2/routes.ts'
import { workflowImportRoutes } from './routes/workflow-import.ts'
import { workflowTestRoutes } from './routes/workflow-tests.ts'
import { workflowRoutes } from './routes/workflows.ts'
import { alertRoutes } from './routes/workspace/alerts.ts'
import { connectorRoutes } from './routes/workspace/connectors.ts'
import { credentialRoutes } from './routes/workspace/credentials.ts'
import { entryRoutes } from './routes/workspace/entries.ts'
import { environmentRoutes } from './routes/workspace/environment.ts'
import { pauseRoutes } from './routes/workspace/pauses.ts'
import { runRoutes } from './routes/workspace/runs.ts'
import type { Services } from './services.ts'

export type HttpServer = {
  app: AnyElysia
  door: Door
  /** The routes that only the dashboard uses. */
  editor(): Promise<AnyElysia>
}

/** The whole HTTP interface: the table of contents of the API. A `Listener` passes requests to it. */
export function createServer(services: Services): HttpServer {
  const door = new Door(services)
  let editor: Promise<AnyElysia> | undefined
  const loadEditor = () => {
    editor ??= import('./routes/editor.ts').then(({ editorRoutes }) => {
      const routes = newApp(door).use(accessLog(door)).use(editorRoutes(services, door))
      return routes.use(unknownRoutes(door, () => routes.routes))
    })
    return editor
  }
  const tools: ToolRequests = {
    fetch: (request) => server.fetch(request),
    // One for both, because it bounds the memory of the process.
    turns: new Turns(services.clock),
  }
  const server: AnyElysia = newApp(door)
    .use(editorLater(loadEditor))
    .use(accessLog(door))
    .use(executeRoutes(services.runs.execute, door))
    .use(webhookRoutes(services.runs.webhooks, door))
    .use(peerRoutes(services, door))
    .use(testWebhookRoutes(services, door))
    .use(testChatRoutes(services, door))
    .use(chatRoutes(services.runs.chats, door))
    .use(formRoutes(services.runs.forms, door))
    .use(fileRoutes(services, door))
    .use(mcpRoutes(services, door, tools))
    .use(assistantRoutes(services, door, tools))
    .use(signInLink(services, door, (request, set) => respondWithPage(services, request, set)))
    .use(apiRoutes(services, door))
    .use(workflowRoutesV1(services, door))
    .use(transferRoutesV1(services, door))
    .use(routesV2(services, door))
    .use(interfaceRoutes(services, door))
    .use(chatPageRoutes(services, door))
    .use(formPageRoutes(services, door))
    .use(pausedExecutionRoutes(services, door))
    .use(pausePageRoutes(services, services.runs.pauses, door))
    .use(docsRoutes(services, door))
    .use(swaggerRoutes(door, services.settings.version, () => server))
    .use(unknownRoutes(door, () => server.routes))
  return { app: server, door, editor: loadEditor }
}

function newApp(door: Door): AnyElysia {
  const app = new Elysia({
    normalize: false,
    // Without this, a Host of fewer than four letters gives 404s or loses the query.
    handler: { standardHostname: false },
  })
  app.router.http.config.onParam = [decodeParameter]
  // First: hooks apply only to routes registered after them.
  return app.onError(({ error, request, set, server }) => door.onError(request, set, server, error))
}

/**
 * Decodes a path parameter. One with an invalid escape keeps its text: no object has such an id, so the caller gets the
 * response for an id that does not exist. Elysia's own decoder would pass null to the route.
 */
function decodeParameter(text: string): string {
  if (!text.includes('%')) return text
  try {
    return decodeURIComponent(text)
  } catch {
    return text
  }
}

/**
 * The dashboard's routes, created on the first request: they take a tenth of the start, and most services never use
 * them.
 */
function editorLater(load: () => Promise<AnyElysia>): AnyElysia {
  return new Elysia().all(
    '/api/editor/*',
    async ({ request, server }) => {
      const app = await load()
      // Handlers use it to find a caller's address and to lift the idle timeout.
      app.server = server
      return await app.fetch(request)
    },
    { parse: 'none', detail: { hide: true } },
  )
}

/** The type of the editor's client. */
export type Api = { '~Routes': ReturnType<typeof apiRoutes>['~Routes'] & EditorApi['~Routes'] }

function apiRoutes(services: Services, door: Door) {
  return new Elysia()
    .use(workflowRoutes(services, door))
    .use(workflowImportRoutes(services, door))
    .use(pinRoutes(services, door))
    .use(workflowTestRoutes(services, door))
    .use(deploymentRoutes(services, door))
    .use(pollRoutes(services, door))
    .use(executionRoutes(services, door))
    .use(deliveryRoutes(services, door))
    .use(logRoutes(services, door))
    .use(rerunRoutes(services, door))
    .use(accountRoutes(services, door))
    .use(sessionRoutes(services, door))
    .use(environmentRoutes(services, door))
    .use(entryRoutes(services, door))
    .use(connectorRoutes(services, door))
    .use(pauseRoutes(services, door))
    .use(runRoutes(services, door))
    .use(pauseAnswerRoutes(services.runs.pauses, door))
    .use(credentialRoutes(services, door))
    .use(alertRoutes(services, door))
    .use(oauthCallbackRoutes(services, door))
    .use(oauthRoutes(services, door))
    .use(sampleRoutes(door))
    .use(healthRoutes(services, door))
    .use(metricsRoutes(services, door))
}
