import { expect, test } from 'bun:test'
import { operation } from '../../../src/blocks/operation.ts'
import { httpPeer } from '../../support/outbound/peers.ts'
import { makeContext, runBlock } from './context.ts'

test('an expected status is a success, also when the error rule finds a message', async () => {
  const peer = httpPeer(() => Response.json({ message: 'Not there' }, { status: 404 }))
  const find = { label: 'Find', method: 'GET' as const, path: '/x', error: { message: 'message' } }
  const connector = {
    ...{ id: 'shop', name: 'Shop', baseUrl: `http://127.0.0.1:${peer.port}` },
    operations: { find, mayFind: { ...find, expect: [404] } },
  }
  try {
    using context = makeContext({ connector: async () => connector })
    const call = (name: string) => runBlock(operation, { connector: 'shop', operation: name, retries: 0 }, context)
    expect((await call('mayFind')).outputs).toMatchObject({ status: 404, data: { message: 'Not there' }, error: null })
    expect((await call('find')).error?.message).toEndWith('returned the status 404: Not there')
  } finally {
    await peer.stop(true)
  }
})
