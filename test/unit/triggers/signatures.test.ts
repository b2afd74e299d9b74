import { describe, expect, test } from 'bun:test'
import { createHmac } from 'node:crypto'
import { sign as signAsGitHub } from '@octokit/webhooks-methods'
import fc from 'fast-check'
import { Webhook } from 'standardwebhooks'
import Stripe from 'stripe'
import type { SignatureScheme } from '../../../src/domain/webhook/webhook-trigger.ts'
import { signatureProblem } from '../../../src/triggers/signatures.ts'

type Signed = { scheme: SignatureScheme; secret: string; headers: Record<string, string>; body: string; nowMs: number }

const problemOf = ({ scheme, secret, headers, body, nowMs }: Signed) =>
  signatureProblem(scheme, secret, { headers: new Headers(headers), body: new TextEncoder().encode(body) }, nowMs)

const nowMs = 1_750_000_000_000
const nowS = nowMs / 1_000
const stripe = new Stripe('sk_test_none')

/** Signed by each sender's own library. Slack's cannot sign, so this follows its documentation. */
const signers: Record<SignatureScheme, (body: string, atS?: number) => Promise<Signed>> = {
  async github(body) {
    const secret = 'a GitHub secret'
    const headers = { 'X-Hub-Signature-256': await signAsGitHub(secret, body) }
    return { scheme: 'github', secret, headers, body, nowMs }
  },
  async stripe(body, atS = nowS) {
    const secret = 'whsec_of_stripe'
    const header = await stripe.webhooks.generateTestHeaderStringAsync({ payload: body, secret, timestamp: atS })
    return { scheme: 'stripe', secret, headers: { 'Stripe-Signature': header }, body, nowMs }
  },
  async slack(body, atS = nowS) {
    const secret = '8f742231b10e8888abcd99yyyzzz85a5'
    const digest = createHmac('sha256', secret).update(`v0:${atS}:${body}`).digest('hex')
    const headers = { 'X-Slack-Signature': `v0=${digest}`, 'X-Slack-Request-Timestamp': `${atS}` }
    return { scheme: 'slack', secret, headers, body, nowMs }
  },
  async standard(body, atS = nowS) {
    const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
    const id = 'msg_1'
    const signature = new Webhook(secret).sign(id, new Date(atS * 1_000), body)
    const headers = { 'webhook-id': id, 'webhook-timestamp': `${atS}`, 'webhook-signature': signature }
    return { scheme: 'standard', secret, headers, body, nowMs }
  },
}

const vectors: (Signed & { from: string })[] = [
  {
    from: "GitHub's documentation",
    scheme: 'github',
    secret: "It's a Secret to Everybody",
    headers: { 'X-Hub-Signature-256': 'sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17' },
    body: 'Hello, World!',
    nowMs,
  },
  {
    from: "Slack's documentation",
    scheme: 'slack',
    secret: '8f742231b10e8888abcd99yyyzzz85a5',
    headers: {
      'X-Slack-Signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
      'X-Slack-Request-Timestamp': '1531420618',
    },
    body:
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&channel_name=foobar' +
      '&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&response_url=https%3A%2F%2Fhooks.slack.com' +
      '%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN' +
      '&trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    nowMs: 1_531_420_618_000,
  },
  {
    from: 'the Standard Webhooks libraries',
    scheme: 'standard',
    secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
    headers: {
      'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
      'webhook-timestamp': '1614265330',
      'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
    },
    body: '{"test": 2432232314}',
    nowMs: 1_614_265_330_000,
  },
]

/** All variants of a request with one byte of the signed data or of the signature changed. */
function changedByOneByte(signed: Signed): Signed[] {
  const another = (text: string, at: number) =>
    text.slice(0, at) + String.fromCharCode(text.charCodeAt(at) === 120 ? 121 : 120) + text.slice(at + 1)
  const bodies = Array.from(signed.body, (_, at) => ({ ...signed, body: another(signed.body, at) }))
  const headers = Object.entries(signed.headers).flatMap(([name, value]) =>
    Array.from(value, (_, at) => ({ ...signed, headers: { ...signed.headers, [name]: another(value, at) } })),
  )
  return [...bodies, ...headers]
}

