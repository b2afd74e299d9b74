import type { Clock } from '../domain/clock.ts'
import type { AnswerHead } from './answer-parser.ts'
import { type BodyReader, type BodySink, decodedReader } from './body-reader.ts'
import type { Open, Opened } from './open.ts'
import type { Hop } from './redirects.ts'
import type { Wire, WireReceiver, WireRequest } from './wire.ts'
import { Wires, wayTo } from './wires.ts'

/**
 * Opens requests over sockets of their own: for answers that stream, of which thousands may be under way. A request's body
 * is a text.
 */
export class WireOpener {
  readonly #wires: Wires

  constructor(clock: Clock) {
    this.#wires = new Wires(clock)
  }

  readonly open: Open = (hop, addresses, limit) => {
    const ways = addresses.map((address) => wayTo(hop.target, address))
    return this.#wires.send(
      wireRequestOf(hop),
      ways,
      limit,
      (resolve, reject, wire) => new WireBody(resolve, reject, wire),
    )
  }

  /** Closes the idle connections. */
  close(): void {
    this.#wires.stop()
  }
}

/** The body of an answer, as it arrives over a connection. What nobody has read yet is bounded: the peer has to wait then. */
class WireBody implements WireReceiver, BodyReader {
  readonly hasEnough = false
  readonly #wire: Wire
  #begin: ((opened: Opened) => void) | undefined
  #refuse: ((error: unknown) => void) | undefined
  /** What nobody has read yet. */
  #parts: Buffer<ArrayBuffer>[] = []
  #bytes = 0
  #isHeld = false
  #reading: PromiseWithResolvers<Uint8Array<ArrayBuffer> | undefined> | undefined
  /** Who is given the parts as they come. */
  #sink: BodySink | undefined
  /** How it ended. */
  #end: { error?: unknown } | undefined

  constructor(begin: (opened: Opened) => void, refuse: (error: unknown) => void, wire: Wire) {
    this.#begin = begin
    this.#refuse = refuse
    this.#wire = wire
  }

  begun({ status, headers }: AnswerHead): void {
    const encoding = headers.get('content-encoding')
    const body = decodedReader(this, encoding === undefined ? null : String(encoding))
    // Not by assignment: a server may well send a header named __proto__.
    this.#begin?.({ status, headers: Object.fromEntries(headers), body, finished })
    // They hold what the request was made of.
    this.#begin = undefined
    this.#refuse = undefined
  }

  body(part: Buffer<ArrayBuffer>): void {
    if (this.#sink) {
      this.#sink.part(part)
      return
    }
    const reading = this.#reading
    if (reading) {
      this.#reading = undefined
      reading.resolve(part)
      return
    }
    this.#parts.push(part)
    this.#bytes += part.length
    if (this.#bytes > bytesWaitingMax) this.#hold(true)
  }

  ended(): void {
    this.#end ??= {}
    // The wire is free for others, who hear nothing of one that is held.
    this.#hold(false)
    this.#sink?.ended()
    this.#reading?.resolve(undefined)
    this.#reading = undefined
  }

  failed(error: unknown): void {
    this.#end ??= { error }
    this.#refuse?.(error)
    this.#sink?.failed(error)
    this.#reading?.reject(error)
    this.#reading = undefined
  }

  flow(sink: BodySink): void {
    const parts = this.#parts
    this.#parts = []
    this.#sink = sink
    for (const part of parts) sink.part(part)
    if (this.#end && 'error' in this.#end) sink.failed(this.#end.error)
    else if (this.#end) sink.ended()
    else this.#hold(false)
  }

  read(): Promise<Uint8Array<ArrayBuffer> | undefined> {
    const part = this.#parts.shift()
    if (part) {
      this.#bytes -= part.length
      if (this.#parts.length === 0) this.#hold(false)
      return Promise.resolve(part)
    }
    if (this.#end) return 'error' in this.#end ? Promise.reject(this.#end.error) : Promise.resolve(undefined)
    this.#reading = Promise.withResolvers()
    return this.#reading.promise
  }

  cancel(): void {
    this.#parts = []
    this.#wire.abandon(this, new Error('The answer is not read any more'))
  }

  #hold(isHeld: boolean): void {
    if (this.#isHeld === isHeld) return
    this.#isHeld = isHeld
    this.#wire.hold(isHeld)
  }
}

function wireRequestOf({ target, method, headers, body }: Hop): WireRequest {
  const { url } = target
  if (body !== undefined && typeof body !== 'string') throw new TypeError('Only a text can be sent over a wire')
  const lines = [`${method} ${url.pathname}${url.search} HTTP/1.1`, `host: ${url.host}`, 'connection: keep-alive']
  for (const [name, value] of headers) lines.push(`${name}: ${value}`)
  if (!headers.has('accept')) lines.push('accept: */*')
  const bodyBytes = body === undefined ? 0 : Buffer.byteLength(body)
  if (body !== undefined || (method !== 'GET' && method !== 'HEAD')) lines.push(`content-length: ${bodyBytes}`)
  // Header values are Latin-1, the body is UTF-8.
  const head = Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1')
  const content = body === undefined ? head : Buffer.concat([head, Buffer.from(body)])
  return { method, content, bytes: content.length }
}

/** The wire itself says when it is free for the next request. */
const finished = () => {}
const bytesWaitingMax = 262_144
