/** What may be asked of the server about the connection that a request came over. */
export type ServerPort = {
  requestIP(request: Request): { address: string } | null
  timeout(request: Request, seconds: number): void
}

/** The address of the caller, or that of a proxy which nobody has named. */
export function addressOf(request: Request, server: Pick<ServerPort, 'requestIP'> | null): string {
  return server?.requestIP(request)?.address ?? 'unknown'
}

/** Lets a response be silent for as long as it takes: the server would close the connection after some seconds. */
export function allowSilence(request: Request, server: Pick<ServerPort, 'timeout'> | null): void {
  server?.timeout(request, 0)
}

/** Closes a connection under its response, to which nothing is sent any more: silence is all that Bun closes one for. */
export function disconnect(request: Request, server: Pick<ServerPort, 'timeout'> | null): void {
  server?.timeout(request, 1)
}
