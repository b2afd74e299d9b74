import { afterAll, beforeAll } from 'bun:test'

/** Waits until a server accepts connections at a port of the loopback address. */
export async function untilAccepting(port: number, log: () => Promise<string>): Promise<void> {
  const endAt = Date.now() + 30_000
  while (!(await accepts(port))) {
    if (Date.now() > endAt) throw new Error(`The server did not start: ${await log()}`)
    await Bun.sleep(20)
  }
}

/** Starts a server before the tests of a file and stops it after them. */
export function serverOfTests<Server extends AsyncDisposable>(start: () => Promise<Server>): () => Server {
  let server: Server
  beforeAll(async () => {
    server = await start()
  }, 60_000)
  afterAll(() => server[Symbol.asyncDispose](), 60_000)
  return () => server
}

async function accepts(port: number): Promise<boolean> {
  try {
    const socket = await Bun.connect({ hostname: '127.0.0.1', port, socket: { data() {} } })
    socket.end()
    return true
  } catch {
    return false
  }
}
