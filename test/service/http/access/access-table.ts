// Long because it lists every route.

import { isExternal } from '../../../../src/http/access/door.ts'

/**
 * Who may call what: at least one row for each route of the service. `needs`: `nothing` allows everyone, `page`
 * everyone on a page of the service, `key` every valid key or session, `operator` the installation's owner. The other
 * values require a role in the workspace of the object (for other accounts, an `own` object does not exist). `takenBy`
 * tells from the path whether a route accepts keys or sessions.
 */
export type AccessRow = {
  /** As the server names it. */
  route: string
  /** The called route: `<workflow>` and the like are IDs of the owner's objects, `<own>` of the caller's. */
  at: string
  needs: 'nothing' | 'page' | 'key' | 'operator' | 'owner' | 'own' | 'read' | 'write' | 'execute'
  /** The status for callers with access. */
  ok: number
  body?: string
}

const workflow = '/api/workflows/<workflow>'
const simImport = JSON.stringify({
  workspaceId: '<workspace>',
  name: '<name>',
  workflow: { state: { blocks: { start: { id: 'start', type: 'start_trigger', name: 'Start' } }, edges: [] } },
})
const workflowV1 = '/api/v1/workflows/<workflow>'
const workflowV2 = '/api/v2/workflows/<workflow>'
const webhooks = '/api/editor/workflows/<workflow>/webhooks'
const rerun = '/api/workspaces/<workspace>/logs/rerun'
const credentials = '/api/workspaces/<workspace>/credentials'
const alerts = '/api/workspaces/<workspace>/alerts'
const newAlert = JSON.stringify({
  ...{ name: '<name>', events: ['run.failed'], workflows: 'all' },
  channel: { type: 'webhook', url: 'https://example.com' },
})
const connectors = '/api/workspaces/<workspace>/connectors'
const entries = '/api/workspaces/<workspace>/store'
const pauses = '/api/workspaces/<workspace>/pauses'
const shop = JSON.stringify({
  ...{ id: 'shop', name: 'Shop', baseUrl: 'https://shop.example' },
  operations: { list: { label: 'List', method: 'GET', path: '/items' } },
})
const document = JSON.stringify({ name: '<name>', blocks: {}, edges: [] })
const simFile = JSON.stringify({
  workspaceId: '<workspace>',
  document: {
    ...{ version: '1.0', state: { blocks: { s: { type: 'start_trigger', name: 'Start' } }, edges: [] } },
    metadata: { name: '<name>' },
  },
})

