import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { programPath } from '../programs.ts'
import { freePort } from '../store/postgres.ts'

const certificates = join(import.meta.dir, '../certificates')

/** A Dovecot with one user, `ada` with the password `open sesame`, on loopback. */
export class ImapPeer implements AsyncDisposable {
  readonly port: number
  readonly securePort: number
  readonly folder: string
  #child: Bun.Subprocess | undefined
  #messages = 0

  private constructor(folder: string, port: number, securePort: number) {
    this.folder = folder
    this.port = port
    this.securePort = securePort
  }

  static async start(): Promise<ImapPeer> {
    const folder = mkdtempSync(join(tmpdir(), 'millrace-dovecot-'))
    const peer = new ImapPeer(folder, freePort(), freePort())
    peer.#configure()
    await peer.restart()
    return peer
  }

  /** Ends every connection, and starts the server again. */
  async restart(): Promise<void> {
    await this.stop()
    this.#child = Bun.spawn([programPath('dovecot'), '-F', '-c', join(this.folder, 'dovecot.conf')], {
      stdout: 'ignore',
      stderr: 'ignore',
    })
    for (;;) {
      const reached = await Bun.connect({ hostname: '127.0.0.1', port: this.port, socket: { data: () => {} } }).then(
        (socket) => {
          socket.end()
          return true
        },
        () => false,
      )
      if (reached) return
      if (this.#child.exitCode !== null) throw new Error(`Dovecot did not start: see ${this.folder}/log`)
      await Bun.sleep(20)
    }
  }

  async stop(): Promise<void> {
    this.#child?.kill()
    await this.#child?.exited
    this.#child = undefined
  }

  /** Puts a message into a mailbox, as a mail server does. */
  deliver(message: string, mailbox = 'INBOX'): void {
    this.#messages += 1
    const name = `${Date.now()}.M${this.#messages}P${process.pid}.test`
    const folder = mailbox === 'INBOX' ? this.#maildir : join(this.#maildir, `.${mailbox}`)
    for (const each of ['tmp', 'new', 'cur']) mkdirSync(join(folder, each), { recursive: true })
    if (mailbox !== 'INBOX') writeFileSync(join(folder, 'maildirfolder'), '')
    const draft = join(folder, 'tmp', name)
    writeFileSync(draft, message.replaceAll(/\r?\n/g, '\r\n'))
    this.#own()
    renameSync(draft, join(folder, 'new', name))
  }

  /** Whether a message that contains a text is marked as seen. */
  isSeen(text: string): boolean {
    const folder = join(this.#maildir, 'cur')
    if (!existsSync(folder)) return false
    return [...new Bun.Glob('*').scanSync(folder)].some(
      (file) => /:2,[A-Z]*S/.test(file) && readFileSync(join(folder, file), 'utf8').includes(text),
    )
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop()
    rmSync(this.folder, { recursive: true, force: true })
  }

  get #maildir(): string {
    return join(this.folder, 'mail')
  }

  #configure(): void {
    const { folder } = this
    mkdirSync(this.#maildir, { recursive: true })
    chmodSync(folder, 0o755)
    this.#own()
    for (const name of ['service.pem', 'service.key'])
      writeFileSync(join(folder, name), readFileSync(join(certificates, name)), { mode: 0o600 })
    writeFileSync(join(folder, 'users'), `ada:{PLAIN}open sesame::::::\n`)
    writeFileSync(
      join(folder, 'dovecot.conf'),
      `
base_dir = ${folder}/run
state_dir = ${folder}/run
log_path = ${folder}/log
protocols = imap
listen = 127.0.0.1
ssl = yes
ssl_cert = <${folder}/service.pem
ssl_key = <${folder}/service.key
disable_plaintext_auth = no
auth_mechanisms = plain login
mail_location = maildir:${this.#maildir}
default_internal_user = dovecot
default_login_user = dovenull
first_valid_uid = 1
first_valid_gid = 1
mailbox_idle_check_interval = 1s
maildir_very_dirty_syncs = no
namespace inbox {
  inbox = yes
}
service imap-login {
  chroot =
  inet_listener imap {
    port = ${this.port}
  }
  inet_listener imaps {
    port = ${this.securePort}
  }
}
passdb {
  driver = passwd-file
  args = scheme=PLAIN ${folder}/users
}
userdb {
  driver = static
  args = uid=mail gid=mail home=${folder}
}
`,
    )
  }

  /** Dovecot serves no mail as root. */
  #own(): void {
    Bun.spawnSync(['chown', '-R', 'mail:mail', this.#maildir])
  }
}
