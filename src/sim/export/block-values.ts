import { own } from '../../domain/edits/same-value.ts'
import { isObject } from '../../domain/run/input.ts'
import { asText } from '../../domain/workflow/reference.ts'
import type { Block } from '../../domain/workflow/workflow.ts'
import { isImpliedKey, simModelOf } from '../import/core/models.ts'
import { objectOf } from '../sim-document.ts'

type Params = Readonly<Record<string, unknown>>

/** A block in Sim's form. `values`: of its sub-blocks. */
export type SimForm = { type: string; values: Record<string, unknown> }

/**
 * The counterpart of one of our blocks in Sim; undefined if Sim has none. The counterpart may be incomplete: the export
 * compares the block with an import of its counterpart, and adds the missing parts.
 */
export function simFormOf(block: Block): SimForm | undefined {
  const forms = own(formsByType, block.type)
  if (!forms) return undefined
  const wanted = block.origin?.type ?? ''
  const type = forms.types.includes(wanted) ? wanted : forms.types[0]!
  const { elseId: _, elseValue: __, titles: ___, ...kept } = block.origin?.values ?? {}
  return { type, values: { ...kept, ...forms.values(block.params ?? {}, { ...block, origin: { type } }, block) } }
}

/** `types`: Sim's types. The first type is for blocks that did not come from Sim. */
type Forms = { types: readonly string[]; values(params: Params, as: Block, block: Block): Record<string, unknown> }

const triggerTypes = ['api_trigger', 'start_trigger', 'starter']

const formsByType: Readonly<Record<string, Forms>> = {
  api_trigger: { types: triggerTypes, values: inputFormat },
  manual_trigger: { types: ['manual_trigger', 'input_trigger'], values: inputFormat },
  chat_trigger: { types: ['chat_trigger'], values: () => ({}) },
  schedule: { types: ['schedule', 'starter'], values: scheduleValues },
  webhook_trigger: { types: ['generic_webhook', 'webhook', 'starter'], values: webhookValues },
  agent: { types: ['agent'], values: agentValues },
  function: { types: ['function'], values: ({ code, timeoutMs }) => ({ code, timeout: timeoutMs }) },
  condition: { types: ['condition'], values: conditionValues },
  router: { types: ['router_v2', 'router'], values: routerValues },
  api: { types: ['api'], values: apiValues },
  response: { types: ['response'], values: responseValues },
  variables: { types: ['variables'], values: variablesValues },
  wait: { types: ['wait'], values: waitValues },
  approval: { types: ['human_in_the_loop'], values: approvalValues },
  workflow: {
    types: ['workflow_input', 'workflow'],
    values: ({ workflowId, input }) => ({ workflowId, inputMapping: isObject(input) ? JSON.stringify(input) : input }),
  },
  evaluator: { types: ['evaluator'], values: evaluatorValues },
  guardrails: { types: ['guardrails'], values: guardrailsValues },
  loop: { types: ['loop'], values: () => ({}) },
  parallel: { types: ['parallel'], values: () => ({}) },
}

function inputFormat({ inputFormat: fields }: Params, as: Block): Record<string, unknown> {
  const start = as.origin?.type === 'starter' ? { startWorkflow: 'manual' } : {}
  if (!Array.isArray(fields)) return start
  const rows = fields.filter(isObject).map(({ value, type, ...field }, index) => ({
    ...{ id: `field-${index + 1}`, ...field, type: type === 'files' ? 'file[]' : type },
    ...(value === undefined ? {} : { value: typeof value === 'string' ? value : JSON.stringify(value) }),
  }))
  return { ...start, inputFormat: rows }
}

function scheduleValues({ cron, intervalMs, timezone }: Params, as: Block): Record<string, unknown> {
  const start = as.origin?.type === 'starter' ? { startWorkflow: 'schedule' } : {}
  const times =
    typeof intervalMs === 'number'
      ? { scheduleType: 'minutes', minutesInterval: String(intervalMs / 60_000) }
      : { scheduleType: 'custom', cronExpression: cron }
  return { ...start, ...times, timezone }
}

function webhookValues({ authentication, idempotency }: Params, as: Block): Record<string, unknown> {
  const start = as.origin?.type === 'starter' ? { startWorkflow: 'webhook' } : {}
  const { type, token, name, value } = objectOf(authentication)
  const field = objectOf(idempotency)['field']
  const secret = type === 'bearer' ? { token } : type === 'header' ? { token: value, secretHeaderName: name } : {}
  return { ...start, ...secret, idempotencyField: field }
}

function modelValues(params: Params): Record<string, unknown> {
  const { apiKey, temperature, maxTokens } = params
  const key = isImpliedKey(params) ? {} : { apiKey }
  return {
    model: simModelOf(params),
    ...key,
    temperature,
    maxTokens: maxTokens === undefined ? undefined : String(maxTokens),
  }
}