export const accessTable: readonly AccessRow[] = [
  row('POST /api/workflows/:id/execute', `${workflow}/execute`, 'execute', 200, '{"city":"Faro"}'),
  row('POST /api/v2/workflows/:id/execute', `${workflowV2}/execute`, 'execute', 200, '{"input":{"city":"Faro"}}'),

  row('GET /api/v2/workflows/:id/runs', `${workflowV2}/runs`, 'read', 200),
  row('GET /api/v2/workflows/:id/runs/:runId', `${workflowV2}/runs/<execution>`, 'read', 200),
  row('POST /api/v2/workflows/:id/runs/:runId/cancel', `${workflowV2}/runs/<execution>/cancel`, 'write', 200),
  row('GET /api/v2/logs', '/api/v2/logs?workspaceId=<workspace>', 'read', 200),
  row('GET /api/v2/logs/:runId', '/api/v2/logs/<execution>', 'read', 200),
  // 404: the run is not paused.
  row(
    'POST /api/v2/workflows/:id/runs/:runId/resume',
    `${workflowV2}/runs/<execution>/resume`,
    'execute',
    404,
    '{"contextId":"nothing"}',
  ),

  // 404: the address is the credential, and this one does not exist.
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    row(`${method} /api/webhooks/trigger/:path`, '/api/webhooks/trigger/nothing', 'nothing', 404, '{}'),
  ),

  // 404: nobody listens there.
  ...['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map((method) =>
    row(`${method} /api/webhooks/test/:token`, '/api/webhooks/test/nothing', 'nothing', 404, '{}'),
  ),

  // 404: only other processes may ask, with a signature.
  row('GET /api/peers/:kind/:id', '/api/peers/run/<execution>', 'nothing', 404),

  row('POST /api/chat/test/:token', '/api/chat/test/nothing', 'nothing', 404, '{"input":"Hello"}'),
  row('POST /api/chat/:identifier', '/api/chat/<workflow>', 'execute', 200, '{"input":"Hello"}'),
  row('GET /api/chat/:identifier/runs/:executionId', '/api/chat/<workflow>/runs/nothing', 'execute', 404),
  row('GET /chat/:identifier', '/chat/nothing', 'nothing', 404),
  row('POST /api/forms/:path', '/api/forms/<workflow>', 'execute', 202, '{"a":"x"}'),
  row('GET /form/:path', '/form/nothing', 'nothing', 404),
  row('GET /api/forms/:path', '/api/forms/nothing', 'nothing', 404),
  row('GET /api/chat/:identifier', '/api/chat/nothing', 'nothing', 404),

  row('GET /api/workflows', '/api/workflows?workspaceId=<workspace>', 'read', 200),
  row('POST /api/workflows', '/api/workflows?workspaceId=<workspace>', 'write', 201, document),
  row(
    'POST /api/workflows',
    '/api/workflows',
    'write',
    201,
    JSON.stringify({ name: '<name>', blocks: {}, edges: [], workspaceId: '<workspace>' }),
  ),
  row('POST /api/workflows/import', '/api/workflows/import', 'write', 201, simFile),
  row('GET /api/workflows/:id', workflow, 'read', 200),
  row('PUT /api/workflows/:id', workflow, 'write', 200, document),
  row('DELETE /api/workflows/:id', workflow, 'write', 204),
  row('GET /api/workflows/:id/openapi.json', `${workflow}/openapi.json`, 'read', 200),

  row('GET /api/workflows/:id/pins', `${workflow}/pins`, 'read', 200),
  row('PUT /api/workflows/:id/pins/:blockId', `${workflow}/pins/start`, 'write', 200, '{"output":{"city":"Faro"}}'),
  // 404: nothing is pinned to this block.
  row('DELETE /api/workflows/:id/pins/:blockId', `${workflow}/pins/nothing`, 'write', 404),

  row('GET /api/workflows/:id/tests', `${workflow}/tests`, 'read', 200),
  row('PUT /api/workflows/:id/tests', `${workflow}/tests`, 'write', 200, '{"tests":[]}'),
  row('POST /api/workflows/:id/tests/run', `${workflow}/tests/run`, 'execute', 200, '{}'),
  // 404: the log has no such run.
  row('POST /api/workflows/:id/tests/from-run', `${workflow}/tests/from-run`, 'write', 404, '{"executionId":"none"}'),

  row('POST /api/workflows/:id/deploy', `${workflow}/deploy`, 'write', 200),
  row('DELETE /api/workflows/:id/deploy', `${workflow}/deploy`, 'write', 204),
  row('GET /api/workflows/:id/status', `${workflow}/status`, 'read', 200),
  row('GET /api/workflows/:id/polls', `${workflow}/polls`, 'read', 200),
  // 404: it has no such trigger.
  row('POST /api/workflows/:id/polls/:blockId/now', `${workflow}/polls/none/now`, 'execute', 404),
  row('GET /api/workflows/:id/deployments', `${workflow}/deployments`, 'read', 200),
  row('GET /api/workflows/:id/deployments/:version', `${workflow}/deployments/1`, 'read', 200),
  row('PATCH /api/workflows/:id/deployments/:version', `${workflow}/deployments/1`, 'write', 200, '{"name":"First"}'),
  row('POST /api/workflows/:id/deployments/:version/activate', `${workflow}/deployments/1/activate`, 'write', 200),
  row('POST /api/workflows/:id/deployments/:version/revert', `${workflow}/deployments/1/revert`, 'write', 200),

  row('GET /api/workflows/:id/executions/:executionId', `${workflow}/executions/<execution>`, 'read', 200),
  // 409: the run has ended.
  row(
    'POST /api/workflows/:id/executions/:executionId/cancel',
    `${workflow}/executions/<execution>/cancel`,
    'write',
    409,
  ),
  row('GET /api/workflows/:id/deliveries', `${workflow}/deliveries`, 'read', 200),
  row('GET /api/workflows/:id/deliveries/:deliveryId', `${workflow}/deliveries/<delivery>`, 'read', 200),
  row(
    'POST /api/workflows/:id/deliveries/:deliveryId/resend',
    `${workflow}/deliveries/<delivery>/resend`,
    'write',
    200,
  ),
  row(
    'POST /api/workflows/:id/deliveries/:deliveryId/cancel',
    `${workflow}/deliveries/<delivery>/cancel`,
    'write',
    200,
  ),
  row(
    'POST /api/workflows/:id/deliveries/resend-failed',
    `${workflow}/deliveries/resend-failed`,
    'write',
    200,
    '{"since":"2025-01-01"}',
  ),

  row('GET /api/jobs/:id', '/api/jobs/<execution>', 'read', 200),

  row('GET /api/v1/logs', '/api/v1/logs?workspaceId=<workspace>', 'read', 200),
  row('GET /api/v1/logs/:id', '/api/v1/logs/<log>', 'read', 200),
  row('GET /api/v1/logs/:id/webhooks', '/api/v1/logs/<log>/webhooks', 'read', 200),
  row(
    'GET /api/v1/logs/workflow/pt-BR/executions/:executionId',
    '/api/v1/logs/workflow/pt-BR/executions/<execution>',
    'read',
    200,
  ),
  row('GET /api/v1/logs/executions/:executionId', '/api/v1/logs/executions/<execution>', 'read', 200),

  row('GET /api/v2/meta', '/api/v2/meta', 'key', 200),
  row('GET /api/v2/workspaces', '/api/v2/workspaces', 'key', 200),
  row('GET /api/v2/workspaces/:id', '/api/v2/workspaces/<workspace>', 'read', 200),
  row('GET /api/v2/workspaces/:id/members', '/api/v2/workspaces/<workspace>/members', 'read', 200),
  row('GET /api/v2/workflows', '/api/v2/workflows?workspaceId=<workspace>', 'read', 200),
  row('POST /api/v2/workflows', '/api/v2/workflows', 'write', 201, '{"workspaceId":"<workspace>","name":"<name>"}'),
  row(
    'POST /api/v2/workflows/move',
    '/api/v2/workflows/move',
    'write',
    200,
    '{"workspaceId":"<workspace>","workflowIds":["<workflow>"],"folderPath":"/moved"}',
  ),
  row('GET /api/v2/workflows/:id', workflowV2, 'read', 200),
  row('PATCH /api/v2/workflows/:id', workflowV2, 'write', 200, '{"name":"<name>"}'),
  row('DELETE /api/v2/workflows/:id', workflowV2, 'write', 200),
  row('GET /api/v2/workflows/:id/deployment', `${workflowV2}/deployment`, 'read', 200),
  row('POST /api/v2/workflows/:id/deploy', `${workflowV2}/deploy`, 'write', 200),
  row('DELETE /api/v2/workflows/:id/deploy', `${workflowV2}/deploy`, 'write', 200),
  row('POST /api/v2/workflows/:id/rollback', `${workflowV2}/rollback`, 'write', 200, '{"version":1}'),
  row('GET /api/v2/workflows/:id/versions', `${workflowV2}/versions`, 'read', 200),
  row('GET /api/v2/workflows/:id/versions/:version', `${workflowV2}/versions/1`, 'read', 200),
  row('PATCH /api/v2/workflows/:id/versions/:version', `${workflowV2}/versions/1`, 'write', 200, '{"name":"x"}'),
  row('POST /api/v2/workflows/:id/versions/:version/activate', `${workflowV2}/versions/1/activate`, 'write', 200),
  row('POST /api/v2/workflows/:id/versions/:version/revert', `${workflowV2}/versions/active/revert`, 'write', 200),

  row('GET /api/v2/workflows/:id/export', `${workflowV2}/export`, 'read', 200),
  row('GET /api/v2/workflows/:id/state', `${workflowV2}/state`, 'read', 200),
  row('POST /api/v2/workflows/import', '/api/v2/workflows/import', 'write', 201, simImport),
  row('GET /api/v1/workflows/:id/export', `${workflowV1}/export`, 'read', 200),
  row('POST /api/v1/workflows/import', '/api/v1/workflows/import', 'write', 201, simImport),
  row('GET /api/v2/workflows/folders', '/api/v2/workflows/folders?workspaceId=<workspace>', 'read', 200),
  // 404: the workspace has no such folder.
  row(
    'PATCH /api/v2/workflows/folders',
    '/api/v2/workflows/folders',
    'write',
    404,
    '{"workspaceId":"<workspace>","path":"/nowhere","destinationPath":"/there"}',
  ),
  row('GET /api/v2/secrets', '/api/v2/secrets?workspaceId=<workspace>', 'read', 200),
  row(
    'PUT /api/v2/secrets/:name',
    '/api/v2/secrets/WEATHER_TOKEN',
    'write',
    200,
    '{"workspaceId":"<workspace>","scope":"workspace","value":"secret"}',
  ),
  // 404: the workspace has no such secret.
  row('DELETE /api/v2/secrets/:name', '/api/v2/secrets/NONE?workspaceId=<workspace>&scope=workspace', 'write', 404),
  row('GET /api/v2/credentials', '/api/v2/credentials?workspaceId=<workspace>', 'read', 200),

  row('GET /api/v1/workflows', '/api/v1/workflows?workspaceId=<workspace>', 'read', 200),
  row('GET /api/v1/workflows/:id', workflowV1, 'read', 200),
  row('POST /api/v1/workflows/:id/deploy', `${workflowV1}/deploy`, 'write', 200),
  row('DELETE /api/v1/workflows/:id/deploy', `${workflowV1}/deploy`, 'write', 200),
  row('POST /api/v1/workflows/:id/rollback', `${workflowV1}/rollback`, 'write', 200, '{"version":1}'),

  row('GET /api/folders', '/api/folders?workspaceId=<workspace>', 'read', 200),
  row('GET /api/workspaces', '/api/workspaces', 'key', 200),
  row('GET /api/workflows/:id/paused', `${workflow}/paused`, 'read', 200),
  row('GET /api/workflows/:id/paused/:executionId', `${workflow}/paused/<pausedRun>`, 'read', 200),
  row('GET /api/resume/:workflowId/:executionId', '/api/resume/<workflow>/<pausedRun>', 'read', 200),
  row('POST /api/resume/:workflowId/:executionId', '/api/resume/<workflow>/<pausedRun>', 'execute', 200, '{}'),
  row(
    'POST /api/resume/:workflowId/:executionId/:contextId',
    '/api/resume/<workflow>/<pausedRun>/<pause>',
    'execute',
    200,
    '{}',
  ),
  row('GET /pause/:token', '/pause/a.b', 'nothing', 404),
  row('GET /api/pauses/:token', '/api/pauses/a.b', 'nothing', 404),
  row('POST /api/pauses/:token', '/api/pauses/a.b', 'nothing', 404, '{}'),
  row('GET /api/pauses/:token/next', '/api/pauses/a.b/next', 'nothing', 404),
  row('GET /api/workspaces/:id/runs', '/api/workspaces/<workspace>/runs', 'read', 200),
  row('GET /api/workspaces/:id/runs/:executionId', '/api/workspaces/<workspace>/runs/<pausedRun>', 'read', 200),
  row('GET /api/workspaces/:id/pauses', pauses, 'read', 200),
  row('GET /api/workspaces/:id/pauses/counts', `${pauses}/counts`, 'read', 200),
  row('GET /api/workspaces/:id/pauses/:contextId', `${pauses}/<pause>`, 'read', 200),
  row('POST /api/workspaces/:id/pauses/:contextId/resume', `${pauses}/<pause>/resume`, 'write', 200),
  row('POST /api/workspaces/:id/pauses/:contextId/cancel', `${pauses}/<pause>/cancel`, 'write', 200),
  row(
    'POST /api/workspaces/:id/pauses/:contextId/extend',
    `${pauses}/<pause>/extend`,
    'write',
    200,
    JSON.stringify({ until: new Date(Date.now() + 86_400_000).toISOString() }),
  ),
  row('GET /api/workspaces/:id/connectors', connectors, 'read', 200),
  row(
    'POST /api/workspaces/:id/connectors/import',
    `${connectors}/import`,
    'write',
    201,
    '{"document":"curl https://<name>.example/items","id":"imported"}',
  ),
  row('GET /api/workspaces/:id/connectors/:connectorId', `${connectors}/slack`, 'read', 200),
  row('PUT /api/workspaces/:id/connectors/:connectorId', `${connectors}/shop`, 'write', 200, shop),
  row('DELETE /api/workspaces/:id/connectors/:connectorId', `${connectors}/shop`, 'write', 204),

  row('GET /api/workspaces/:id/credentials', credentials, 'read', 200),
  row(
    'POST /api/workspaces/:id/credentials',
    credentials,
    'write',
    201,
    '{"name":"<name>","kind":"bearer","hosts":["api.example.com"],"secrets":{"token":"hunter22"}}',
  ),
  row('GET /api/workspaces/:id/credentials/:name', `${credentials}/crm`, 'read', 200),
  row('PATCH /api/workspaces/:id/credentials/:name', `${credentials}/crm`, 'write', 200, '{"hosts":["example.com"]}'),
  row('POST /api/workspaces/:id/credentials/:name/test', `${credentials}/crm/test`, 'write', 200, '{}'),
  row('POST /api/workspaces/:id/credentials/:name/sign-in', `${credentials}/crm/sign-in`, 'write', 409, '{}'),
  row('DELETE /api/workspaces/:id/credentials/:name', `${credentials}/crm`, 'write', 204),

  row('GET /api/workspaces/:id/alerts', alerts, 'write', 200),
  row('POST /api/workspaces/:id/alerts', alerts, 'write', 201, newAlert),
  row('GET /api/workspaces/:id/alerts/:alertId', `${alerts}/<alert>`, 'write', 200),
  row('PATCH /api/workspaces/:id/alerts/:alertId', `${alerts}/<alert>`, 'write', 200, '{"name":"New"}'),
  row('POST /api/workspaces/:id/alerts/:alertId/test', `${alerts}/<alert>/test`, 'write', 200),
  row('DELETE /api/workspaces/:id/alerts/:alertId', `${alerts}/<alert>`, 'write', 204),
  row('GET /api/workspaces/:id/store', entries, 'read', 200),
  row('GET /api/workspaces/:id/store/export', `${entries}/export`, 'read', 200),
  row('PUT /api/workspaces/:id/store/:key', `${entries}/visits`, 'write', 200, '{"value":{"total":3}}'),
  // 404: there is no such entry.
  row('DELETE /api/workspaces/:id/store/:key', `${entries}/none`, 'write', 404),

  row('GET /api/workspaces/:id/environment', '/api/workspaces/<workspace>/environment', 'read', 200),
  row(
    'PUT /api/workspaces/:id/environment/:name',
    '/api/workspaces/<workspace>/environment/TOKEN',
    'write',
    200,
    '{"value":"hunter22"}',
  ),
  row('DELETE /api/workspaces/:id/environment/:name', '/api/workspaces/<workspace>/environment/TOKEN', 'write', 204),

  row('POST /api/workspaces/:id/logs/rerun', rerun, 'execute', 202, '{"filter":{"search":"nothing"}}'),
  // 404: the job does not exist.
  row('GET /api/workspaces/:id/logs/rerun/:rerunId', `${rerun}/none`, 'read', 404),
  row('DELETE /api/workspaces/:id/logs/rerun/:rerunId', `${rerun}/none`, 'execute', 404),

  // 400: it has neither an e-mail nor a password.
  row('POST /api/session', '/api/session', 'page', 400, '{}'),
  row('GET /api/session/link', '/api/session/link', 'nothing', 200),
  row('POST /api/session/link', '/api/session/link', 'page', 400, '{}'),
  row('DELETE /api/session', '/api/session', 'page', 204),
  row('GET /sign-in', '/sign-in?token=x', 'nothing', 302),
  row('GET /api/oauth/callback', '/api/oauth/callback?code=x&state=x', 'nothing', 400),

  row(
    'POST /api/editor/connectors/choices',
    '/api/editor/connectors/choices',
    'write',
    404,
    '{"workspaceId":"<workspace>","connector":"shop","operation":"list","parameter":"x"}',
  ),
  // 409: there is no server at the address.
  row(
    'POST /api/editor/mcp/tools',
    '/api/editor/mcp/tools',
    'write',
    409,
    '{"workspaceId":"<workspace>","server":"http://127.0.0.1:1/"}',
  ),
  row('POST /api/editor/workflows/:id/runs', '/api/editor/workflows/<workflow>/runs', 'execute', 202, '{}'),
  row('GET /api/editor/runs/:executionId/events', '/api/editor/runs/<execution>/events', 'read', 200),
  row('GET /api/editor/workflows/:id/events', '/api/editor/workflows/<workflow>/events', 'read', 200),
  // 404: it has no such trigger.
  row(
    'POST /api/editor/workflows/:id/try-poll',
    '/api/editor/workflows/<workflow>/try-poll',
    'write',
    404,
    '{"blockId":"none"}',
  ),
  row('POST /api/editor/workflows/:id/listen', '/api/editor/workflows/<workflow>/listen', 'execute', 201),
  // 404: nobody listens with this token.
  row('GET /api/editor/workflows/:id/listen/:token', '/api/editor/workflows/<workflow>/listen/none', 'execute', 404),
  row('DELETE /api/editor/workflows/:id/listen/:token', '/api/editor/workflows/<workflow>/listen/none', 'execute', 404),
  row(
    'POST /api/editor/workflows/:id/presence',
    '/api/editor/workflows/<workflow>/presence',
    'read',
    200,
    '{"editorId":"none","blockId":null}',
  ),
  row('GET /api/editor/workflows/:id/newer', '/api/editor/workflows/<workflow>/newer', 'read', 200),
  row('GET /api/editor/me', '/api/editor/me', 'key', 200),
  row('GET /api/editor/blocks', '/api/editor/blocks', 'key', 200),
  row('GET /api/editor/gallery', '/api/editor/gallery', 'key', 200),
  row('GET /api/editor/models', '/api/editor/models', 'key', 200),
  row('GET /api/editor/logs', '/api/editor/logs?workspaceId=<workspace>', 'read', 200),
  row(
    'GET /api/editor/logs/histogram',
    '/api/editor/logs/histogram?workspaceId=<workspace>&from=2025-01-01',
    'read',
    200,
  ),
  row('GET /api/editor/logs/executions/:executionId', '/api/editor/logs/executions/<execution>', 'read', 200),
  row('GET /api/editor/logs/:id', '/api/editor/logs/<log>', 'read', 200),
  row('GET /api/editor/logs/:id/webhooks', '/api/editor/logs/<log>/webhooks', 'read', 200),
  row('GET /api/editor/workflows/:id/webhooks', webhooks, 'read', 200),
  row('POST /api/editor/workflows/:id/webhooks', webhooks, 'write', 201, '{"url":"https://example.com/"}'),
  row('PATCH /api/editor/workflows/:id/webhooks/:webhookId', `${webhooks}/<webhook>`, 'write', 200, '{"active":false}'),
  row('DELETE /api/editor/workflows/:id/webhooks/:webhookId', `${webhooks}/<webhook>`, 'write', 204),
  row(
    'POST /api/editor/workflows/:id/webhooks/:webhookId/rotate-secret',
    `${webhooks}/<webhook>/rotate-secret`,
    'write',
    200,
    '{"secret":"a new one"}',
  ),
  row('GET /api/editor/workflows', '/api/editor/workflows?workspaceId=<workspace>', 'read', 200),
  row('GET /api/editor/workflows/deleted', '/api/editor/workflows/deleted?workspaceId=<workspace>', 'read', 200),
  row('PATCH /api/editor/workflows/:id', '/api/editor/workflows/<workflow>', 'write', 200, '{"name":"<name>"}'),
  row('POST /api/editor/workflows/:id/duplicate', '/api/editor/workflows/<workflow>/duplicate', 'write', 201, '{}'),
  row('POST /api/editor/workflows/:id/check', '/api/editor/workflows/<workflow>/check', 'read', 200, document),
  row('POST /api/editor/workflows/:id/restore', '/api/editor/workflows/<deleted>/restore', 'write', 200),
  row(
    'POST /api/editor/folders/move',
    '/api/editor/folders/move',
    'write',
    404,
    '{"workspaceId":"<workspace>","path":"a","to":null}',
  ),
  row('POST /api/editor/workflows/:id/webhooks/:webhookId/test', `${webhooks}/<webhook>/test`, 'write', 200),
  row('GET /api/editor/usage', '/api/editor/usage', 'key', 200),
  row('GET /api/editor/service', '/api/editor/service', 'key', 200),
  row('GET /api/editor/processes', '/api/editor/processes', 'operator', 200),
  // 404: there is no such process.
  row('POST /api/editor/processes/:id/drain', '/api/editor/processes/none/drain', 'operator', 404),
  row('GET /api/editor/applications', '/api/editor/applications', 'key', 200),
  row('DELETE /api/editor/applications/:id', '/api/editor/applications/nothing', 'key', 404),
  // 400: the query names no application.
  row('GET /api/editor/applications/consent', '/api/editor/applications/consent?query=x', 'key', 400),
  row('POST /api/editor/applications/consent', '/api/editor/applications/consent', 'key', 400, '{"query":"x"}'),
  row('GET /api/editor/keys', '/api/editor/keys', 'key', 200),
  row('POST /api/editor/keys', '/api/editor/keys', 'read', 201, '{"name":"ci","workspaceId":"<workspace>"}'),
  row('DELETE /api/editor/keys/:id', '/api/editor/keys/<key>', 'own', 204),
  row('POST /api/editor/workspaces', '/api/editor/workspaces', 'key', 201, '{"name":"Lab"}'),
  row('PATCH /api/editor/workspaces/:id', '/api/editor/workspaces/<workspace>', 'owner', 200, '{"name":"Lab"}'),
  row('GET /api/editor/workspaces/:id/members', '/api/editor/workspaces/<workspace>/members', 'read', 200),
  row(
    'POST /api/editor/workspaces/:id/members',
    '/api/editor/workspaces/<workspace>/members',
    'owner',
    201,
    '{"email":"<member>@example.com","role":"editor"}',
  ),
  row(
    'PATCH /api/editor/workspaces/:id/members/:userId',
    '/api/editor/workspaces/<workspace>/members/<member>',
    'owner',
    200,
    '{"role":"editor"}',
  ),
  row(
    'DELETE /api/editor/workspaces/:id/members/:userId',
    '/api/editor/workspaces/<workspace>/members/<member>',
    'owner',
    204,
  ),
  row('DELETE /api/editor/me/sessions', '/api/editor/me/sessions', 'key', 204),
  row('PUT /api/editor/me/email', '/api/editor/me/email', 'key', 204, '{"email":"<name>@example.com"}'),
  row('PUT /api/editor/me/password', '/api/editor/me/password', 'key', 204, '{"password":"hunter22222"}'),

  row('GET /api/users/me/usage-limits', '/api/users/me/usage-limits', 'key', 200),

  // 403: every caller needs a signed URL, and nothing else.
  row('GET /files/*', '/files/<workspace>/<workflow>/<execution>/x/y?expires=9999999999&signature=x', 'nothing', 403),
  row('HEAD /files/*', '/files/<workspace>/<workflow>/<execution>/x/y?expires=9999999999&signature=x', 'nothing', 403),

  // 400: the key is checked before the message.
  // 409: the operator has not turned the assistant on.
  row('POST /api/workflows/:id/assistant', `${workflow}/assistant`, 'write', 409, '{"messages":[]}'),
  row('POST /mcp', '/mcp', 'key', 400, '[]'),
  // mcp-tools.ts lists the tools.
  row('POST /mcp/:workspaceId', '/mcp/<workspace>', 'read', 200, '{"jsonrpc":"2.0","id":1,"method":"ping"}'),
  ...['', '/mcp', '/mcp/:workspaceId'].map((path) => {
    const at = `/.well-known/oauth-protected-resource${path}`
    return row(`GET ${at}`, at.replace(':workspaceId', '<workspace>'), 'nothing', 200)
  }),
  row('GET /.well-known/oauth-authorization-server', '/.well-known/oauth-authorization-server', 'nothing', 200),
  row('GET /oauth/authorize', '/oauth/authorize', 'nothing', 200),
  row('POST /oauth/register', '/oauth/register', 'nothing', 201, '{"redirect_uris":["https://desk.example/"]}'),
  // 400: the code, or a parameter, is missing.
  row('POST /oauth/token', '/oauth/token', 'nothing', 400, 'grant_type=authorization_code'),
  row('POST /oauth/revoke', '/oauth/revoke', 'nothing', 400, 'token=nothing'),
  row('GET /sample/quotes', '/sample/quotes', 'nothing', 200),
  row('GET /health', '/health', 'nothing', 200),
  row('GET /health/live', '/health/live', 'nothing', 200),
  row('GET /health/ready', '/health/ready', 'nothing', 200),
  row('GET /metrics', '/metrics', 'nothing', 200),
  row('GET /swagger', '/swagger', 'nothing', 200),
  row('GET /swagger/json', '/swagger/json', 'nothing', 200),
  row('GET /swagger/start.js', '/swagger/start.js', 'nothing', 200),
  row('GET /swagger/swagger-ui-bundle.js', '/swagger/swagger-ui-bundle.js', 'nothing', 200),
  row('GET /swagger/swagger-ui.css', '/swagger/swagger-ui.css', 'nothing', 200),

  row('GET /', '/', 'nothing', 200),
  row('GET /w/*', '/w/<workspace>/workflows', 'nothing', 200),
  row('GET /workflows', '/workflows', 'nothing', 200),
  row('GET /logs', '/logs', 'nothing', 200),
  row('GET /settings', '/settings', 'nothing', 200),
  row('GET /workflows/*', '/workflows/<workflow>', 'nothing', 200),
  row('GET /logs/*', '/logs/<log>', 'nothing', 200),
  row('GET /docs', '/docs', 'nothing', 200),
  row('GET /docs/:page', '/docs/concepts', 'nothing', 200),
  row('GET /assets/:name', '/assets/main.js', 'nothing', 200),

  row('ALL /api/editor/*', '/api/editor/nothing', 'nothing', 404),
  row('ALL /*', '/nothing/here', 'nothing', 404),
  row('ALL /*', '/api/v1/nothing', 'key', 404),
  row('ALL /*', '/api/v2/nothing', 'key', 404),
]

