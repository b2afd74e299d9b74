import { isObject } from '../../../domain/run/input.ts'
import type { PathStep } from '../../../domain/workflow/reference.ts'
import { textOf } from '../../sim-document.ts'
import type { BlockToMap, MappedBlock } from '../mapping.ts'
import type { SimValues } from '../sim-values.ts'
import { renamed } from './branches.ts'

/** A block with the server and its password becomes one that names a credential. */
export function mapSmtp({ values }: BlockToMap): MappedBlock {
  const host = serverOf(values, ['smtpHost', 'smtpPort', 'smtpUsername', 'smtpSecure'])
  values.drop('smtpPassword')
  const params: Record<string, unknown> = { credential: 'smtp', retries: 0 }
  const from = values.text('from') ?? ''
  const fromName = values.text('fromName')
  params['from'] = fromName === undefined ? from : `"${fromName.replaceAll('"', "'")}" <${from}>`
  for (const name of ['to', 'cc', 'bcc', 'replyTo', 'subject'] as const) {
    const text = values.text(name)
    if (text !== undefined) params[name] = text
  }
  const isHtml = textOf(values.take('contentType')) === 'html'
  const body = values.text('body')
  if (body !== undefined) params[isHtml ? 'html' : 'text'] = body
  const attachments = values.text('attachments')
  if (attachments !== undefined) params['attachments'] = attachments
  return {
    type: 'email',
    params: { ...params, subject: params['subject'] ?? '' },
    credentials: [{ name: 'smtp', kind: 'smtp' }],
    output: (path) => renamed(path, { success: undefined, to: 'accepted', subject: undefined }),
    notes: [`Create the credential "smtp" with the server${host} and its password.`],
  }
}

/** A trigger that polls a mailbox becomes one that watches it. */
export function mapImap({ values }: BlockToMap): MappedBlock {
  const host = serverOf(values, ['host', 'port', 'username', 'secure'])
  values.drop('password', 'triggerInstructions')
  const notes = [`Create the credential "imap" with the server${host} and its password.`]
  const params: Record<string, unknown> = { credential: 'imap' }
  const mailboxes = [values.take('mailbox')].flat().map(textOf).filter(Boolean)
  if (mailboxes.length > 0) params['mailbox'] = mailboxes[0]
  if (mailboxes.length > 1)
    notes.push('The trigger watches only the first mailbox. Add a workflow for each of the others.')
  const criteria = values.json('searchCriteria')
  if (isObject(criteria)) {
    for (const name of ['from', 'subject'] as const)
      if (typeof criteria[name] === 'string') params[name] = criteria[name]
    const others = Object.keys(criteria).filter((name) => !['from', 'subject', 'unseen'].includes(name))
    if (others.length > 0)
      notes.push(`Check ${others.join(', ').slice(0, 200)} with a condition: the trigger does not.`)
  }
  for (const [theirs, ours] of [
    ['markAsRead', 'markSeen'],
    ['includeAttachments', 'attachments'],
  ] as const) {
    const value = values.take(theirs)
    if (value !== undefined) params[ours] = value === true || value === 'true'
  }
  return { type: 'email_trigger', params, output: mailOutput, credentials: [{ name: 'imap', kind: 'imap' }], notes }
}

/** Takes the settings of the server, which the credential has here. */
function serverOf(values: SimValues, names: readonly [string, ...string[]]): string {
  const host = textOf(values.peek(names[0]))
  values.drop(...names)
  return host === '' ? '' : ` ${host.slice(0, 200)}`
}

/** In Sim, the members of the message are below `email`. */
function mailOutput(path: readonly PathStep[]): readonly PathStep[] | undefined {
  const [first, second, ...rest] = path
  if (first === 'timestamp') return ['date']
  if (first !== 'email' || second === undefined) return undefined
  if (second === 'mailbox' || second === 'hasAttachments') return undefined
  return [second === 'bodyText' ? 'text' : second === 'bodyHtml' ? 'html' : second, ...rest]
}
