import { isObject } from '../../../domain/run/input.ts'
import type { PathStep } from '../../../domain/workflow/reference.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import { parseJson, type SimValues } from '../sim-values.ts'
import { scheduleParameters } from './schedule-times.ts'

/** A start block becomes an API trigger. */
export function mapStart({ values }: BlockToMap): MappedBlock {
  const inputFormat = inputFormatOf(values)
  const declared = new Set(inputFormat.map(({ name }) => name))
  return {
    type: 'api_trigger',
    params: inputFormat.length > 0 ? { inputFormat } : {},
    // In our trigger, `input` has everything that the caller sent. Only declared fields are outputs of their own.
    output: (path) => (declared.has(textOf(path[0])) && path[0] !== 'input' ? path : ['input', ...path]),
    notes: ['The trigger starts runs only through the API. If people chat with the workflow, add a chat trigger.'],
  }
}

/** The start block of old files, which says how the workflow starts. */
export function mapStarter(input: BlockToMap): MappedBlock {
  const { values } = input
  const start = textOf(values.peek('startWorkflow'))
  if (start === 'schedule') {
    values.drop('startWorkflow')
    return mapSchedule(input)
  }
  if (start === 'webhook') {
    values.drop('startWorkflow')
    return mapWebhook(input)
  }
  if (start === 'chat') {
    values.drop('startWorkflow')
    return { type: 'chat_trigger', params: {} }
  }
  values.drop('startWorkflow')
  const mapped = mapStart(input)
  const { output } = mapped
  const first = (path: readonly PathStep[]) => (path[0] === 'input' && path.length > 1 ? path.slice(1) : path)
  return { ...mapped, ...(output ? { output: (path) => output(first(path)) } : {}), kept: { startWorkflow: start } }
}

export function mapApiTrigger({ values }: BlockToMap): MappedBlock {
  return { type: 'api_trigger', params: withFormat(values) }
}

export function mapManualTrigger({ values }: BlockToMap): MappedBlock {
  return { type: 'manual_trigger', params: withFormat(values) }
}

export function mapChatTrigger(): MappedBlock {
  return { type: 'chat_trigger', params: {} }
}

export function mapSchedule({ values }: BlockToMap): MappedBlock {
  const { params, notes } = scheduleParameters(values)
  return { type: 'schedule', params, notes }
}

/** Sim reads a feed every few minutes, too, and starts a run for each new item. */
export function mapRss({ values }: BlockToMap): MappedBlock {
  const url = values.text('feedUrl')
  values.drop(...pollingEditorOnly)
  return {
    type: 'rss_trigger',
    params: { url: url ?? '', everyMs: 300_000 },
    notes: url === undefined ? ['The file has no address of the feed. Enter it in the trigger.'] : [],
    output: rssOutput,
  }
}

const pollingEditorOnly = ['triggerInstructions', 'triggerSave', 'selectedTriggerId', 'triggerId', 'triggerConfig']

/** In Sim, the main fields of the item are outputs of their own, too. */
function rssOutput(path: readonly PathStep[]): readonly PathStep[] {
  const [field, ...rest] = path[0] === 'item' ? path.slice(1) : path
  if (field === undefined) return ['item']
  const name = typeof field === 'string' ? rssFields.get(field) : undefined
  return ['item', name ?? field, ...rest]
}

const rssFields: ReadonlyMap<string, string> = new Map([
  ...(['guid', 'id'] as const).map((name): [string, string] => [name, 'id']),
  ...(['pubDate', 'isoDate'] as const).map((name): [string, string] => [name, 'published']),
  ...(['summary', 'contentSnippet'] as const).map((name): [string, string] => [name, 'content']),
])

export function mapWebhook({ values }: BlockToMap): MappedBlock {
  const notes = ['The trigger has a new address. Enter it in the service that sends the requests.']
  const params: Record<string, unknown> = { methods: ['POST', 'GET'] }
  const token = values.text('token')
  const header = values.text('secretHeaderName')
  const requiresToken = values.take('requireAuth')
  if (token !== undefined || isTrue(requiresToken)) {
    const secret = token ?? '{{WEBHOOK_TOKEN}}'
    params['authentication'] =
      header === undefined ? { type: 'bearer', token: secret } : { type: 'header', name: header, value: secret }
    if (token === undefined) notes.push('The file has no token. Set the variable WEBHOOK_TOKEN in the workspace.')
  }
  const field = values.text('idempotencyField')
  if (field !== undefined) params['idempotency'] = { field }
  return {
    type: 'webhook_trigger',
    params,
    notes,
    output: webhookOutput,
    kept: {
      ...(requiresToken === undefined ? {} : { requireAuth: requiresToken }),
      ...(header !== undefined && params['authentication'] === undefined ? { secretHeaderName: header } : {}),
    },
  }
}

/** In Sim, the fields of the body are outputs. In old workflows, `webhook.data` is the whole request. */
function webhookOutput(path: readonly PathStep[]): readonly PathStep[] {
  const [first] = path
  if (first === 'webhook' && path[1] === 'data') {
    const [part, ...rest] = path.slice(2)
    return part === 'headers' || part === 'method' ? [part, ...rest] : ['body', ...(part === undefined ? [] : rest)]
  }
  if (first === 'body' || first === 'headers' || first === 'query' || first === 'method') return path
  return ['body', ...path]
}

function isTrue(value: unknown): boolean {
  return value === true || value === 'true'
}

function withFormat(values: SimValues): Record<string, unknown> {
  const inputFormat = inputFormatOf(values)
  return inputFormat.length > 0 ? { inputFormat } : {}
}

export type SimField = { name: string; type: string; value?: unknown; description?: string; required?: boolean }

/** The declared fields of an input. Skips fields without a name, which Sim's editor leaves behind. */
export function inputFormatOf(values: SimValues): SimField[] {
  const list = values.json('inputFormat')
  if (!Array.isArray(list)) return []
  const seen = new Set<string>()
  return list.filter(isObject).flatMap((field): SimField[] => {
    const name = textOf(field['name']).slice(0, 200)
    if (name.trim() === '' || seen.has(name)) return []
    seen.add(name)
    const type = fieldTypes.get(textOf(field['type'])) ?? 'string'
    const value = sampleOf(field['value'], type)
    const description = textOf(field['description'])
    return [
      {
        ...{ name, type },
        ...(value === undefined ? {} : { value }),
        ...(description === '' ? {} : { description }),
        ...(field['required'] === true ? { required: true } : {}),
      },
    ]
  })
}

const fieldTypes: ReadonlyMap<string, string> = new Map([
  ...['string', 'number', 'boolean', 'object', 'array', 'files'].map((type): [string, string] => [type, type]),
  ...[['file', 'files'] as const, ['file[]', 'files'] as const, ['json', 'object'] as const],
])

/** The sample for manual runs. Sim stores every sample as text. */
function sampleOf(value: unknown, type: string): unknown {
  if (value === '' || value === null || value === undefined) return undefined
  if (type === 'string' || typeof value !== 'string') return value
  return parseJson(value) ?? value
}
