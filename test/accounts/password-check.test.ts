import { expect, test } from 'bun:test'
import { PasswordCheck } from '../../src/accounts/password-check.ts'
import { hashPassword } from '../../src/accounts/passwords.ts'
import { ManualClock } from '../clock.ts'
import { rejectionOf } from '../store/rejection.ts'

const passwordHash = await hashPassword('correct horse')

function checkOf(clock = new ManualClock()) {
  const findPassword = async (email: string) =>
    email === 'ada@example.com' ? { userId: 'ada', passwordHash } : undefined
  const check = new PasswordCheck({ findPassword, clock })
  const attempt = (email: string, password: string, address = '192.0.2.1') => check.check({ email, password, address })
  return { check, attempt, clock }
}

test('a right password gives the account, a wrong one and a wrong e-mail the same refusal', async () => {
  const { attempt } = checkOf()
  expect(await attempt('ada@example.com', 'correct horse')).toBe('ada')
  const wrong = await rejectionOf(attempt('ada@example.com', 'correct cow'))
  const nobody = await rejectionOf(attempt('eve@example.com', 'correct horse'))
  expect(wrong).toMatchObject({ code: 'INVALID_CREDENTIALS' })
  expect(nobody).toEqual(wrong)
})

test('guesses at one account are bounded by the minute, from however many addresses', async () => {
  const { attempt, clock } = checkOf()
  for (let n = 0; n < 10; n += 1) await rejectionOf(attempt('Ada@example.com', 'wrong', `192.0.2.${n}`))
  const refused = await rejectionOf(attempt('ada@example.com', 'correct horse', '192.0.2.99'))
  expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterS: 60 })
  await clock.advance(60_000)
  expect(await attempt('ada@example.com', 'correct horse')).toBe('ada')
})

test('guesses from one address are bounded by the minute, at however many accounts', async () => {
  const { attempt } = checkOf()
  const codes: unknown[] = []
  for (let n = 0; n < 32; n += 1)
    codes.push(((await rejectionOf(attempt(`${n}@example.com`, 'x'))) as { code: string }).code)
  expect(codes.filter((code) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(2)
  expect(await attempt('ada@example.com', 'correct horse', '192.0.2.2')).toBe('ada')
})

test('more people than can wait for a hash are asked to come again', async () => {
  const { attempt } = checkOf()
  const crowd = await Promise.all(
    Array.from({ length: 40 }, (_, n) => rejectionOf(attempt(`${n}@example.com`, 'x', `192.0.2.${n}`))),
  )
  const overloaded = crowd.filter((error) => (error as { code: string }).code === 'OVERLOADED')
  expect(overloaded.length).toBeGreaterThan(0)
  expect(overloaded.length).toBeLessThan(40)
  expect(await attempt('ada@example.com', 'correct horse')).toBe('ada')
})

test('a password has 8 to 1,000 characters', async () => {
  const { check } = checkOf()
  for (const text of ['1234567', 'x'.repeat(1_001)]) {
    expect(await rejectionOf(check.hash(text))).toMatchObject({ code: 'INVALID_INPUT' })
  }
  expect(await check.hash('12345678')).toStartWith('$argon2id$')
})
