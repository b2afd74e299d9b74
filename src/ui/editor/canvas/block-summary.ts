import type { Block, Document } from '../document/document.ts'
import { shortUrl } from './text/short-text.ts'

/** One line that says what a block does, shown on its card. `mono`: the text is code or a URL. */
export type Summary = {
  text: string
  mono?: boolean
  /** The text in full, when it was shortened. */
  whole?: string
}

/** The characters of code that fit into one line of a card. */
export const lineChars = 27

/** `nameOf` returns the name of another workflow. */
export function summaryOf(
  block: Block,
  document: Document,
  nameOf: (workflowId: string) => string | undefined,
): Summary {
  const params = block.params ?? {}
  switch (block.type) {
    case 'api_trigger':
    case 'manual_trigger':
      return { text: fieldsText(params['inputFormat']) }
    case 'schedule':
      return scheduleSummary(params)
    case 'poll_trigger':
    case 'rss_trigger':
      return pollSummary(params)
    case 'webhook_trigger':
      return { text: `${listText(params['methods']) || 'POST'} /${textOf(params['path']) || '…'}`, mono: true }
    case 'chat_trigger':
      return { text: textOf(params['identifier']) ? `/chat/${textOf(params['identifier'])}` : 'Chat page', mono: true }
    case 'email_trigger':
      return { text: textOf(params['mailbox']) || 'INBOX', mono: true }
    case 'form_trigger':
      return { text: textOf(params['path']) ? `/form/${textOf(params['path'])}` : 'Form page', mono: true }
    case 'event_trigger': {
      const events = Array.isArray(params['events']) ? params['events'] : []
      return { text: params['rule'] ? 'By a rule' : events.join(', ') || 'No event yet' }
    }
    case 'api': {
      const method = textOf(params['method']) || 'GET'
      const url = textOf(params['url']) || '…'
      const text = `${method} ${shortUrl(url, Math.max(16, lineChars - 1 - method.length))}`
      return { text, whole: `${method} ${url}`, mono: true }
    }
    case 'operation': {
      const [connector, operation] = [textOf(params['connector']), textOf(params['operation'])]
      return { text: connector === '' ? 'No service yet' : [connector, operation].filter(Boolean).join(' · ') }
    }
    case 'mcp': {
      const host = URL.parse(textOf(params['server']))?.host ?? textOf(params['server'])
      return { text: host === '' ? 'No server yet' : [host, textOf(params['tool'])].filter(Boolean).join(' · ') }
    }
    case 'email':
      return { text: listText(params['to']) || 'No recipient yet', whole: textOf(params['subject']) }
    case 'store': {
      const what = textOf(params['operation'] ?? 'get').replaceAll('_', ' ')
      const where = textOf(params[params['operation'] === 'list' ? 'prefix' : 'key'])
      return { text: [what, where].filter(Boolean).join(' '), mono: true }
    }
    case 'sql':
      return { text: firstLine(textOf(params['query'])) || 'No query yet', mono: true }
    case 's3': {
      const place = [textOf(params['bucket']), textOf(params['key']) || textOf(params['prefix'])].filter(Boolean)
      return { text: place.join('/') || 'No bucket yet', mono: true }
    }
    case 'redis':
      return { text: textOf(params['command']) || 'No command yet', mono: true }
    case 'agent':
    case 'router':
    case 'evaluator':
      return {
        text: [textOf(params['model']), textOf(params['provider'])].filter(Boolean).join(' · ') || 'No model yet',
      }
    case 'guardrails':
      return { text: checksText(params['checks']) }
    case 'data':
      return { text: textOf(params['operation']).replaceAll('_', ' ') || 'No operation yet' }
    case 'function':
      return { text: firstLine(textOf(params['code'])) || 'No code yet', mono: true }
    case 'condition':
      return { text: '' }
    case 'loop':
    case 'parallel':
      return containerSummary(block, document)
    case 'workflow':
      return { text: nameOf(textOf(params['workflowId'])) ?? (textOf(params['workflowId']) || 'No workflow selected') }
    case 'variables':
      return { text: namesText(params['assign'], 'No assignments yet') }
    case 'wait':
      return { text: waitText(params) }
    case 'approval':
      return { text: textOf(params['title']) || 'No title yet' }
    case 'wait_for_call':
      return { text: 'Waits for a request' }
    case 'placeholder':
      return { text: `Needs ${textOf(params['needs']) || 'a replacement'}`, whole: `Needs ${textOf(params['needs'])}` }
    case 'response':
      return { text: `Returns ${textOf(params['status']) || '200'}${shapeText(params['data'])}` }
    default:
      return { text: block.type }
  }
}