describe.each(Object.keys(signers) as SignatureScheme[])('a signature of the scheme %s', (scheme) => {
  test("made by the sender's own library is accepted, whatever the body", async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: 'grapheme', minLength: 1, maxLength: 500 }), async (body) => {
        expect(problemOf(await signers[scheme](body))).toBeUndefined()
      }),
      { numRuns: 50 },
    )
  })

  test('is rejected when a byte of the body, the signature or the signed headers changes', async () => {
    const signed = await signers[scheme]('{"id":"evt_1","amount":4200}')
    for (const changed of changedByOneByte(signed)) expect(problemOf(changed)).toBeDefined()
  })

  test('is rejected with another secret, with an empty one, and when it is missing', async () => {
    const signed = await signers[scheme]('{"id":1}')
    expect(problemOf({ ...signed, secret: 'whsec_AAAAAAAAAAAAAAAAAAAAAAAA' })).toContain('does not match this body')
    expect(problemOf({ ...signed, secret: '' })).toContain('does not match this body')
    expect(problemOf({ ...signed, headers: {} })).toContain('no readable signature')
  })
})

test.each(vectors)('the example of $from is accepted, and rejected with one byte changed', (vector) => {
  expect(problemOf(vector)).toBeUndefined()
  for (const changed of changedByOneByte(vector)) expect(problemOf(changed)).toBeDefined()
})

test.each(['stripe', 'slack', 'standard'] as const)(
  'a signature of the scheme %s holds for five minutes',
  async (scheme) => {
    for (const [ageS, isTaken] of [
      [300, true],
      [301, false],
      [-300, true],
      [-301, false],
    ] as const) {
      expect(problemOf(await signers[scheme]('{}', nowS - ageS)) === undefined).toBe(isTaken)
    }
  },
)

test('a sender that rotates its secret may send both signatures', async () => {
  const signed = await signers.stripe('{}')
  const old = `v1=${'0'.repeat(64)}`
  const header = signed.headers['Stripe-Signature']?.replace(',', `,${old},`) ?? ''
  expect(problemOf({ ...signed, headers: { 'Stripe-Signature': header } })).toBeUndefined()
  const standard = await signers.standard('{}')
  const both = `v1,${'A'.repeat(43)}= ${standard.headers['webhook-signature']}`
  expect(problemOf({ ...standard, headers: { ...standard.headers, 'webhook-signature': both } })).toBeUndefined()
})

test('the header names that Svix uses for Standard Webhooks are accepted too', async () => {
  const { headers, ...rest } = await signers.standard('{"a":1}')
  const renamed = Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value])
  expect(problemOf({ ...rest, headers: Object.fromEntries(renamed) })).toBeUndefined()
})

