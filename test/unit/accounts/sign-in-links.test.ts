import { expect, test } from 'bun:test'
import { SignInLinks } from '../../../src/accounts/sign-in-links.ts'
import type { ServiceMail } from '../../../src/domain/mail/mailer.ts'
import { ManualClock } from '../../support/clock.ts'

test('a request for a sign-in link waits neither for the account nor for the disk, and its failure is reported', async () => {
  const failed = Promise.withResolvers<unknown>()
  const posted: ServiceMail[] = []
  const links = new SignInLinks({
    store: {
      findUser: async (id) => ({ id, email: id }) as never,
      createSignInToken: () => Promise.reject(new Error('The disk is full')),
    },
    mailer: { send: () => Promise.reject(new Error('Not used')), post: (mail) => void posted.push(mail) },
    clock: new ManualClock(),
    baseUrl: () => 'https://flows.example.com',
    onFailure: failed.resolve,
  })
  expect(links.send('ada@example.com')).toBeUndefined()
  expect(await failed.promise).toMatchObject({ message: 'The disk is full' })
  expect(posted).toEqual([])
})