export function textOf(value: unknown): string {
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

function firstLine(text: string): string {
  return (
    text
      .split('\n')
      .map((line) => line.trim())
      .find((line) => line !== '' && !line.startsWith('//')) ?? ''
  )
}

function listText(value: unknown): string {
  return Array.isArray(value) ? value.join(', ') : textOf(value)
}

function namesText(list: unknown, none: string): string {
  const names = Array.isArray(list) ? list.map((entry: { name?: unknown } | null) => textOf(entry?.name)) : []
  return names.filter(Boolean).join(', ') || none
}

/** The names of checks in the words of the form. */
function checksText(checks: unknown): string {
  const names: Readonly<Record<string, string>> = { json: 'JSON', regex: 'pattern', pii: 'personal data' }
  const list = Array.isArray(checks) ? checks.map((one) => names[textOf(one)] ?? textOf(one)) : []
  const text = list.join(', ') || 'No checks yet'
  return text.charAt(0).toUpperCase() + text.slice(1)
}

function fieldsText(format: unknown): string {
  return namesText(format, 'Accepts any input')
}

function scheduleSummary(params: Record<string, unknown>): Summary {
  const { cron, intervalMs, timezone } = params
  if (intervalMs !== undefined && !cron) return { text: `Every ${duration(Number(intervalMs))}` }
  return { text: cron ? `${textOf(cron)}${timezone ? ` ${textOf(timezone)}` : ''}` : 'No schedule yet', mono: true }
}

function pollSummary({ url, request }: Record<string, unknown>): Summary {
  const { url: listed } = (typeof request === 'object' && request !== null ? request : {}) as Record<string, unknown>
  const whole = textOf(url) || textOf(listed)
  return whole === '' ? { text: 'No address yet' } : { text: shortUrl(whole, lineChars), whole, mono: true }
}

function containerSummary({ id, type }: Block, document: Document): Summary {
  if (type === 'parallel') {
    const { parallelType, count, distribution } = document.parallels?.[id] ?? {}
    if (parallelType === 'count') return { text: `${textOf(count) || '…'} times in parallel` }
    return { text: `For each item of ${textOf(distribution) || '…'}, in parallel` }
  }
  const { loopType, iterations, forEachItems, condition } = document.loops?.[id] ?? {}
  if (loopType === 'for') return { text: `${textOf(iterations) || '…'} times` }
  if (loopType === 'forEach') return { text: `For each item of ${textOf(forEachItems) || '…'}` }
  return { text: `${loopType === 'doWhile' ? 'Once, then while' : 'While'} ${condition || '…'}` }
}

function waitText({ ms, for: written, until }: Readonly<Record<string, unknown>>): string {
  if (textOf(until) !== '') return `Until ${textOf(until)}`
  if (textOf(written) !== '') return textOf(written)
  if (typeof ms === 'number') return duration(ms)
  return textOf(ms) || 'No duration yet'
}

/** `90000` → `1 min 30 s`. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return '…'
  if (ms < 1000) return `${Math.round(ms * 10) / 10} ms`
  const units: [string, number][] = [
    ['d', 86_400_000],
    ['h', 3_600_000],
    ['min', 60_000],
    ['s', 1000],
  ]
  const parts: string[] = []
  let left = ms
  for (const [name, size] of units) {
    const count = name === 's' ? Math.round(left / 100) / 10 : Math.floor(left / size)
    if (count > 0) parts.push(`${count} ${name}`)
    left -= Math.floor(left / size) * size
  }
  return parts.slice(0, 2).join(' ')
}

function shapeText(data: unknown): string {
  if (typeof data === 'object' && data !== null && !Array.isArray(data)) {
    const keys = Object.keys(data)
    return keys.length === 0 ? '' : ` with ${keys.slice(0, 4).join(', ')}${keys.length > 4 ? ', …' : ''}`
  }
  const text = textOf(data)
  return text === '' ? '' : ` with ${text}`
}

/** A branch of a condition or router: its name if somebody chose one, and its expression or description. */
export type BranchLabel = { name: string; text: string }

export function branchLabel(block: Block, handle: string): BranchLabel {
  if (handle === 'condition-else') return { name: '', text: 'else' }
  const list = block.params?.[block.type === 'condition' ? 'conditions' : 'routes']
  if (!Array.isArray(list)) return { name: '', text: handle }
  const entry = list.find((one: { id?: unknown } | null) => handle.endsWith(`-${textOf(one?.id)}`)) as
    | { id?: unknown; expression?: unknown; description?: unknown }
    | undefined
  const id = textOf(entry?.id)
  const text = textOf(entry?.expression) || textOf(entry?.description)
  if (text === '') return { name: '', text: id || handle }
  return { name: isGivenName(id) ? '' : id, text }
}

/** Both parts of a branch as one text. */
export function branchText(block: Block, handle: string): string {
  const { name, text } = branchLabel(block, handle)
  return name === '' ? text : `${name}: ${text}`
}

/** Whether the editor gave this name to a new branch. */
function isGivenName(id: string): boolean {
  return /^branch(-?\d+)?$/.test(id)
}
