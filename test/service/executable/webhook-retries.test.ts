import { expect, test } from 'bun:test'
import { temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { programPath } from '../../support/programs.ts'
import { call, deploy, init, serve } from '../../support/running-service.ts'
import { Receiver } from '../../support/webhook-receiver.ts'

const delaysS = [5, 15, 60, 180]

test('the executable makes five attempts, none of them early, with the same delivery ID, and no sixth', async () => {
  using folder = temporaryFolder()
  const { apiKey } = await init(folder.path)
  // The clock of the process runs sixty times as fast.
  // faketime remains the parent of the process that it starts, and does not forward signals.
  const withIt = [programPath('setpriv'), '--pdeathsig', 'KILL']
  // At this speed, the default time limit of an attempt would be half a second.
  const patient = { MILLRACE_OUTBOUND_ALLOW: 'loopback', MILLRACE_WEBHOOK_TIMEOUT_MS: '120000' }
  const service = await serve(folder.path, patient, [programPath('faketime'), '-f', '+0 x60', ...withIt])
  using receiver = new Receiver(() => new Response('', { status: 503 }))
  const workflow = document({ name: 'Notifies', blocks: [block('start', 'api_trigger')] })
  const endpoint = await deploy(service.url, apiKey, { ...workflow, webhooks: [{ url: receiver.url }] })
  await call(endpoint, apiKey, 'POST', {})
  const received = await receiver.arrivals(5)
  const sentAt = received.map(({ headers }) => Number(headers.get('svc-timestamp')))
  for (const [index, delayS] of delaysS.entries()) {
    const passedS = (sentAt[index + 1]! - sentAt[index]!) / 1000
    expect(passedS).toBeGreaterThanOrEqual(delayS)
  }
  expect(new Set(receiver.keys).size).toBe(1)
  const id = endpoint.split('/').at(-2)
  const stateNow = async () => {
    const { body } = await call(`${service.url}/api/workflows/${id}/deliveries`, apiKey)
    return (body as { data: { state: string }[] }).data[0]?.state
  }
  while ((await stateNow()) === 'pending') await Bun.sleep(10)
  expect(await stateNow()).toBe('failed')
  expect(receiver.received).toHaveLength(5)
  await service.kill('SIGKILL')
}, 120_000)
