import { readFileSync } from 'node:fs'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

const certificates = join(import.meta.dir, '../certificates')
const fileOf = (name: string) => readFileSync(join(certificates, name), 'utf8')

/** The authority that signed the certificate of test servers. */
export const authority = fileOf('authority.pem')

/** A message that a server has accepted. */
export type ReceivedMail = { from: string; to: string[]; text: string; isSecure: boolean; user: string | undefined }

export type SmtpPeerOptions = {
  /** From the start. Otherwise the server offers STARTTLS. */
  secure?: boolean
  /** Neither TLS nor STARTTLS. */
  plain?: boolean
  password?: string
  /** The tokens that a login with XOAUTH2 may use now. */
  tokens?: Set<string>
  more?: SMTPServerOptions
}

/** A mail server on loopback. Refuses recipients that begin with `nobody`, and defers the first `deferred` messages. */
export class SmtpPeer implements AsyncDisposable {
  readonly received: ReceivedMail[] = []
  readonly logins: string[] = []
  connections = 0
  deferred = 0
  readonly #server: SMTPServer

  private constructor({ secure = false, plain = false, password = 'open sesame', tokens, more }: SmtpPeerOptions) {
    this.#server = new SMTPServer({
      ...{ secure, key: fileOf('service.key'), cert: fileOf('service.pem') },
      ...(plain ? { disabledCommands: ['STARTTLS'], allowInsecureAuth: true } : {}),
      ...{ authOptional: true, disableReverseLookup: true, closeTimeout: 100 },
      authMethods: tokens ? ['XOAUTH2'] : ['PLAIN', 'LOGIN'],
      onConnect: (_, done) => {
        this.connections += 1
        done()
      },
      onAuth: ({ method, username, password: given, accessToken }, _, done) => {
        this.logins.push(`${method} ${username}`)
        const isRight = tokens ? tokens.has(accessToken ?? '') : given === password
        // Some servers repeat what they received.
        if (isRight) done(null, { user: username })
        else done(new Error(`Wrong password ${given ?? accessToken} for ${username}`))
      },
      onRcptTo: ({ address }, _, done) => {
        if (address.startsWith('nobody')) done(new Error(`There is no mailbox ${address}`))
        else done()
      },
      onData: (stream, { secure: isSecure, envelope, user }, done) => {
        const parts: Buffer[] = []
        stream.on('data', (part: Buffer) => parts.push(part))
        stream.on('end', () => {
          if (this.deferred > 0) {
            this.deferred -= 1
            return done(Object.assign(new Error('Try again later'), { responseCode: 451 }))
          }
          const from = envelope.mailFrom === false ? '' : envelope.mailFrom.address
          const to = envelope.rcptTo.map(({ address }) => address)
          this.received.push({ from, to, text: Buffer.concat(parts).toString(), isSecure, user })
          done()
        })
      },
      ...more,
    })
    this.#server.on('error', () => undefined)
  }

  static async start(options: SmtpPeerOptions = {}): Promise<SmtpPeer> {
    const peer = new SmtpPeer(options)
    await new Promise<void>((resolve) => peer.#server.listen(0, '127.0.0.1', resolve))
    return peer
  }

  get port(): number {
    return (this.#server.server.address() as AddressInfo).port
  }

  [Symbol.asyncDispose](): Promise<void> {
    return new Promise((resolve) => this.#server.close(resolve))
  }
}
