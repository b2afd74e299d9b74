import { expect, test } from 'bun:test'
import type { OutboundRequest } from '../../../src/domain/outbound-request.ts'
import { Pacer } from '../../../src/outbound/pace.ts'
import { ManualClock } from '../../support/clock.ts'
import { requestTo } from '../../support/outbound/peers.ts'

const paced = (perSecond: number, more: Partial<OutboundRequest> & { of?: string } = {}) => {
  const { of = '', ...rest } = more
  return requestTo('http://one.test/path', { pace: { perSecond, of }, workspaceId: 'w', ...rest })
}

/** Starts requests, and returns when each got its turn. */
async function turnsOf(clock: ManualClock, requests: readonly OutboundRequest[], pacer = new Pacer(clock)) {
  const start = clock.monotonic()
  const turns: (number | string)[] = []
  const waiting = requests.map(async (request, index) => {
    turns[index] = await pacer.turn(request).then(
      () => clock.monotonic() - start,
      () => 'cancelled',
    )
  })
  for (let step = 0; step < 20; step++) {
    await Bun.sleep(0)
    clock.advance(100)
  }
  await Promise.all(waiting)
  return turns
}

test('requests to one host go one by one, at the pace', async () => {
  const turns = await turnsOf(new ManualClock(0), [paced(2), paced(2), paced(2), paced(2)])
  expect(turns).toEqual([0, 500, 1000, 1500])
})

test('other hosts, other workspaces and requests without a pace do not wait', async () => {
  const other = [
    paced(1, { url: 'http://two.test/' }),
    paced(1, { workspaceId: 'v' }),
    paced(1, { of: 'crm' }),
    requestTo('http://one.test/'),
  ]
  expect(await turnsOf(new ManualClock(0), [paced(1), ...other])).toEqual([0, 0, 0, 0, 0])
})

test('requests with one credential share its pace whatever their host', async () => {
  const requests = [paced(2, { of: 'crm' }), paced(2, { of: 'crm', url: 'http://two.test/' })]
  expect(await turnsOf(new ManualClock(0), requests)).toEqual([0, 500])
})

test('a cancelled request gives up its turn', async () => {
  const clock = new ManualClock(0)
  const controller = new AbortController()
  const pacer = new Pacer(clock)
  const turns = turnsOf(clock, [paced(2), paced(2, { signal: controller.signal }), paced(2)], pacer)
  controller.abort()
  expect(await turns).toEqual([0, 'cancelled', 500])
})

test('a stop lets nobody wait', async () => {
  const pacer = new Pacer(new ManualClock(0))
  await pacer.turn(paced(1))
  const waiting = pacer.turn(paced(1))
  pacer.stop()
  await waiting
})
