import { expect, test } from 'bun:test'
import { importSim } from '../../../src/sim/import/import-sim.ts'
import { simBlock, simFile } from '../../support/sim/files.ts'

function imported(type: string, values: Record<string, unknown>) {
  const result = importSim(simFile([simBlock('b', type, values, { name: 'Mail' })]))
  if ('details' in result) throw new Error(JSON.stringify(result.details))
  return { result, block: Object.values(result.document.blocks).find(({ name }) => name === 'Mail')! }
}

test('an SMTP block becomes an e-mail block, and its password is not kept', () => {
  const { result, block } = imported('smtp', {
    ...{ smtpHost: 'smtp.example.com', smtpPort: '587', smtpUsername: 'ada', smtpPassword: 'open sesame' },
    ...{ smtpSecure: 'TLS', from: 'shop@example.com', fromName: 'The Shop', to: 'bob@example.com', subject: 'Hello' },
    ...{ body: '<p>Hi</p>', contentType: 'html' },
  })
  expect(block).toMatchObject({
    type: 'email',
    params: {
      ...{ credential: 'smtp', from: '"The Shop" <shop@example.com>', to: 'bob@example.com', subject: 'Hello' },
      html: '<p>Hi</p>',
    },
  })
  expect(block.params).not.toHaveProperty('text')
  expect(JSON.stringify(result)).not.toContain('open sesame')
  expect(JSON.stringify(result)).toContain('smtp.example.com')
})

test('an IMAP trigger becomes an e-mail trigger, and its password is not kept', () => {
  const { result, block } = imported('imap', {
    ...{
      host: 'imap.example.com',
      port: '993',
      username: 'ada',
      password: 'open sesame',
      mailbox: ['Orders', 'Other'],
    },
    ...{ searchCriteria: '{"unseen": true, "subject": "order", "larger": 10}', markAsRead: false },
    includeAttachments: 'true',
  })
  expect(block).toMatchObject({
    type: 'email_trigger',
    params: { credential: 'imap', mailbox: 'Orders', subject: 'order', markSeen: false, attachments: true },
  })
  const text = JSON.stringify(result)
  expect(text).not.toContain('open sesame')
  expect(text).toContain('The trigger watches only the first mailbox.')
  expect(text).toContain('larger')
})
