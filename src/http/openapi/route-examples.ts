// Long because it has one example for every route, all about a workflow that asks for the weather.
import { foldersOf } from '../../domain/workflow/folders.ts'
import type { OperationExamples } from './openapi.ts'

const workspaceId = '5a3b1d2c-7e6f-4a8b-9c0d-1e2f3a4b5c6d'
const workflowId = 'weather'
const executionId = '0197b8f2-4c1a-7d3e-9f60-2b7a5c8d1e90'
const logId = 'log_00a1jx3k9f2'
const startedAt = '2025-06-01T12:00:00.000Z'
const endedAt = '2025-06-01T12:00:00.212Z'
const savedAt = '2025-06-01T09:30:00.000Z'
const deployedAt = '2025-06-01T10:00:00.000Z'

const trigger = {
  id: 'start',
  type: 'api_trigger',
  name: 'Start',
  position: { x: 0, y: 0 },
  params: { inputFormat: [{ name: 'city', type: 'string', required: true, description: 'Where?', value: 'Porto' }] },
}
const ask = {
  id: 'ask',
  type: 'api',
  name: 'Ask',
  position: { x: 300, y: 0 },
  params: {
    url: 'https://weather.example.com/v1/now',
    method: 'GET',
    params: [{ key: 'city', value: '<start.city>' }],
    headers: [{ key: 'Authorization', value: 'Bearer {{WEATHER_TOKEN}}' }],
  },
}
const state = {
  blocks: { start: trigger, ask },
  edges: [{ id: 'e1', source: 'start', target: 'ask' }],
}
const document = { name: 'Weather', description: 'Says how warm it is.', folder: 'samples/http', ...state }
const finding = {
  level: 'warning',
  code: 'UNREACHABLE',
  path: 'blocks.note',
  blockId: 'note',
  blockName: 'Note',
  message: 'No trigger leads to this block, so it never runs.',
}
const saved = {
  id: workflowId,
  workspaceId,
  createdAt: savedAt,
  updatedAt: savedAt,
  revision: 7,
  ...document,
  findings: [],
}
const { findings: _findings, ...workflow } = saved
const version = {
  workflowId,
  version: 2,
  name: 'With a token',
  description: null,
  createdAt: deployedAt,
  createdBy: '9b2c3d4e-5f60-4718-8293-a4b5c6d7e8f9',
  author: 'ada@example.com',
  isActive: true,
}

const metadata = { duration: 212, startTime: startedAt, endTime: endedAt }
const output = { data: { city: 'Porto', celsius: 21.5 }, status: 200, headers: {}, error: null }
const run = { success: true, executionId, output, metadata }
const accepted = {
  ...{ success: true, async: true, taskId: executionId, jobId: executionId, executionId, status: 'queued' },
  createdAt: startedAt,
  statusUrl: `/api/jobs/${executionId}`,
  links: { status: `/api/jobs/${executionId}` },
}
const schedule = { next: ['2025-06-02T07:00:00.000Z', '2025-06-03T07:00:00.000Z'] }
const webhookResponses = { 200: { success: true, executionId, duplicate: true }, 202: { success: true, executionId } }
const job = {
  success: true,
  taskId: executionId,
  executionId,
  status: 'completed',
  metadata: { createdAt: startedAt, startedAt, completedAt: endedAt, duration: 212 },
  output,
}

