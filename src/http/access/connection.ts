import { networkOf } from '../../domain/network.ts'

/** The part of the server that knows a request's connection. */
export type ServerPort = {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

/** The caller's address, or that of a proxy which is not configured as one. */
export function addressOf(request: Request, server: Pick<ServerPort, 'requestIP'> | null): string {
  return server?.requestIP(request)?.address ?? 'unknown'
}

/** The network that a request comes from. The limits of visitors count requests by network. */
export function visitorOf(call: { request: Request; server: Pick<ServerPort, 'requestIP'> | null }): string {
  return networkOf(addressOf(call.request, call.server))
}

/** Lifts the idle timeout, so that a long run does not lose its connection. */
export function allowSilence(request: Request, server: Pick<ServerPort, 'timeout'> | null): void {
  server?.timeout(request, 0)
}

/** Closes a connection whose response is no longer written. An idle timeout is the only way to make Bun close it. */
export function disconnect(request: Request, server: Pick<ServerPort, 'timeout'> | null): void {
  server?.timeout(request, 1)
}
