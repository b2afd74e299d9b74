import { connect, type Socket } from 'node:net'
import { OutboundError } from '../domain/outbound-request.ts'
import type { TcpTarget } from '../domain/tcp-target.ts'

/** Tries the addresses of a target in turn until one accepts. Rejects with `OutboundError` or the signal's reason. */
export async function connectTcp({ host, port, addresses }: TcpTarget, signal: AbortSignal): Promise<Socket> {
  let failure: unknown
  for (const address of addresses) {
    signal.throwIfAborted()
    try {
      return await connected(address, port, signal)
    } catch (error) {
      if (signal.aborted) throw signal.reason
      failure = error
    }
  }
  const code = (failure as { code?: unknown } | undefined)?.code
  const reason = reasons.get(String(code)) ?? `could not be reached (${String(code ?? 'no reason given')})`
  throw new OutboundError('CONNECTION_FAILED', `${host}:${port} ${reason}.`, failure)
}

function connected(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host: address, port, noDelay: true, keepAlive: true })
    const timer = setTimeout(() => fail(Object.assign(new Error('Too slow'), { code: 'ETIMEDOUT' })), addressMsMax)
    const abort = () => fail(signal.reason)
    const lift = () => {
      clearTimeout(timer)
      signal.removeEventListener('abort', abort)
      socket.off('error', fail)
      socket.off('connect', done)
    }
    const done = () => {
      lift()
      // From now on, the client that gets the socket learns of errors from `close`.
      socket.on('error', () => {})
      resolve(socket)
    }
    function fail(error: unknown) {
      lift()
      socket.on('error', () => {})
      socket.destroy()
      reject(error)
    }
    socket.once('connect', done)
    socket.once('error', fail)
    signal.addEventListener('abort', abort, { once: true })
  })
}

const addressMsMax = 5_000

const reasons: ReadonlyMap<string, string> = new Map([
  ['ECONNREFUSED', 'refused the connection'],
  ['EHOSTUNREACH', 'is not reachable'],
  ['ENETUNREACH', 'is not reachable'],
  ['ETIMEDOUT', 'did not accept the connection in time'],
])
