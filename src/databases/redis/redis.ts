import type { Duplex } from 'node:stream'
import { connect as connectTls } from 'node:tls'
import { DatabaseError } from '../../domain/database/database.ts'
import { jsonDepthMax, jsonValuesMax, responseBytesMax } from '../../domain/limits.ts'
import { OutboundError, type OutboundMemory } from '../../domain/outbound-request.ts'
import type { TcpTarget } from '../../domain/tcp-target.ts'
import { type Connecting, type Server, type TlsOptions, tlsOptionsOf } from '../server.ts'
import { connectTcp } from '../tcp-socket.ts'
import { commandBytes } from './commands.ts'
import { RedisRefusal, ReplyReader } from './reply-reader.ts'

/** A connection to Redis. It carries one command at a time. Rejections are `DatabaseError`s. */
export class RedisConnection {
  readonly #stream: Duplex
  readonly #target: TcpTarget
  #waiting: PromiseWithResolvers<unknown> | undefined
  #memory: OutboundMemory | undefined
  #isLost = false

  static async open({ server, resolveTcp, signal }: Connecting): Promise<RedisConnection> {
    const target = await resolveTcp(server, signal)
    const socket = await connectTcp(target, signal)
    const abort = () => socket.destroy()
    signal.addEventListener('abort', abort, { once: true })
    try {
      const tls = tlsOptionsOf(server.tls, target)
      const stream = tls ? await encrypted(socket, tls, target) : socket
      const connection = new RedisConnection(stream, target)
      await signIn(connection, server, target)
      return connection
    } catch (error) {
      socket.destroy()
      throw signal.aborted ? signal.reason : error
    } finally {
      signal.removeEventListener('abort', abort)
    }
  }

  private constructor(stream: Duplex, target: TcpTarget) {
    this.#stream = stream
    this.#target = target
    const { host, port } = target
    const bounds = { bytesMax: responseBytesMax, valuesMax: jsonValuesMax, depthMax: jsonDepthMax }
    const reader = new ReplyReader(bounds, (reply) => this.#settle(reply))
    stream.on('error', () => {})
    stream.on('close', () => {
      this.#fail(new DatabaseError('CONNECTION_FAILED', `The connection to ${host}:${port} was lost.`))
    })
    stream.on('data', (chunk: Uint8Array) => {
      try {
        this.#memory?.add(chunk.byteLength)
        if (this.#memory?.hasRoom() === false) throw noRoom()
        reader.add(chunk)
      } catch (error) {
        this.#fail(error)
      }
    })
  }

  get isUsable(): boolean {
    return !this.#isLost && this.#waiting === undefined
  }

  /** Resolves with the reply, a `RedisRefusal` if it is an error. */
  async send(words: readonly string[], memory?: OutboundMemory): Promise<unknown> {
    if (this.#isLost) {
      const { host, port } = this.#target
      throw new DatabaseError('CONNECTION_FAILED', `The connection to ${host}:${port} was lost.`)
    }
    this.#waiting = Promise.withResolvers<unknown>()
    this.#memory = memory
    const { promise } = this.#waiting
    this.#stream.write(commandBytes(words))
    return await promise
  }

  /** Redis cannot stop a single command. It ends commands that wait when their connection closes. */
  close(): void {
    this.#fail(new DatabaseError('CONNECTION_FAILED', 'The connection was closed.'))
  }

  #settle(reply: unknown): void {
    const waiting = this.#waiting
    this.#waiting = undefined
    this.#memory = undefined
    if (waiting) waiting.resolve(reply)
    else this.#fail(new DatabaseError('CONNECTION_FAILED', 'The server sent a reply without a command.'))
  }

  #fail(error: unknown): void {
    this.#isLost = true
    this.#stream.destroy()
    this.#waiting?.reject(error)
    this.#waiting = undefined
    this.#memory = undefined
  }
}

async function signIn(connection: RedisConnection, server: Server, { host, port }: TcpTarget): Promise<void> {
  const { user, password, database } = server
  const credentials = password === '' ? [] : [user === '' ? 'default' : user, password]
  const hello = await connection.send(['HELLO', '3', ...(password === '' ? [] : ['AUTH', ...credentials])])
  if (hello instanceof RedisRefusal) {
    // A server before version 6 knows neither HELLO nor users.
    const isOld = /unknown command|NOPROTO/i.test(hello.message)
    const words = user === '' ? ['AUTH', password] : ['AUTH', user, password]
    const refusal = isOld ? password !== '' && (await connection.send(words)) : hello
    if (refusal instanceof RedisRefusal) {
      const message = `${host}:${port} refused the user or the password: ${refusal.message}`
      throw new DatabaseError('CREDENTIAL_FAILED', message)
    }
  }
  if (database === '' || database === '0') return
  const selected = await connection.send(['SELECT', database])
  if (!(selected instanceof RedisRefusal)) return
  throw new DatabaseError('CREDENTIAL_FAILED', `${host}:${port} refused the database: ${selected.message}`)
}

function encrypted(socket: Duplex, tls: TlsOptions, { host, port }: TcpTarget): Promise<Duplex> {
  return new Promise((resolve, reject) => {
    const stream = connectTls({ ...tls, socket }, () => {
      stream.off('error', fail)
      stream.off('close', fail)
      resolve(stream)
    })
    function fail(error?: unknown) {
      const code = String((error as { code?: unknown } | undefined)?.code ?? '')
      const reason = /CERT|SELF_SIGNED|UNABLE_TO|CRL/.test(code)
        ? `The certificate of ${host} was not accepted: ${code}`
        : `${host}:${port} offers no TLS. If its network is safe, set "tls" of the credential to "off".`
      stream.on('error', () => {})
      reject(new DatabaseError('CONNECTION_FAILED', reason, {}, error))
    }
    stream.once('error', fail)
    stream.once('close', fail)
  })
}

function noRoom(): OutboundError {
  return new OutboundError('RESPONSE_TOO_LARGE', 'The service has no memory left for the reply.')
}
