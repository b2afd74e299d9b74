import type { GivenOf } from '../../api/call.ts'
import type { Alert } from './alert-queries.ts'

/** The state of the form of an alert, and its conversion from and to the API. */

export type AlertBody = GivenOf<'POST /api/workspaces/:id/alerts'>['body']
type Rule = NonNullable<Alert['rule']>

export const subjects = {
  failed: 'A run fails',
  consecutive_failures: 'Several runs in a row fail',
  failure_rate: 'Too many runs fail',
  latency: 'Runs are slow',
  cost: 'Runs cost too much',
  no_activity: 'Nothing runs',
  other: 'Something else happens',
} as const
export type Subject = keyof typeof subjects

/** The events besides failures. */
export const otherEvents = {
  'run.succeeded': 'A run succeeds',
  'run.paused': 'A run pauses',
  'approval.waiting': 'An approval waits',
  'workflow.deployed': 'A version is deployed',
  'credential.needs_sign_in': 'A credential needs a sign-in',
  'limit.reached': 'A limit is reached',
  'backup.overdue': 'The backup is overdue',
} as const
export type OtherEvent = keyof typeof otherEvents

export type AlertForm = {
  name: string
  subject: Subject
  events: readonly OtherEvent[]
  /** Empty: all. */
  workflows: readonly string[]
  /** The numbers of the rules, as they are typed. */
  count: string
  percent: string
  minRuns: string
  percentile: string
  aboveS: string
  usd: string
  windowMs: string
  quietMs: string
  channel: 'webhook' | 'email'
  url: string
  secret: string
  to: string
}

const minute = 60_000
const hour = 60 * minute
export const spans: readonly { value: string; label: string }[] = [
  { value: String(5 * minute), label: '5 minutes' },
  { value: String(15 * minute), label: '15 minutes' },
  { value: String(hour), label: '1 hour' },
  { value: String(6 * hour), label: '6 hours' },
  { value: String(24 * hour), label: '1 day' },
  { value: String(168 * hour), label: '1 week' },
]

const empty: AlertForm = {
  ...{ name: '', subject: 'failed', events: [], workflows: [], count: '3', percent: '20', minRuns: '5' },
  ...{ percentile: '95', aboveS: '10', usd: '10', windowMs: String(hour), quietMs: String(hour) },
  ...{ channel: 'webhook', url: '', secret: '', to: '' },
}

/** The form of a new alert. It is sent where the latest other alert is sent. */
export function newForm(workflow: { id: string; name: string } | undefined, others: readonly Alert[]): AlertForm {
  const latest = others.at(-1)
  const named = workflow ? { name: `${workflow.name} failed`, workflows: [workflow.id] } : { name: 'A workflow failed' }
  return { ...empty, ...named, ...(latest && channelOf(latest)) }
}

export function formOf(alert: Alert): AlertForm {
  const { name, events, workflows, rule, quietMs } = alert
  const isFailure = events.length === 1 && events[0] === 'run.failed'
  return {
    ...empty,
    ...{ name, quietMs: String(quietMs), workflows: workflows === 'all' ? [] : workflows },
    subject: rule?.type ?? (isFailure ? 'failed' : 'other'),
    events: events.filter((event): event is OtherEvent => event in otherEvents),
    ...(rule && numbersOf(rule)),
    ...channelOf(alert),
  }
}

function channelOf({ channel }: Alert): Partial<AlertForm> {
  return channel.type === 'email'
    ? { channel: 'email', to: channel.to.join(', ') }
    : { channel: 'webhook', url: channel.url }
}

function numbersOf(rule: Rule): Partial<AlertForm> {
  const { type: _, aboveMs, ...numbers } = rule as Rule & { aboveMs?: number }
  const texts = Object.entries(numbers).map(([name, value]) => [name, String(value)])
  return { ...Object.fromEntries(texts), ...(aboveMs !== undefined && { aboveS: String(aboveMs / 1000) }) }
}

export function bodyOf(form: AlertForm): AlertBody {
  const { name, subject, events, workflows, quietMs, channel, url, secret, to } = form
  const rule = ruleOf(form)
  return {
    ...{ name, rule, quietMs: Number(quietMs) },
    events: rule ? [] : subject === 'failed' ? ['run.failed'] : [...events],
    workflows: workflows.length === 0 ? 'all' : [...workflows],
    channel:
      channel === 'email'
        ? { type: 'email', to: to.split(/[\s,;]+/).filter((address) => address !== '') }
        : { type: 'webhook', url: url.trim(), ...(secret === '' ? {} : { secret }) },
  }
}

function ruleOf({ subject, ...form }: AlertForm): Rule | null {
  const [windowMs, count, percent, minRuns] = [form.windowMs, form.count, form.percent, form.minRuns].map(Number)
  switch (subject) {
    case 'consecutive_failures':
      return { type: subject, count: count! }
    case 'failure_rate':
      return { type: subject, percent: percent!, windowMs: windowMs!, minRuns: minRuns! }
    case 'latency':
      return {
        type: subject,
        percentile: Number(form.percentile),
        aboveMs: Number(form.aboveS) * 1000,
        windowMs: windowMs!,
      }
    case 'cost':
      return { type: subject, usd: Number(form.usd), windowMs: windowMs! }
    case 'no_activity':
      return { type: subject, windowMs: windowMs! }
    default:
      return null
  }
}

/** The subject of an alert in a few words. */
export function subjectText({ rule, events }: Alert): string {
  if (!rule) {
    return events.map((event) => (event === 'run.failed' ? subjects.failed : otherEvents[event])).join(', ')
  }
  return subjects[rule.type]
}
