import { connect as connectSocket, type Socket } from 'node:net'
import { OutboundError } from '../domain/outbound-request.ts'
import type { ResolveTcp } from '../domain/tcp-target.ts'

/** Connects to a server at an address that the rules allow. Rejects with `OutboundError`, or the signal's reason. */
export type ConnectTo = (server: { host: string; port: number }, signal: AbortSignal) => Promise<Socket>

/** Tries the addresses of a server in turn. The socket reads nothing until its owner does. */
export function connectBy(resolve: ResolveTcp): ConnectTo {
  return async (server, signal) => {
    const { host, port, addresses } = await resolve(server, signal)
    for (const [index, address] of addresses.entries()) {
      try {
        return await opened(address, port, signal)
      } catch (error) {
        if (signal.aborted) throw signal.reason
        if (index < addresses.length - 1) continue
        const code = String((error as { code?: unknown } | null)?.code ?? '')
        const reason = code === 'ECONNREFUSED' ? 'refused the connection' : 'is not reachable'
        throw new OutboundError('CONNECTION_FAILED', `${host}:${port} ${reason}.`, error)
      }
    }
    throw new Error('No address to connect to')
  }
}

function opened(address: string, port: number, signal: AbortSignal): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connectSocket({ host: address, port })
    const abort = () => settle(() => reject(signal.reason), true)
    const settle = (then: () => void, isLost: boolean) => {
      signal.removeEventListener('abort', abort)
      socket.removeAllListeners()
      // A destroyed socket may still report an error. Without a listener, it would end the process.
      socket.on('error', () => {})
      if (isLost) socket.destroy()
      then()
    }
    signal.addEventListener('abort', abort, { once: true })
    socket.once('error', (error) => settle(() => reject(error), true))
    socket.once('connect', () => settle(() => resolve(socket), false))
    if (signal.aborted) abort()
  })
}