describe('a signature is rejected', () => {
  /** Signed with the sender's secret over any text in the place of the time. */
  const withTime: Record<'stripe' | 'slack' | 'standard', (time: string) => Signed> = {
    stripe(time) {
      const secret = 'whsec_of_stripe'
      const digest = createHmac('sha256', secret).update(`${time}.{}`).digest('hex')
      return { scheme: 'stripe', secret, headers: { 'Stripe-Signature': `t=${time},v1=${digest}` }, body: '{}', nowMs }
    },
    slack(time) {
      const secret = '8f742231b10e8888abcd99yyyzzz85a5'
      const digest = createHmac('sha256', secret).update(`v0:${time}:{}`).digest('hex')
      const headers = { 'X-Slack-Signature': `v0=${digest}`, 'X-Slack-Request-Timestamp': time }
      return { scheme: 'slack', secret, headers, body: '{}', nowMs }
    },
    standard(time) {
      const secret = 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
      const key = Buffer.from(secret.slice(6), 'base64')
      const digest = createHmac('sha256', key).update(`msg_1.${time}.{}`).digest('base64')
      const headers = { 'webhook-id': 'msg_1', 'webhook-timestamp': time, 'webhook-signature': `v1,${digest}` }
      return { scheme: 'standard', secret, headers, body: '{}', nowMs }
    },
  }

  test.each(['stripe', 'slack', 'standard'] as const)('when the time of the scheme %s is no recent time', (scheme) => {
    expect(problemOf(withTime[scheme](`${nowS}`))).toBeUndefined()
    const times = ['', '0', '-1', `+${nowS}`, `${nowS}.5`, '1.75e9', '0x684ee180', `${nowMs}`, 'NaN', 'Infinity']
    for (const time of [...times, `${nowS - 301}`, `${nowS + 301}`, '9'.repeat(400)]) {
      expect([time, problemOf(withTime[scheme](time))]).toEqual([time, expect.any(String)])
    }
  })

  test('when the secret leaves no key, also one made for the empty key', () => {
    const { headers, ...rest } = withTime.standard(`${nowS}`)
    const digest = createHmac('sha256', '').update(`msg_1.${nowS}.{}`).digest('base64')
    for (const secret of ['', 'whsec_', 'whsec_=', 'whsec_====', '!!!!', 'whsec_A']) {
      const signed = { ...rest, secret, headers: { ...headers, 'webhook-signature': `v1,${digest}` } }
      expect([secret, problemOf(signed)]).toEqual([secret, expect.any(String)])
    }
    const ofGitHub = createHmac('sha256', '').update('{}').digest('hex')
    const empty = { 'X-Hub-Signature-256': `sha256=${ofGitHub}` }
    expect(problemOf({ scheme: 'github', secret: '', headers: empty, body: '{}', nowMs })).toBeString()
  })

  test('when a replay changes the ID, under either header name, or adds another time', async () => {
    const { headers, ...rest } = await signers.standard('{}')
    const asSvix = Object.fromEntries(
      Object.entries(headers).map(([name, value]) => [name.replace('webhook', 'svix'), value]),
    )
    const changes = [
      { ...headers, 'webhook-id': 'msg_2' },
      { ...headers, 'webhook-id': 'msg_1, msg_2' },
      { ...headers, 'webhook-id': '' },
      { ...asSvix, 'webhook-id': 'msg_2' },
      { ...asSvix, 'webhook-id': 'msg_2', 'webhook-timestamp': `${nowS}` },
      { ...asSvix, 'svix-id': 'msg_2', 'webhook-timestamp': `${nowS}` },
    ]
    expect(problemOf({ ...rest, headers: asSvix })).toBeUndefined()
    for (const changed of changes)
      expect([changed, problemOf({ ...rest, headers: changed })]).toEqual([changed, expect.any(String)])

    const old = await signers.stripe('{}', nowS - 3_600)
    const signature = old.headers['Stripe-Signature']!
    for (const header of [
      `t=${nowS},${signature}`,
      `${signature},t=${nowS}`,
      signature.replace(/^t=\d+/, `t=${nowS}`),
    ]) {
      expect([header, problemOf({ ...old, headers: { 'Stripe-Signature': header } })]).toEqual([
        header,
        expect.any(String),
      ])
    }
  })

  test('when it comes after ten others, none of which matches', async () => {
    const { headers, ...rest } = await signers.standard('{}')
    const wrong = `v1,${'A'.repeat(43)}=`
    const withOthers = (count: number) => {
      const signature = [...Array<string>(count).fill(wrong), headers['webhook-signature']].join(' ')
      return problemOf({ ...rest, headers: { ...headers, 'webhook-signature': signature } })
    }
    expect(withOthers(9)).toBeUndefined()
    expect(withOthers(10)).toBeString()
    expect(withOthers(100_000)).toBeString()
  })

  test('when it was made for another scheme with the same secret', () => {
    const secret = 'whsec_of_stripe'
    const hex = createHmac('sha256', secret).update('{}').digest('hex')
    const github = { 'X-Hub-Signature-256': `sha256=${hex}` }
    for (const scheme of ['stripe', 'slack', 'standard'] as const) {
      expect(problemOf({ scheme, secret, headers: github, body: '{}', nowMs })).toContain('no readable signature')
    }
    const timed = withTime.stripe(`${nowS}`)
    const v1 = /v1=(.*)/.exec(timed.headers['Stripe-Signature']!)![1]!
    const asGitHub = { 'X-Hub-Signature-256': `sha256=${v1}` }
    expect(problemOf({ scheme: 'github', secret, headers: asGitHub, body: '{}', nowMs })).toContain('does not match')
  })
})
