import { expect, test } from 'bun:test'
import { PasswordCheck } from '../../../src/accounts/password-check.ts'
import { hashPassword } from '../../../src/accounts/passwords.ts'
import { ManualClock } from '../../support/clock.ts'
import { rejectionOf } from '../../support/store/rejection.ts'

const passwordHash = await hashPassword('correct horse')

type Verify = NonNullable<ConstructorParameters<typeof PasswordCheck>[0]['verify']>

/** Skips real hashing, which would take a second per test. */
const quickly: Verify = async (password, hash) => hash === passwordHash && password === 'correct horse'

function checkOf(verify?: Verify) {
  const clock = new ManualClock()
  const findPassword = async (email: string) =>
    email === 'ada@example.com' ? { userId: 'ada', passwordHash } : undefined
  const check = new PasswordCheck({ findPassword, clock, ...(verify && { verify }) })
  const attempt = (email: string, password: string, address = '192.0.2.1') => check.check({ email, password, address })
  return { check, attempt, clock }
}

test('a right password returns the account; a wrong password and a wrong email get the same error', async () => {
  const { attempt } = checkOf()
  expect(await attempt('ada@example.com', 'correct horse')).toMatchObject({ userId: 'ada' })
  const wrong = await rejectionOf(attempt('ada@example.com', 'correct cow'))
  const nobody = await rejectionOf(attempt('eve@example.com', 'correct horse'))
  expect(wrong).toMatchObject({ code: 'INVALID_CREDENTIALS' })
  expect(nobody).toEqual(wrong)
})

test('guesses at one account from one address are limited per minute, while others still sign in', async () => {
  const { attempt, clock } = checkOf(quickly)
  for (let n = 0; n < 10; n += 1) await rejectionOf(attempt('Ada@example.com', 'wrong'))
  const refused = await rejectionOf(attempt('ada@example.com', 'correct horse'))
  expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED', retryAfterS: 60 })
  expect(await attempt('ada@example.com', 'correct horse', '192.0.2.2')).toMatchObject({ userId: 'ada' })
  await clock.advance(60_000)
  expect(await attempt('ada@example.com', 'correct horse')).toMatchObject({ userId: 'ada' })
})

test('guesses from many addresses are limited too, except from addresses that signed in before', async () => {
  const { attempt } = checkOf(quickly)
  await attempt('ada@example.com', 'correct horse', '198.51.100.7')
  for (let n = 0; n < 99; n += 1) await rejectionOf(attempt('ada@example.com', 'wrong', `192.0.2.${n % 10}`))
  const elsewhere = await rejectionOf(attempt('ada@example.com', 'correct horse', '198.51.100.8'))
  expect(elsewhere).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  expect(await attempt('ada@example.com', 'correct horse', '198.51.100.7')).toMatchObject({ userId: 'ada' })
})

test('an address that signed in before is not locked out by guesses at other accounts', async () => {
  const { attempt } = checkOf(quickly)
  await attempt('ada@example.com', 'correct horse')
  for (let n = 0; n < 40; n += 1) await rejectionOf(attempt(`${n}@example.com`, 'x'))
  expect(await attempt('ada@example.com', 'correct horse')).toMatchObject({ userId: 'ada' })
})

test('an unknown account is limited like an existing one', async () => {
  const { attempt } = checkOf(quickly)
  const codes = async (email: string, address: string) => {
    const given: unknown[] = []
    for (let n = 0; n < 12; n += 1)
      given.push(((await rejectionOf(attempt(email, 'x', address))) as { code: string }).code)
    return given
  }
  expect(await codes('nobody@example.com', '192.0.2.1')).toEqual(await codes('ada@example.com', '192.0.2.2'))
})

test('guesses from one address are limited per minute, whatever the accounts', async () => {
  const { attempt } = checkOf(quickly)
  const codes: unknown[] = []
  for (let n = 0; n < 32; n += 1)
    codes.push(((await rejectionOf(attempt(`${n}@example.com`, 'x'))) as { code: string }).code)
  expect(codes.filter((code) => code === 'RATE_LIMIT_EXCEEDED')).toHaveLength(2)
  expect(await attempt('ada@example.com', 'correct horse', '192.0.2.2')).toMatchObject({ userId: 'ada' })
})

test('the addresses of one IPv6 network count as one', async () => {
  const { attempt } = checkOf(quickly)
  for (let n = 0; n < 30; n += 1) await rejectionOf(attempt(`${n}@example.com`, 'x', `2001:db8:0:1::${n}`))
  const refused = await rejectionOf(attempt('ada@example.com', 'correct horse', '2001:db8:0:1:ffff::1'))
  expect(refused).toMatchObject({ code: 'RATE_LIMIT_EXCEEDED' })
  expect(await attempt('ada@example.com', 'correct horse', '2001:db8:0:2::1')).toMatchObject({ userId: 'ada' })
})

test('two hashes run at once, and callers beyond the queue are asked to retry', async () => {
  const gate = Promise.withResolvers<void>()
  const entered = Promise.withResolvers<void>()
  let atOnce = 0
  let most = 0
  const { attempt } = checkOf(async () => {
    entered.resolve()
    atOnce += 1
    most = Math.max(most, atOnce)
    await gate.promise
    atOnce -= 1
    return false
  })
  // The first one waits for the decoy's hash; the others follow once it exists.
  const early = rejectionOf(attempt('first@example.com', 'x'))
  await entered.promise
  const crowd = Array.from({ length: 30 }, (_, n) => rejectionOf(attempt(`${n}@example.com`, 'x', `192.0.2.${n}`)))
  const refused = await Promise.race([...crowd.slice(21), early])
  expect(refused).toMatchObject({ code: 'OVERLOADED' })
  gate.resolve()
  const codes = (await Promise.all(crowd)).map((error) => (error as { code: string }).code)
  expect(codes.filter((code) => code === 'OVERLOADED')).toHaveLength(9)
  expect(most).toBe(2)
})

test('a password has 8 to 1,000 characters', async () => {
  const { check } = checkOf()
  for (const text of ['1234567', 'x'.repeat(1_001)]) {
    expect(await rejectionOf(check.hash(text))).toMatchObject({ code: 'INVALID_INPUT' })
  }
  expect(await check.hash('12345678')).toStartWith('$argon2id$')
})
