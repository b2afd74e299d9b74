import type { Socket, SocketHandler, TCPSocketConnectOptions } from 'bun'
import { AnswerParser, type AnswerReceiver, type HeadReader } from './answer-parser.ts'

/** Where a connection goes: an address that was checked, and the name that a certificate has to be for. */
export type Way = {
  address: string
  port: number
  secure: boolean
  name: string
  isLiteral: boolean
  /** What kept connections are found by. */
  key: string
}

export type WireRequest = {
  method: string
  content: string | Uint8Array
  /** Of the content; a text goes out as UTF-8. */
  bytes: number
  /** Reads the heads of answers, where those are often the same. */
  heads?: HeadReader
}

/** Who waits for an answer. */
export type WireReceiver = AnswerReceiver & {
  /** All of it has come. */
  ended(): void
  /** No more of it comes: with `BrokenAnswer`, an error of the connection, or the reason that it was closed for. */
  failed(error: unknown): void
  /** Whether the rest of the body is of no use: the connection is closed then. */
  readonly hasEnough: boolean
}

/**
 * One connection that HTTP/1.1 requests go over, one after the other.
 *
 * Not `fetch`: Bun lets a process have 256 of those under way, all kinds together, and the number is fixed when the process
 * starts (fetch-cap.ts). Hundreds of webhooks may hang, and must hold up neither one another nor the requests of workflows.
 * And an answer that streams takes 16 to 20 KB of memory by `fetch`, 1 KB by a socket (over TLS 21 and 10; Bun 1.4.5).
 */
export class Wire {
  /** When it was last used: a reading of the clock that the owner has. */
  usedAt = 0
  readonly way: Way
  /** Told when another request may go over it. */
  readonly #onFree: (wire: Wire) => void
  #socket: Socket<Wire> | undefined
  /** While it is being secured. */
  #securing: PromiseWithResolvers<void> | undefined
  #receiver: WireReceiver | undefined
  #parser: AnswerParser | undefined
  /** What the socket had no room for. */
  #unsent: Uint8Array | undefined
  #isOpen = true
  #error: unknown

