import type { Socket, SocketHandler, TCPSocketConnectOptions } from 'bun'
import { AnswerParser, HeadReader, type ParsedAnswer } from './answer-parser.ts'

/** Where a connection goes: an address that was checked, and the name that a certificate has to be for. */
export type Destination = { address: string; port: number; secure: boolean; name: string; isLiteral: boolean }

/** `bytes`: how many the text has in UTF-8. */
export type WireRequest = { text: string; bytes: number }

type Waiting = { parser: AnswerParser; resolve(answer: ParsedAnswer): void; reject(error: unknown): void }

/**
 * One connection that HTTP/1.1 requests go over, one after the other.
 *
 * Not `fetch`: Bun lets a process have 256 of those under way, all kinds together, and the number is fixed when the process
 * starts (fetch-cap.ts). Hundreds of webhooks may hang, and must hold up neither one another nor the requests of workflows.
 */
export class Wire {
  /** When it was last used: a reading of the clock that the owner has. */
  usedAt = 0
  readonly #socket: Socket<Wire>
  #waiting: Waiting | undefined
  #parser: AnswerParser | undefined
  readonly #heads = new HeadReader()
  /** What the socket had no room for. */
  #unsent: Uint8Array | undefined
  #isOpen = true
  #error: unknown

  /** Resolves when it is connected and, where it is secure, the peer has shown who it is. Rejects with an error with a `code`. */
  static async connect({ address, port, secure, name, isLiteral }: Destination): Promise<Wire> {
    const secured = Promise.withResolvers<void>()
    if (!secure) secured.resolve()
    // Whoever awaits it may come later than its rejection.
    secured.promise.catch(() => {})
    const options: TCPSocketConnectOptions<Wire | undefined> = {
      hostname: address,
      port,
      data: undefined,
      socket: {
        ...handlers,
        handshake(socket, isGood, problem) {
          const error = isGood ? identityProblem(socket, name) : (problem ?? untrusted)
          if (error) secured.reject(error)
          else secured.resolve()
        },
        close(socket, error) {
          secured.reject(Object.assign(new Error('Closed while connecting'), { code: 'ECONNRESET' }))
          handlers.close(socket, error)
        },
      } as SocketHandler<Wire | undefined>,
      ...(secure ? { tls: { rejectUnauthorized: true, ...(isLiteral ? {} : { serverName: name }) } } : {}),
    }
    const socket = (await Bun.connect(options)) as Socket<Wire>
    try {
      await secured.promise
    } catch (error) {
      socket.terminate()
      throw error
    }
    return new Wire(socket)
  }

  private constructor(socket: Socket<Wire>) {
    this.#socket = socket
    socket.data = this
  }

  get isOpen(): boolean {
    return this.#isOpen
  }

  /**
   * Sends a request and reads so much of its answer's body. Rejects with `BrokenAnswer`, or with an error of the
   * connection, whose `code` is `ECONNRESET` when it ended early.
   */
  send(request: WireRequest, answerBytes: number): Promise<ParsedAnswer> {
    const parser = new AnswerParser(answerBytes, this.#heads)
    this.#parser = parser
    return new Promise((resolve, reject) => {
      this.#waiting = { parser, resolve, reject }
      if (this.#isOpen) this.#begin(request)
      else this.#fail(closed(this.#error))
    })
  }

  /** Whether anything came after the last request. */
  get hasAnswered(): boolean {
    return this.#parser?.hasBegun ?? false
  }

  /** A request that is under way rejects with `reason`. */
  close(reason?: unknown): void {
    this.#isOpen = false
    this.#fail(reason ?? closed(this.#error))
    this.#socket.terminate()
  }

  take(piece: Uint8Array): void {
    const waiting = this.#waiting
    // Nothing was asked: whoever speaks now is not to be talked to.
    if (!waiting) {
      this.close()
      return
    }
    try {
      const answer = waiting.parser.read(piece)
      if (!answer) return
      this.#waiting = undefined
      // An answer may come before all of the request was taken, or go on beyond what is read of it.
      if (!waiting.parser.leavesConnection || this.#unsent) this.close()
      waiting.resolve(answer)
    } catch (error) {
      this.close(error)
    }
  }

  ended(error?: unknown): void {
    this.#isOpen = false
    this.#error ??= error
    const answer = this.#waiting?.parser.end()
    if (answer) {
      this.#waiting?.resolve(answer)
      this.#waiting = undefined
    } else this.#fail(closed(this.#error))
  }

  /** As a text, which Bun writes as UTF-8: bytes are made of it only when the socket has no room for all of them. */
  #begin({ text, bytes }: WireRequest): void {
    const sent = this.#socket.write(text)
    if (sent < 0) this.ended()
    else this.#unsent = sent >= bytes ? undefined : Buffer.from(text).subarray(sent)
  }

  /** Goes on sending where the socket has room. */
  flush(): void {
    if (!this.#unsent || !this.#isOpen) return
    const sent = this.#socket.write(this.#unsent)
    if (sent < 0) this.ended()
    else this.#unsent = sent >= this.#unsent.length ? undefined : this.#unsent.subarray(sent)
  }

  #fail(error: unknown): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    waiting?.reject(error)
  }
}

// Of a socket that is being connected there is no wire yet.
const handlers = {
  data: (socket: Socket<Wire | undefined>, piece: Uint8Array) => socket.data?.take(piece),
  drain: (socket: Socket<Wire | undefined>) => socket.data?.flush(),
  end: (socket: Socket<Wire | undefined>) => {
    socket.data?.ended()
    socket.terminate()
  },
  close: (socket: Socket<Wire | undefined>, error?: Error) => socket.data?.ended(error),
  error: (socket: Socket<Wire | undefined>, error: Error) => socket.data?.ended(error),
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