const rate = { limit: 60, remaining: 59, resetAt: '2025-06-01T12:01:00.000Z' }
const limits = {
  workflowExecutionRateLimit: { sync: rate, async: { ...rate, limit: 500, remaining: 500 } },
  usage: { currentPeriodCost: 1.25, limit: 40, plan: 'team', isExceeded: false },
}
const cost = { total: 0, tokens: { prompt: 0, completion: 0, total: 0 }, models: {} }
const ranVersion = { version: 3, versionName: 'New units' }
const ran = { ...ranVersion, status: 'success', partial: false, labels: { city: 'Porto' }, source: null }
const entry = {
  id: logId,
  workflowId,
  executionId,
  level: 'info',
  trigger: 'api',
  startedAt,
  endedAt,
  totalDurationMs: 212,
  pausedMs: null,
  files: null,
  cost: { total: 0 },
  ...ran,
}
const spanTimes = { startTime: startedAt, endTime: endedAt, duration: 212 }
const traceSpans = [
  {
    ...{ id: 's1', name: 'Weather', type: 'workflow', blockId: null, status: 'success', ...spanTimes },
    input: { city: 'Porto' },
    output,
    children: [
      {
        ...{ id: 's2', name: 'Ask', type: 'api', blockId: 'ask', status: 'success', ...spanTimes },
        input: { url: 'https://weather.example.com/v1/now', method: 'GET' },
        output,
        attempts: [{ number: 1, startTime: startedAt, duration: 208, status: 200 }],
        children: [],
      },
    ],
  },
]
const executionDetail = {
  executionId,
  workflowId,
  workflowState: { ...state, loops: {}, parallels: {} },
  executionMetadata: { trigger: 'api', startedAt, endedAt, totalDurationMs: 212, pausedMs: null, cost, ...ran },
  limits,
}

const rerunId = '5f9d6c0e-8a77-4f0f-9e0c-0d5a5a1c6a3b'
const rerun = {
  ...{ id: rerunId, workspaceId, state: 'running', version: 'live', perSecond: 5, total: 40, started: 12 },
  ...{ refused: 1, problems: [{ logId, message: 'The workflow was deleted.' }], error: null },
  ...{ createdAt: startedAt, endedAt: null, statusUrl: `/api/workspaces/${workspaceId}/logs/rerun/${rerunId}` },
}

const test = {
  name: 'Sunny',
  input: { city: 'Faro' },
  mocks: [
    {
      request: { method: 'GET', url: 'https://api.example.com/weather?city=Faro' },
      response: { status: 200, data: { temperature: 21 } },
    },
  ],
  expect: { success: true, output: { temperature: 21 } },
}
const pinned = { data: { temperature: 21 }, status: 200 }

const credential = {
  ...{ id: 'f1b1a1f0-3f5e-4f4e-9d53-0a2c8f1c7b11', name: 'crm', kind: 'bearer', hosts: ['api.crm.example.com'] },
  ...{ fields: {}, secrets: ['token'], state: 'ok', problem: null, expiresAt: null },
  lastUsedAt: '2025-06-01T12:00:00.000Z',
  usedBy: [{ workflowId: '0b0e5a1c-6a0e-4c67-9f3c-5f1f7f0d6a2e', name: 'Create a contact' }],
  ...{ createdAt: savedAt, updatedAt: savedAt, updatedBy: 'ada@example.com' },
}

const alert = {
  ...{ id: '4c1d8f02-6a0b-4b6b-9d30-7c2f5e8a9b10', name: 'Something failed', events: ['run.failed'] },
  ...{ workflows: 'all', rule: null, quietMs: 3_600_000, active: true },
  channel: { type: 'webhook', url: 'https://example.com/alerts', secret: 'set' },
  ...{ lastFiredAt: null, quietUntil: null, suppressed: 0, lastDelivery: null },
  ...{ createdAt: savedAt, updatedAt: savedAt },
}

const storeEntry = {
  key: 'visits/pricing',
  value: { total: 3 },
  updatedAt: '2026-11-27T09:00:00.000Z',
  expiresAt: '2026-11-27T10:00:00.000Z',
}

const shop = {
  ...{ id: 'shop', name: 'Shop', baseUrl: 'https://shop.example.com/api' },
  operations: {
    listOrders: {
      ...{ label: 'List orders', method: 'GET', path: '/orders' },
      parameters: { type: 'object', properties: { status: { type: 'string', enum: ['open', 'paid'] } } },
      pagination: { type: 'cursor', cursor: 'next', param: 'after', items: 'orders' },
    },
  },
}
const connector = { builtIn: false, updatedAt: savedAt, connector: shop }

const variable = { name: 'WEATHER_TOKEN', plain: false, updatedAt: savedAt }

