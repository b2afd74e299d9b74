import { expect, test } from 'bun:test'
import { AppError } from '../../../src/domain/errors.ts'
import type { OpenMailbox, ReceivedMail } from '../../../src/domain/mail/mailbox.ts'
import type { PollRow } from '../../../src/domain/poll/poll.ts'
import { MailboxWatch } from '../../../src/triggers/mailboxes/mailbox-watch.ts'
import type { MailboxesOptions } from '../../../src/triggers/mailboxes/mailboxes-options.ts'
import { ManualClock } from '../../support/clock.ts'

const attachment = (name: string) => ({ name, type: 'text/plain', content: new Uint8Array(3) })
const mail = (more: Partial<ReceivedMail> = {}): ReceivedMail => ({
  ...{ from: undefined, to: [], cc: [], replyTo: [], subject: 'Order', date: undefined, messageId: '', inReplyTo: '' },
  ...{ text: 'Hello', html: '', attachments: [], problem: null },
  ...more,
})

/** A mailbox with these messages, and the inputs of the runs that they start. */
async function taken(messages: readonly ReceivedMail[]) {
  const started = Promise.withResolvers<void>()
  const inputs: Readonly<Record<string, unknown>>[] = []
  const mailbox: OpenMailbox = {
    uidValidity: '1',
    lastUid: async () => 0,
    uidsAfter: async (uid) => messages.map((_, index) => index + 1).filter((each) => each > uid),
    read: async (uid) => messages[uid - 1],
    markSeen: async () => undefined,
    wait: (_, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) return resolve()
        signal.addEventListener('abort', () => resolve())
      }),
    close: () => undefined,
  }
  const options: MailboxesOptions<object> = {
    ...{
      clock: new ManualClock(),
      random: () => 0,
      newExecutionId: () => 'run',
      connectionsMax: 1,
      perWorkspaceMax: 1,
    },
    store: { listPollsOfKind: async () => [], listPolls: async () => [], notePolls: async () => undefined },
    sourceOf: async () => undefined,
    open: async () => mailbox,
    async accept({ starts }) {
      for (const { request } of starts) inputs.push(request.input.fields ?? {})
      if (inputs.length === messages.length) started.resolve()
      return { taken: starts.length }
    },
    async storeFile(_, { name, type }) {
      if (name.startsWith('large')) throw new AppError('PAYLOAD_TOO_LARGE', 'There is no room')
      return { key: name, file: { name, type, size: 3, url: name, uploadedAt: '', expiresAt: '' } } as never
    },
    removeFiles: async () => undefined,
    limits: { account: () => ({}), isWithinUsage: () => true, take: () => ({ allowed: true }) },
    redact: async (_, text) => text,
    onTrouble: (error) => started.reject(error),
    isLeader: () => true,
  }
  const watch = new MailboxWatch({ workspaceId: 'home', credential: 'mail', mailbox: 'INBOX' }, options, () => {})
  const row: PollRow = {
    ...{ number: 1, workflowId: 'w', workspaceId: 'home', ownerId: 'ada', blockId: 'start', kind: 'email', version: 1 },
    ...{ rule: null, dueAt: null, revision: 0, state: JSON.stringify({ uidValidity: '1', uid: 0 }), startedAt: null },
    ...{ started: 0, polledAt: null, succeededAt: null, failures: 0, error: null },
  }
  const source = { credential: 'mail', mailbox: 'INBOX', markSeen: true, attachments: true }
  watch.triggers.set(1, { row, source })
  await started.promise
  await watch.stop()
  return inputs
}

test('a message whose attachments have no room starts its run without them, and the next ones follow', async () => {
  const attachments = [attachment('large.bin'), attachment('note.txt'), attachment('large-too.bin')]
  const [first, second] = await taken([mail({ attachments, problem: 'Odd.' }), mail({ subject: 'Next' })])
  expect(first).toMatchObject({ attachments: [{ name: 'note.txt' }] })
  expect(first!['problem']).toStartWith('Odd. 2 attachments were not kept')
  expect(second).toMatchObject({ subject: 'Next', attachments: [], problem: null })
})
