import { textOf } from '../../sim-document.ts'
import { fixed, flag, from, isGiven, list, number, object, type Read, text, then } from '../read.ts'
import type { ServiceRules } from '../rule.ts'

const isHtml: Read = (values) => textOf(values.peek('contentType')) === 'html'

/** The mail as our connector takes it. */
const message = object({
  to: from('to'),
  cc: from('cc'),
  bcc: from('bcc'),
  // Without a subject, Sim sends an empty one.
  subject: (values) => text('subject')(values) ?? '(no subject)',
  text: (values) => (isHtml(values) ? undefined : text('body')(values)),
  html: (values) => (isHtml(values) ? text('body')(values) : undefined),
  attachments: from('attachments', 'attachmentFiles'),
})

/** For tools: the model writes the mail unless the author has. */
const messageOrNone: Read = (values) =>
  values.peek('to') === undefined && values.peek('body') === undefined && values.peek('subject') === undefined
    ? undefined
    : message(values)

const byId = { id: from('actionMessageId', 'messageId') }
const labelled = { id: 'data.id', threadId: 'data.threadId', labelIds: 'data.labelIds' }
const changed = {
  ...labelled,
  'metadata.id': 'data.id',
  'metadata.threadId': 'data.threadId',
  'metadata.labelIds': 'data.labelIds',
}
const findsIds = 'It finds the IDs of messages only. Read each message with the operation "getMessage" in a loop.'
const labelsOf = (...ids: string[]) => list(...ids)

export const gmail: ServiceRules = {
  types: ['gmail', 'gmail_v2'],
  service: 'Gmail',
  connector: 'gmail',
  credential: { kind: 'oauth2_authorization_code' },
  usual: 'send_gmail',
  choose: (operation, values) =>
    operation === 'read_gmail' && isGiven(values.peek('messageId')) ? 'read_one' : operation,
  drop: ['contentType', 'serviceAccountSubject', 'impersonateUserEmail'],
  operations: {
    send_gmail: {
      operation: 'sendMessage',
      params: { message: messageOrNone, threadId: from('threadId') },
      outputs: changed,
    },
    draft_gmail: {
      operation: 'createDraft',
      params: { message: messageOrNone },
      outputs: {
        draftId: 'data.id',
        messageId: 'data.message.id',
        threadId: 'data.message.threadId',
        'metadata.id': 'data.id',
        'metadata.message': 'data.message',
      },
    },
    read_gmail: {
      operation: 'findMessages',
      params: {
        labelIds: then(from('folder', 'manualFolder'), (value) => [value]),
        q: (values) => (flag('unreadOnly')(values) === true ? 'is:unread' : undefined),
        maxResults: number('maxResults'),
      },
      maxItems: number('maxResults'),
      outputs: { results: 'data', 'metadata.results': 'data' },
      notes: [findsIds],
    },
    read_one: {
      operation: 'getMessage',
      params: { id: from('messageId') },
      outputs: { ...labelled, snippet: 'data.snippet', 'metadata.id': 'data.id', 'metadata.threadId': 'data.threadId' },
      notes: ['It returns the message as Gmail has it: its headers and parts are in "data.payload".'],
    },
    search_gmail: {
      operation: 'findMessages',
      params: { q: text('query'), maxResults: number('maxResults') },
      maxItems: number('maxResults'),
      outputs: { results: 'data', 'metadata.results': 'data' },
      notes: [findsIds],
    },
    move_gmail: {
      operation: 'changeLabels',
      params: {
        id: from('moveMessageId', 'messageId'),
        addLabelIds: labelsOf('destinationLabel', 'manualDestinationLabel', 'addLabelIds'),
        removeLabelIds: labelsOf('sourceLabel', 'manualSourceLabel', 'removeLabelIds'),
      },
      outputs: changed,
    },
    mark_read_gmail: {
      operation: 'changeLabels',
      params: { ...byId, removeLabelIds: fixed(['UNREAD']) },
      outputs: changed,
    },
    mark_unread_gmail: {
      operation: 'changeLabels',
      params: { ...byId, addLabelIds: fixed(['UNREAD']) },
      outputs: changed,
    },
    archive_gmail: {
      operation: 'changeLabels',
      params: { ...byId, removeLabelIds: fixed(['INBOX']) },
      outputs: changed,
    },
    unarchive_gmail: {
      operation: 'changeLabels',
      params: { ...byId, addLabelIds: fixed(['INBOX']) },
      outputs: changed,
    },
    delete_gmail: { operation: 'trashMessage', params: byId, outputs: changed },
    add_label_gmail: {
      operation: 'changeLabels',
      params: {
        id: from('labelActionMessageId', 'messageId'),
        addLabelIds: labelsOf('labelManagement', 'manualLabelManagement', 'labelIds'),
      },
      outputs: changed,
    },
    remove_label_gmail: {
      operation: 'changeLabels',
      params: {
        id: from('labelActionMessageId', 'messageId'),
        removeLabelIds: labelsOf('labelManagement', 'manualLabelManagement', 'labelIds'),
      },
      outputs: changed,
    },
  },
}