const webhookId = 'billing'
const hookUrl = 'https://billing.example.com/hook'
const refused503 = {
  ...{ number: 1, startedAt: endedAt, durationMs: 41.2, status: 503 },
  error: { code: 'HTTP_ERROR', message: 'The receiver responded with 503' },
  answer: 'Back in a minute',
}
const accepted200 = { ...refused503, status: 200, error: null, answer: null }
const delivery = {
  ...{ id: 'dlv_00a1jx3k9f22b7a5c8d1e903', eventId: 'evt_00a1jx3k9f22b7a5c8d1e90', webhookId, url: hookUrl },
  ...ranVersion,
  ...{ event: 'completed', workflowId, executionId, logId, state: 'pending', createdAt: endedAt },
  ...{ nextAttemptAt: '2025-06-01T12:00:05.512Z', attemptCount: 1, lastAttempt: refused503 },
}
const deliveryDetail = { ...delivery, attempts: [refused503] }

const reason = {
  ...{ name: 'reason', type: 'string', format: null, label: 'Reason', description: null, options: [], required: true },
}
const form = {
  ...{
    access: 'public',
    title: 'Order a meal',
    description: null,
    maySend: true,
    problem: null,
    respond: 'immediately',
  },
  fields: [{ ...reason, name: 'name', label: 'Your name' }],
  ...{ thanks: 'Thank you for your order.', redirect: null, accent: null },
}
const asked = {
  ...{ kind: 'approval', title: 'Pay the invoice?', message: 'Invoice 4711 of Acme: 120 EUR.', fields: [reason] },
  ...{ since: startedAt, until: '2025-06-02T12:00:00.000Z', required: 1, answers: 0, by: null },
}
const waitingAt = {
  ...{ contextId: '4f1c7a52-6d0f-4b53-9f0e-2a4c1b7d9e33', blockId: 'ask', blockName: 'Ask', kind: 'approval' },
  ...{ since: startedAt, until: '2025-06-02T12:00:00.000Z' },
}
const begunPause = { ...waitingAt, title: 'Pay the invoice?' }
const pause = {
  ...{ ...begunPause, executionId, workflowId, workflowName: 'Weather' },
  ...{ outerBlockId: 'ask', access: 'link' },
}
const pauseDetail = {
  ...{ ...pause, message: asked.message, fields: asked.fields, accounts: [], required: 1, answers: [] },
  ...{ mayAnswer: true, url: null, callbackUrl: null },
}

const listedRun = {
  ...{ executionId, workflowId, workflowName: 'Weather', status: 'paused', trigger: 'api', startedAt, endedAt: null },
}
const runDetail = {
  ...{ ...listedRun, logId: null, paused: [pause], blocksComplete: true },
  blocks: [
    {
      ...{ blockId: 'start', blockName: 'Start', blockType: 'api_trigger', status: 'success' },
      ...{ startedAt, durationMs: 0 },
    },
  ],
}
const pausePoint = {
  ...{ contextId: pause.contextId, blockId: 'ask', kind: 'approval', registeredAt: startedAt, expiresAt: pause.until },
  resumeStatus: 'paused',
}
const pausedRun = {
  ...{ executionId, workflowId, status: 'paused', totalPauseCount: 1, resumedCount: 0, pausedAt: startedAt },
  pausePoints: [pausePoint],
}
const resumed = { status: 'started', executionId, message: 'The run continues.' }

