import { expect, test } from 'bun:test'
import { assertConfirmed } from '../../../src/http/access/confirmation.ts'

type Given = { isOpen?: boolean; hasPassword: boolean; signedInMinutesAgo?: number; currentPassword?: string }

const now = 1_000_000_000_000
const token = 'a'.repeat(43)

/** The code of the refusal, or `confirmed`. */
async function confirm({ isOpen = false, hasPassword, signedInMinutesAgo = 0, currentPassword }: Given) {
  const services = {
    clock: { now: () => now },
    store: { findUser: async () => ({ hasPassword }) },
    sessions: {
      isOpen,
      find: async () => ({ userId: 'u', roles: {}, createdAt: now - signedInMinutesAgo * 60_000 }),
      assertPassword: async ({ password }: { password: string }) => {
        if (password !== 'right') throw Object.assign(new Error('wrong'), { code: 'INVALID_CREDENTIALS' })
      },
    },
  } as unknown as Parameters<typeof assertConfirmed>[0]
  const request = new Request('http://localhost/', { headers: { cookie: `millrace_session=${token}` } })
  const confirmation = { userId: 'u', currentPassword, request, server: null }
  return await assertConfirmed(services, confirmation).then(
    () => 'confirmed',
    ({ code }: { code: string }) => code,
  )
}

test('an account with a password confirms with it, however recent its sign-in is', async () => {
  expect(await confirm({ hasPassword: true })).toBe('INVALID_INPUT')
  expect(await confirm({ hasPassword: true, currentPassword: 'wrong' })).toBe('INVALID_CREDENTIALS')
  expect(await confirm({ hasPassword: true, currentPassword: 'right', signedInMinutesAgo: 60 })).toBe('confirmed')
})

test('an account without a password needs a sign-in that is at most 10 minutes old', async () => {
  expect(await confirm({ hasPassword: false, signedInMinutesAgo: 10 })).toBe('confirmed')
  expect(await confirm({ hasPassword: false, signedInMinutesAgo: 10.1 })).toBe('FORBIDDEN')
  expect(await confirm({ hasPassword: false, signedInMinutesAgo: 60, currentPassword: 'right' })).toBe('FORBIDDEN')
})

test('an installation without sign-in needs no confirmation', async () => {
  expect(await confirm({ isOpen: true, hasPassword: true, signedInMinutesAgo: 60 })).toBe('confirmed')
})
