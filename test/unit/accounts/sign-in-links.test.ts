import { expect, test } from 'bun:test'
import { linkAgeMaxMs } from '../../../src/accounts/sessions.ts'
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

test('a link that a visitor asks for works for an hour', async () => {
  const stored = Promise.withResolvers<number>()
  const sent = Promise.withResolvers<ServiceMail>()
  const clock = new ManualClock()
  const links = new SignInLinks({
    store: {
      findUser: async (id) => ({ id, email: id }) as never,
      createSignInToken: async ({ createdAt }) => stored.resolve(createdAt),
    },
    mailer: { send: () => Promise.reject(new Error('Not used')), post: sent.resolve },
    clock,
    baseUrl: () => 'https://flows.example.com',
    onFailure: stored.reject,
  })
  links.send('ada@example.com')
  // Sessions refuse links that are older than `linkAgeMaxMs`.
  expect((await stored.promise) + linkAgeMaxMs).toBe(clock.now() + 3_600_000)
  expect((await sent.promise).text).toContain('within an hour')
})