/** Requests and responses by operation: one for every operation with JSON. Tests check them against the schemas. */
export const routeExamples: Readonly<Record<string, OperationExamples>> = {
  executeWorkflow: { request: { city: 'Porto' }, responses: { 200: run, 202: accepted } },
  receiveWebhookPost: { request: { city: 'Porto' }, responses: webhookResponses },
  receiveWebhookGet: { responses: webhookResponses },
  receiveWebhookPut: { request: { city: 'Porto' }, responses: webhookResponses },
  receiveWebhookPatch: { request: { city: 'Porto' }, responses: webhookResponses },
  receiveWebhookDelete: { responses: webhookResponses },
  getExecution: { responses: { 200: job } },
  getJob: { responses: { 200: job } },
  listPausedExecutions: { responses: { 200: { pausedExecutions: [pausedRun] } } },
  getPausedExecution: { responses: { 200: pausedRun } },
  getResumable: { responses: { 200: pausedRun } },
  resumeExecution: { request: { input: { approved: true } }, responses: { 200: resumed } },
  resumeContext: { request: { input: { approved: true, reason: 'Fine' } }, responses: { 200: resumed } },
  getAsked: { responses: { 200: asked } },
  answerPause: {
    request: { approved: true, fields: { reason: 'Within the budget' } },
    responses: { 200: { success: true, outcome: 'resumed' } },
  },
  listRuns: { responses: { 200: { data: [listedRun], nextCursor: null } } },
  getRun: { responses: { 200: runDetail } },
  listPauses: { responses: { 200: { data: [pause], nextCursor: null } } },
  countPauses: { responses: { 200: { data: [{ blockId: 'ask', kind: 'approval', count: 1 }], complete: true } } },
  getPause: { responses: { 200: pauseDetail } },
  resumePause: { responses: { 200: { success: true, outcome: 'resumed' } } },
  cancelPause: { responses: { 200: { success: true, status: 'cancelled' } } },
  extendPause: { request: { until: pause.until }, responses: { 200: pause } },
  cancelExecution: { responses: { 200: { success: true, status: 'cancelled' } } },

  queryLogs: { responses: { 200: { data: [entry], nextCursor: 'eyJ2IjoxfQ', limits } } },
  getLogEntry: {
    responses: {
      200: {
        data: {
          ...entry,
          cost,
          workflow: { id: workflowId, name: document.name, description: document.description },
          executionData: { traceSpans, finalOutput: output },
          limits,
        },
        limits,
      },
    },
  },
  listRunWebhooks: {
    responses: {
      200: {
        data: [
          {
            webhookId,
            url: hookUrl,
            decision: 'delivered',
            reason: 'The receiver accepted it after 1 attempt.',
            delivery: {
              ...delivery,
              state: 'delivered',
              attemptCount: 1,
              nextAttemptAt: null,
              lastAttempt: accepted200,
            },
          },
          {
            webhookId: 'alerts',
            url: 'https://alerts.example.com/hook',
            decision: 'filtered_by_level',
            reason: 'Its levelFilter does not admit the level of the run.',
            delivery: null,
          },
        ],
        limits,
      },
    },
  },
  onWorkflowExecutionPaused: {
    request: {
      ...{ id: 'evt_00a1jx3k9f22b7a5c8d1e90', type: 'workflow.execution.paused', timestamp: 1748779200212 },
      data: { workflowId, executionId, trigger: 'api', startedAt, paused: [begunPause] },
      links: { status: `/jobs/${executionId}` },
    },
  },
  onWorkflowExecutionResumed: {
    request: {
      ...{ id: 'evt_00a1jx3k9f22b7a5c8d1e90', type: 'workflow.execution.resumed', timestamp: 1748779200212 },
      data: {
        ...{ workflowId, executionId, trigger: 'api', startedAt },
        paused: [{ ...begunPause, endedAt, outcome: 'answered' }],
      },
      links: { status: `/jobs/${executionId}` },
    },
  },
  onWorkflowExecutionCompleted: {
    request: {
      id: delivery.eventId,
      type: 'workflow.execution.completed',
      timestamp: Date.parse(endedAt),
      data: {
        ...{ workflowId, executionId, status: 'success', level: 'info', trigger: 'api', startedAt, endedAt },
        ...{ totalDurationMs: 212, cost, files: null, finalOutput: output },
      },
      links: { log: `/v1/logs/${logId}`, execution: `/v1/logs/workflow/pt-BR/executions/${executionId}` },
    },
  },
  rerunLogs: {
    request: { filter: { status: 'error', search: 'timed out' }, version: 'live', perSecond: 5 },
    responses: { 202: rerun },
  },
  askAssistant: {
    request: { messages: [{ role: 'user', content: 'Add the name of the city to the greeting.' }] },
  },
  getRerun: { responses: { 200: rerun } },
  cancelRerun: { responses: { 200: { ...rerun, state: 'cancelled', endedAt } } },
  getExecutionDetails: { responses: { 200: executionDetail } },
  getExecutionDetailsShort: { responses: { 200: executionDetail } },

  listWorkflows: {
    responses: {
      200: {
        data: [
          {
            ...{ id: workflowId, workspaceId, createdAt: savedAt, updatedAt: savedAt, name: document.name },
            ...{ description: document.description, folder: document.folder },
            ...{ isDeployed: true, version: 2, deployedAt },
          },
        ],
      },
    },
  },
  createWorkflow: { request: { ...document, workspaceId }, responses: { 201: saved } },
  importWorkflow: {
    request: { workspaceId, format: 'sim', document: { version: '1.0', state: { blocks: {}, edges: [] } } },
    responses: {
      201: {
        ...{
          id: workflowId,
          name: document.name,
          mapped: [{ blockId: 'start', from: 'start_trigger', to: 'api_trigger' }],
        },
        placeholders: [{ blockId: 'search', name: 'Search', from: 'knowledge', needs: 'a knowledge base' }],
        credentials: [{ name: 'slack', kind: 'bearer', for: ['tell'] }],
        notes: [
          '"Start": The trigger starts runs only through the API. If people chat with the workflow, add a chat trigger.',
        ],
      },
    },
  },
  getWorkflow: { responses: { 200: workflow } },
  replaceWorkflow: { request: document, responses: { 200: saved } },
  listPins: { responses: { 200: { data: [{ blockId: 'weather', output: pinned, updatedAt: savedAt }] } } },
  pinOutput: { request: { output: pinned }, responses: { 200: { blockId: 'weather', updatedAt: savedAt } } },
  listTests: { responses: { 200: { workflow: 'Weather', tests: [test], revision: 3, updatedAt: savedAt } } },
  replaceTests: { request: { tests: [test] }, responses: { 200: { revision: 3, updatedAt: savedAt } } },
  runTests: {
    request: { names: ['Sunny'] },
    responses: {
      200: {
        passed: 0,
        failed: 1,
        durationMs: 4.2,
        results: [
          {
            name: 'Sunny',
            status: 'failed',
            durationMs: 3.9,
            differences: [
              {
                path: 'output.temperature',
                message: 'output.temperature is 19 and not 21.',
                expect: 21,
                actual: 19,
              },
            ],
            renames: null,
          },
        ],
        revision: 3,
      },
    },
  },
  addTestFromRun: {
    request: { executionId, name: 'Sunny' },
    responses: {
      200: { name: 'Sunny', revision: 3, test },
      201: { name: 'Sunny', revision: 4, test },
    },
  },
  describeWorkflowEndpoint: {
    responses: {
      200: {
        openapi: '3.1.0',
        info: { title: 'Weather', version: '2' },
        paths: { [`/api/workflows/${workflowId}/execute`]: {} },
      },
    },
  },

  sendChatMessage: {
    request: { input: 'Who are you?' },
    responses: {
      200: {
        success: true,
        output: { content: 'I answer questions about orders.' },
        reply: 'I answer questions about orders.',
        conversationId: '0b8a5a3e-4f1c-4d6e-9a57-0c6c1f3f8e11',
        executionId,
      },
      202: {
        ...{ success: true, status: 'paused', executionId, statusUrl: `/api/jobs/${executionId}` },
        ...{ paused: [waitingAt], conversationId: '0b8a5a3e-4f1c-4d6e-9a57-0c6c1f3f8e11' },
      },
    },
  },
  sendForm: {
    request: { name: 'Ada', guests: 2 },
    responses: { 200: { success: true, executionId, next: null }, 202: { success: true, executionId } },
  },
  getForm: { responses: { 200: form } },
  getNextPage: { responses: { 200: { state: 'asks', url: 'https://millrace.example.com/pause/0b8a5a3e.c2ln' } } },
  getChatReply: { responses: { 200: { status: 'completed', reply: 'Ada says yes.', error: null } } },
  getChat: { responses: { 200: { access: 'public', title: 'Ask us', greeting: 'How can we help?', mayTalk: true } } },

  deployWorkflow: {
    request: { name: 'With a token', description: null },
    responses: { 200: { version: 2, deployedAt, warnings: [finding], schedule } },
  },
  getWorkflowStatus: {
    responses: {
      200: {
        ...{ isDeployed: true, deployedAt, needsRedeployment: false, version: 2 },
        starts: { running: 3, waiting: 12, queued: 240, skipped: 0, refused: 0, replaced: 0 },
      },
    },
  },
  listPolls: {
    responses: {
      200: {
        data: [
          {
            ...{
              blockId: 'news',
              kind: 'rss',
              lastPollAt: deployedAt,
              lastSuccessAt: deployedAt,
              nextPollAt: deployedAt,
            },
            ...{ failures: 0, error: null, startedRuns: 12, lastStartAt: deployedAt },
          },
        ],
      },
    },
  },
  listVersions: { responses: { 200: { data: [version] } } },
  getVersion: { responses: { 200: { ...version, document } } },
  describeVersion: { request: { name: 'With a token' }, responses: { 200: { ...version, document } } },
  activateVersion: { responses: { 200: { version: 2, deployedAt, warnings: [] } } },
  revertToVersion: { responses: { 200: saved } },

  getUsageLimits: {
    responses: {
      200: {
        success: true,
        rateLimit: {
          sync: { isLimited: false, ...rate },
          async: { isLimited: false, ...rate, limit: 500, remaining: 500 },
          authType: 'api',
        },
        usage: { currentPeriodCost: 1.25, limit: 40, plan: 'team' },
      },
    },
  },
  listWorkspaces: {
    responses: { 200: { data: [{ id: workspaceId, name: 'Main', role: 'owner', createdAt: savedAt }] } },
  },
  signIn: {
    request: { email: 'ada@example.com', password: 'correct horse battery staple' },
    responses: { 200: { userId: version.createdBy, expiresAt: '2025-07-01T12:00:00.000Z' } },
  },
  canSendSignInLink: { responses: { 200: { available: true } } },
  sendSignInLink: { request: { email: 'ada@example.com' }, responses: { 202: {} } },
  listDeliveries: { responses: { 200: { data: [delivery], nextCursor: null } } },
  getDelivery: { responses: { 200: deliveryDetail } },
  resendDelivery: {
    responses: { 200: { ...deliveryDetail, state: 'pending', nextAttemptAt: '2025-06-01T12:05:00.000Z' } },
  },
  cancelDelivery: { responses: { 200: { ...deliveryDetail, state: 'cancelled', nextAttemptAt: null } } },
  resendFailedDeliveries: { request: { since: '2025-06-01T00:00:00Z' }, responses: { 200: { resent: 12 } } },
  listAlerts: { responses: { 200: { data: [alert] } } },
  createAlert: {
    request: {
      ...{ name: 'Something failed', events: ['run.failed'], workflows: 'all' },
      channel: { type: 'webhook', url: 'https://example.com/alerts', secret: '{{ALERT_SECRET}}' },
    },
    responses: { 201: alert },
  },
  getAlert: { responses: { 200: alert } },
  changeAlert: { request: { active: false }, responses: { 200: { ...alert, active: false } } },
  testAlert: {
    responses: {
      200: { delivered: true, status: 200, error: null, answer: 'ok', body: '{"type":"alert.fired","text":"…"}' },
    },
  },
  listCredentials: { responses: { 200: { data: [credential] } } },
  createCredential: {
    request: {
      name: 'crm',
      kind: 'bearer',
      hosts: ['api.crm.example.com'],
      secrets: { token: 'a-long-token' },
    },
    responses: { 201: credential },
  },
  getCredential: { responses: { 200: credential } },
  changeCredential: { request: { secrets: { token: 'a-newer-token' } }, responses: { 200: credential } },
  listConnectors: {
    responses: {
      200: {
        data: [
          {
            ...{ id: 'shop', name: 'Shop', description: null, builtIn: false, updatedAt: '2026-11-27T09:00:00.000Z' },
            operations: [{ id: 'listOrders', label: 'List orders', description: null }],
          },
        ],
      },
    },
  },
  getConnector: { responses: { 200: connector } },
  importConnector: {
    request: { url: 'https://shop.example.com/openapi.json', id: 'shop' },
    responses: {
      200: { connector: shop, notTaken: [] },
      201: {
        connector: shop,
        notTaken: [{ path: 'paths./orders.head', reason: 'Operations do not use this method.' }],
      },
    },
  },
  putConnector: { request: shop, responses: { 200: connector, 201: connector } },
  listStoreEntries: {
    responses: { 200: { data: [storeEntry], nextCursor: null, usage: { bytes: 152, bytesMax: 104_857_600 } } },
  },
  exportStoreEntries: { responses: { 200: { data: [storeEntry] } } },
  setStoreEntry: {
    request: { value: { total: 3 }, ttlMs: 3_600_000 },
    responses: { 200: storeEntry },
  },
  signInWithCredential: {
    request: { returnTo: '/settings' },
    responses: {
      200: {
        url: 'https://accounts.example.com/authorize?response_type=code&client_id=millrace&code_challenge_method=S256',
      },
    },
  },
  testCredential: {
    request: { url: 'https://api.crm.example.com/me' },
    responses: { 200: { ok: true, status: 200 } },
  },
  listEnvironment: { responses: { 200: { data: [variable] } } },
  setVariable: { request: { value: 'a-long-token' }, responses: { 200: variable } },
  listFolders: {
    responses: {
      200: {
        data: foldersOf([document.folder]),
      },
    },
  },

  getAuthorizationServer: {
    responses: {
      200: {
        issuer: 'https://millrace.example.com',
        authorization_endpoint: 'https://millrace.example.com/oauth/authorize',
        token_endpoint: 'https://millrace.example.com/oauth/token',
        registration_endpoint: 'https://millrace.example.com/oauth/register',
        revocation_endpoint: 'https://millrace.example.com/oauth/revoke',
        response_types_supported: ['code'],
        response_modes_supported: ['query'],
        grant_types_supported: ['authorization_code', 'refresh_token'],
        scopes_supported: ['mcp'],
        token_endpoint_auth_methods_supported: ['none'],
        revocation_endpoint_auth_methods_supported: ['none'],
        code_challenge_methods_supported: ['S256'],
        authorization_response_iss_parameter_supported: true,
        service_documentation: 'https://millrace.example.com/docs/mcp',
      },
    },
  },
  registerClient: {
    request: { client_name: 'Desk', redirect_uris: ['http://127.0.0.1/callback'] },
    responses: {
      201: {
        client_id: '2c9d0f5e-6b1a-4f3c-8e7d-9a0b1c2d3e4f',
        client_id_issued_at: 1_748_779_200,
        client_name: 'Desk',
        redirect_uris: ['http://127.0.0.1/callback'],
        grant_types: ['authorization_code', 'refresh_token'],
        response_types: ['code'],
        token_endpoint_auth_method: 'none',
        scope: 'mcp',
      },
      400: {
        error: 'invalid_redirect_uri',
        error_description: '"ftp://x/" has a scheme that no application can have for itself.',
      },
    },
  },
  getTokens: {
    request: { grant_type: 'refresh_token', client_id: '2c9d0f5e-6b1a-4f3c-8e7d-9a0b1c2d3e4f', refresh_token: 'mrr_…' },
    responses: {
      200: { access_token: 'mra_…', token_type: 'Bearer', expires_in: 3_600, refresh_token: 'mrr_…', scope: 'mcp' },
      400: {
        error: 'invalid_grant',
        error_description: 'The code or token does not exist, has expired or was revoked. Sign in again.',
      },
    },
  },
  revokeToken: {
    request: { token: 'mrr_…', client_id: '2c9d0f5e-6b1a-4f3c-8e7d-9a0b1c2d3e4f' },
    responses: {
      200: {},
      400: { error: 'invalid_request', error_description: 'The parameter token is missing.' },
    },
  },

  getQuotes: { responses: { 200: { data: [{ author: 'Seneca', text: 'Well begun.', tag: 'work' }] } } },
  checkHealth: { responses: { 200: { status: 'ok', version: '0.2.0' } } },
  checkLive: { responses: { 200: { status: 'ok', version: '0.2.0' } } },
  checkReady: { responses: { 200: { status: 'ok', store: 'sqlite', writer: { waiting: 0 } } } },
  readMetrics: {
    responses: {
      200:
        '# HELP millrace_runs_in_flight Runs that have started and whose entry is not written.\n' +
        '# TYPE millrace_runs_in_flight gauge\nmillrace_runs_in_flight 3\n',
    },
  },
}