  /** Leads nowhere yet: `connect` comes first. */
  constructor(way: Way, onFree: (wire: Wire) => void) {
    this.way = way
    this.#onFree = onFree
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /** Whether anything came after the last request. */
  get hasAnswered(): boolean {
    return this.#parser?.hasBegun ?? false
  }

  /** Sends a request. The error of a connection that ended early has the `code` `ECONNRESET`. */
  send(request: WireRequest, receiver: WireReceiver): void {
    this.#parser = new AnswerParser(receiver, request.method, request.heads)
    this.#receiver = receiver
    if (this.#isOpen) this.#begin(request)
    else this.#fail(closed(this.#error))
  }

  /** A request that is under way fails with `reason`. Of one that still connects, the peer may never say another word. */
  close(reason?: unknown): void {
    this.#isOpen = false
    // First: the socket tells of its end while it is terminated, and that would be the reason then.
    this.#fail(reason ?? closed(this.#error))
    this.#socket?.terminate()
  }

  /** The same if it is this receiver that it works for: it may work for another one by now. */
  abandon(receiver: WireReceiver, reason: unknown): void {
    if (this.#receiver === receiver) this.close(reason)
  }

  /** Whether what the peer sends is left where it is: a reader who is slow then slows the peer. */
  hold(isHeld: boolean): void {
    if (!this.#isOpen) return
    if (isHeld) this.#socket?.pause()
    else this.#socket?.resume()
  }

  secured(isGood: boolean, problem: Error | null): void {
    const error = isGood ? identityProblem(this.#socket!, this.way.name) : (problem ?? untrusted)
    if (error) this.#securing?.reject(error)
    else this.#securing?.resolve()
  }

  take(piece: Uint8Array<ArrayBuffer>): void {
    const receiver = this.#receiver
    const parser = this.#parser
    // Nothing was asked: whoever speaks now is not to be talked to.
    if (!receiver || !parser) {
      this.close()
      return
    }
    try {
      parser.read(piece)
    } catch (error) {
      this.close(error)
      return
    }
    if (this.#receiver !== receiver) return
    if (parser.isWhole) this.#finish(receiver, parser.leavesConnection)
    else if (receiver.hasEnough) {
      this.#receiver = undefined
      this.close()
    }
  }

  ended(error?: unknown): void {
    this.#isOpen = false
    this.#error ??= error
    this.#securing?.reject(Object.assign(new Error('Closed while connecting'), { code: 'ECONNRESET' }))
    const receiver = this.#receiver
    if (receiver && this.#parser?.end()) this.#finish(receiver, false)
    else this.#fail(closed(this.#error))
  }

  /** As a text where it is one: bytes are made of it only when the socket has no room for all of them. */
  #begin({ content, bytes }: WireRequest): void {
    const sent = this.#socket?.write(content) ?? -1
    if (sent < 0) this.ended()
    else if (sent >= bytes) this.#unsent = undefined
    else this.#unsent = (typeof content === 'string' ? Buffer.from(content) : content).subarray(sent)
  }

  /** Goes on sending where the socket has room. */
  flush(): void {
    if (!this.#unsent || !this.#isOpen || !this.#socket) return
    const sent = this.#socket.write(this.#unsent)
    if (sent < 0) this.ended()
    else this.#unsent = sent >= this.#unsent.length ? undefined : this.#unsent.subarray(sent)
  }

  /** Resolves when it is connected and, where it is secure, the peer has shown who it is. Rejects with an error with a `code`. */
  async connect(): Promise<void> {
    const { address, port, secure, name, isLiteral } = this.way
    if (secure) {
      this.#securing = Promise.withResolvers()
      // Whoever awaits it may come later than its rejection.
      this.#securing.promise.catch(() => {})
    }
    const options: TCPSocketConnectOptions<Wire> = {
      hostname: address,
      port,
      data: this,
      socket: handlers,
      ...(secure ? { tls: { rejectUnauthorized: true, ...(isLiteral ? {} : { serverName: name }) } } : {}),
    }
    const socket = await Bun.connect(options)
    try {
      await this.#securing?.promise
    } catch (error) {
      socket.terminate()
      throw error
    }
    this.#securing = undefined
  }

  opened(socket: Socket<Wire>): void {
    this.#socket = socket
    // Closed before it was open.
    if (!this.#isOpen) socket.terminate()
  }

  #finish(receiver: WireReceiver, leavesConnection: boolean): void {
    this.#receiver = undefined
    // An answer may come before all of the request was taken.
    if (!leavesConnection || this.#unsent) this.close()
    else {
      this.#parser = undefined
      this.#onFree(this)
    }
    receiver.ended()
  }

  #fail(error: unknown): void {
    const receiver = this.#receiver
    this.#receiver = undefined
    receiver?.failed(error)
  }
}

// One object for all: of its own for each socket, its functions would live as long as that.
const handlers: SocketHandler<Wire> = {
  open: (socket) => socket.data.opened(socket),
  handshake: (socket, isGood, problem) => socket.data.secured(isGood, problem),
  data: (socket, piece) => socket.data.take(piece as Buffer<ArrayBuffer>),
  drain: (socket) => socket.data.flush(),
  end: (socket) => {
    socket.data.ended()
    socket.terminate()
  },
  close: (socket, error) => socket.data.ended(error),
  error: (socket, error) => socket.data.ended(error),
}

/** A certificate that is valid, and of somebody else. Bun has compared it with a name in SNI, which no address is. */
function identityProblem(socket: Socket<unknown>, name: string): Error | undefined {
  const secure = socket as Socket<unknown> & { authorized?: boolean }
  if (secure.authorized !== true) return untrusted
  const tls = process.getBuiltinModule('node:tls')
  return tls.checkServerIdentity(name.replace(/^\[|\]$/g, ''), socket.getPeerCertificate() as never)
}

const untrusted = Object.assign(new Error('The certificate was not accepted'), { code: 'CERT_UNTRUSTED' })

function closed(cause: unknown): Error {
  return Object.assign(new Error('The connection was closed', { cause }), { code: 'ECONNRESET' })
}