/** Without tools: the export adds them later, because some tools are blocks here. */
function agentValues(params: Params, _as: Block, { origin }: Block): Record<string, unknown> {
  const { systemPrompt, messages, userPrompt, responseFormat } = params
  const all = [
    ...(systemPrompt === undefined ? [] : [{ role: 'system', content: systemPrompt }]),
    ...(Array.isArray(messages) ? messages : []),
    ...(userPrompt === undefined ? [] : [{ role: 'user', content: userPrompt }]),
  ]
  return {
    ...modelValues(params),
    ...(all.length > 0 ? { messages: all } : {}),
    ...(responseFormat === undefined
      ? {}
      : { responseFormat: { ...objectOf(origin?.values?.['responseFormatOptions']), schema: responseFormat } }),
    responseFormatOptions: undefined,
    messageDetails: undefined,
    toolSettings: undefined,
  }
}

function conditionValues({ conditions }: Params, _as: Block, block: Block): Record<string, unknown> {
  const titles = objectOf(block.origin?.values?.['titles'])
  const rows = (Array.isArray(conditions) ? conditions : []).filter(isObject).map(({ id, expression }, index) => ({
    ...{ id, title: own(titles, String(id)) ?? (index === 0 ? 'if' : 'else if'), value: expression },
  }))
  const value = block.origin?.values?.['elseValue'] ?? ''
  return { conditions: JSON.stringify([...rows, { id: elseIdOf(block), title: 'else', value }]) }
}

/** The ID of the else branch. */
export function elseIdOf({ id, origin }: Block): string {
  const kept = origin?.values?.['elseId']
  return typeof kept === 'string' ? kept : `${id}-else`
}

function routerValues(params: Params, as: Block): Record<string, unknown> {
  const { prompt, routes } = params
  if (as.origin?.type === 'router') return { ...modelValues(params), prompt }
  const rows = (Array.isArray(routes) ? routes : []).filter(isObject).map(({ id, description }, index) => ({
    ...{ id, title: `Route ${index + 1}`, value: description ?? '' },
  }))
  return { ...modelValues(params), context: prompt, routes: JSON.stringify(rows) }
}

function apiValues(params: Params): Record<string, unknown> {
  const { url, method, headers, params: query, pathParams, body, timeoutMs } = params
  const table = (rows: unknown) => (Array.isArray(rows) ? rows.filter(isObject).map(tableRow) : undefined)
  return {
    ...{ url, method, headers: table(headers), params: table(query), pathParams, body },
    timeout: timeoutMs === undefined ? undefined : String(timeoutMs),
  }
}

function tableRow({ key, value }: Record<string, unknown>, index: number): Record<string, unknown> {
  return { id: `row-${index + 1}`, cells: { Key: key, Value: value } }
}

function responseValues({ data, status, headers }: Params): Record<string, unknown> {
  return {
    ...{ dataMode: 'json', data },
    status: status === undefined ? undefined : String(status),
    headers: Array.isArray(headers) ? headers.filter(isObject).map(tableRow) : headers,
  }
}

function variablesValues({ assign }: Params): Record<string, unknown> {
  const rows = (Array.isArray(assign) ? assign : []).filter(isObject).map(({ name, value }, index) => ({
    ...{ id: `assignment-${index + 1}`, variableName: name, isExisting: true },
    ...{ type: typeof value === 'string' ? 'string' : typeNameOf(value), value },
  }))
  return { variables: rows }
}

function typeNameOf(value: unknown): string {
  return Array.isArray(value) ? 'array' : typeof value
}

function waitValues({ for: duration, ms }: Params): Record<string, unknown> {
  const [, amount, unit = ''] = /^(.+) (seconds|minutes|hours|days)$/.exec(asText(duration)) ?? []
  if (amount === undefined) return typeof ms === 'number' ? { timeValue: String(ms / 1000), timeUnit: 'seconds' } : {}
  return unit === 'hours' || unit === 'days'
    ? { timeValue: amount, timeUnitLong: unit, async: true }
    : { timeValue: amount, timeUnit: unit }
}

function approvalValues({ message, fields }: Params): Record<string, unknown> {
  const rows = typeof message === 'string' ? linesOf(message) : []
  return {
    ...(rows.length > 0 ? { builderData: rows } : {}),
    ...(Array.isArray(fields) ? inputFormat({ inputFormat: fields }, emptyBlock) : {}),
  }
}

const emptyBlock: Block = { id: '', type: '', name: '' }

/** The import makes one line of each row, with its name and its value. */
function linesOf(message: string): Record<string, unknown>[] {
  return message.split('\n').map((line, index) => {
    const at = line.indexOf(': ')
    const [name, value] = at === -1 ? ['', line] : [line.slice(0, at), line.slice(at + 2)]
    return { id: `row-${index + 1}`, name: name || 'message', type: 'string', value }
  })
}

/** In Sim, the block makes one check. */
function guardrailsValues(params: Params): Record<string, unknown> {
  const { input, checks, regex, piiEntityTypes, piiMode, threshold } = params
  const validationType = Array.isArray(checks) && checks.length === 1 ? (checks[0] as unknown) : undefined
  const model = validationType === 'hallucination' ? { ...modelValues(params), threshold } : {}
  return { input, validationType, regex, piiEntityTypes, piiMode, ...model }
}

function evaluatorValues(params: Params): Record<string, unknown> {
  const { metrics, content } = params
  const rows = (Array.isArray(metrics) ? metrics : []).filter(isObject)
  return { ...modelValues(params), content, metrics: rows.map((row, index) => ({ id: `metric-${index + 1}`, ...row })) }
}