/** The credentials that a route accepts. */
export function takenBy({ at, route }: AccessRow): 'key' | 'session' | 'both' {
  if (at.startsWith('/api/editor/')) return 'session'
  return isExternal(at) || at.startsWith('/mcp') || route.endsWith('/execute') ? 'key' : 'both'
}

/** Requests that combine the caller's own workflow with a foreign object. */
export const crossings: readonly AccessRow[] = [
  row('GET /api/v2/workflows/:id/runs/:runId', '/api/v2/workflows/<own>/runs/<execution>', 'read', 200),
  row('GET /api/workflows/:id/executions/:executionId', '/api/workflows/<own>/executions/<execution>', 'read', 200),
  row(
    'POST /api/workflows/:id/executions/:executionId/cancel',
    '/api/workflows/<own>/executions/<execution>/cancel',
    'write',
    409,
  ),
  row('GET /api/workflows/:id/deliveries/:deliveryId', '/api/workflows/<own>/deliveries/<delivery>', 'read', 200),
  row(
    'POST /api/workflows/:id/deliveries/:deliveryId/resend',
    '/api/workflows/<own>/deliveries/<delivery>/resend',
    'write',
    200,
  ),
  row(
    'POST /api/workflows/:id/deliveries/:deliveryId/cancel',
    '/api/workflows/<own>/deliveries/<delivery>/cancel',
    'write',
    200,
  ),
]

function row(route: string, at: string, needs: AccessRow['needs'], ok: number, body?: string): AccessRow {
  return { route, at, needs, ok, ...(body === undefined ? {} : { body }) }
}
