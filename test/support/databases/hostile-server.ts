import type { Socket } from 'bun'

/** A server on this machine that answers each packet of a connection as it likes. */
export class HostileServer implements Disposable {
  readonly #listener: Bun.TCPSocketListener<{ packets: number }>
  connections = 0

  /** `answer` gets the number of the packet, from 0, and its bytes. Packet -1: the connection was made. */
  constructor(answer: (packet: number, socket: Socket<{ packets: number }>, bytes: Uint8Array) => void) {
    this.#listener = Bun.listen<{ packets: number }>({
      hostname: '127.0.0.1',
      port: 0,
      socket: {
        open: (socket) => {
          this.connections += 1
          socket.data = { packets: 0 }
          answer(-1, socket, new Uint8Array())
        },
        data: (socket, bytes) => answer(socket.data.packets++, socket, bytes),
        error: () => {},
      },
    })
  }

  get port(): string {
    return String(this.#listener.port)
  }

  [Symbol.dispose](): void {
    this.#listener.stop(true)
  }
}

/** Sends the same bytes again and again until the connection ends. */
export function sendForever(socket: Socket<{ packets: number }>, bytes: Uint8Array): void {
  let rest = bytes
  const send = () => {
    for (let sent = 0; socket.readyState === 1; ) {
      sent = socket.write(rest)
      if (sent < rest.byteLength) {
        rest = rest.subarray(Math.max(0, sent))
        setTimeout(send, 1)
        return
      }
      rest = bytes
    }
  }
  send()
}
