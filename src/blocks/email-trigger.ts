import { type Static, Type as t } from '@sinclair/typebox'
import { defineBlock } from '../engine/block.ts'
import { checkLabels, Labels, labelWith } from './labels.ts'

const Parameters = t.Object({
  credential: t.String({
    minLength: 1,
    title: 'Credential',
    description: 'The name of a credential of the kind imap. It describes the mail server.',
  }),
  mailbox: t.String({
    default: 'INBOX',
    minLength: 1,
    maxLength: 500,
    title: 'Mailbox',
    description: 'The folder on the server.',
  }),
  from: t.Optional(
    t.String({ maxLength: 500, title: 'From', description: 'Only messages whose sender contains this text.' }),
  ),
  subject: t.Optional(
    t.String({ maxLength: 500, title: 'Subject', description: 'Only messages whose subject contains this text.' }),
  ),
  markSeen: t.Boolean({ default: true, title: 'Mark messages as read' }),
  attachments: t.Boolean({ default: true, title: 'Keep attachments as files' }),
  labels: Labels,
})
export type EmailTriggerParameters = Static<typeof Parameters>

/** The parts of a message. */
const outputs = [
  ...['from', 'fromName', 'to', 'cc', 'replyTo', 'subject', 'text', 'html', 'date', 'messageId', 'inReplyTo'],
  ...['attachments', 'problem'],
] as const

export const emailTrigger = defineBlock({
  type: 'email_trigger',
  label: 'E-mail received',
  description: 'Watches a mailbox (IMAP), and starts the workflow for each new message.',
  kind: 'trigger',
  starts: 'email',
  isRepeatable: true,
  parameters: Parameters,
  modes: Object.fromEntries(
    Object.keys(Parameters.properties).map((name) => [name, name === 'labels' ? 'own' : ('literal' as const)]),
  ),
  outputs: [...outputs],
  mayFail: false,
  registers: ({ credential, mailbox }) => {
    // Other filters still look at the same messages.
    const identity = new Bun.CryptoHasher('sha256').update(JSON.stringify([credential, mailbox])).digest('hex')
    return { poll: { kind: 'email', identity, rule: null } }
  },
  check: (_params, _facts, { labels }) => checkLabels(labels),
  run({ labels }, context) {
    const given = context.input.fields
    const found = Object.fromEntries(outputs.map((name) => [name, given[name] ?? null]))
    labelWith(labels, found, context)
    return { outputs: found }
  },
})
