import { hashPassword, passwordCharsMax, passwordCharsMin } from '../../accounts/passwords.ts'
import { hashToken, linkAgeMaxMs, newToken } from '../../accounts/sessions.ts'
import type { Config } from '../../config.ts'
import { beyondReach, type TierLimits, type TierName, tierNames } from '../../domain/account/tiers.ts'
import { newId } from '../../domain/ids.ts'
import { localAddress } from '../../domain/local-address.ts'
import { signInMail } from '../../domain/mail/service-mails.ts'
import type { OwnTier, UserRow } from '../../store/account-store.ts'
import { type Command, CommandError, type CommandGroup, UsageError } from '../command.ts'
import { accountOf, firstKey, withInstallation } from '../installation/installation.ts'
import { assertMailServer, sendMail } from '../installation/send-mail.ts'
import { printList } from '../support/print-list.ts'

const create: Command = {
  summary: 'creates an account with a workspace, and prints its first key once',
  arguments: [{ name: 'EMAIL', description: 'the e-mail address of the account' }],
  flags: {
    plan: { value: 'PLAN', description: `${tierNames.join(', ')}; by default the installation's` },
    invite: { description: 'sends the person a sign-in link by e-mail' },
  },
  settings: ['data', 'store', 'baseUrl', 'host', 'port', 'smtpUrl', 'smtpFrom'],
  json: true,
  examples: [
    'users create ada@example.com',
    'users create ada@example.com --plan pro --json',
    'users create ada@example.com --invite --base-url https://flows.example.com',
  ],
  async run({ config, terminal, json, flags, switches, arguments: [email = ''] }) {
    if (!/^[^\s@]+@[^\s@]+$/.test(email) || email.length > 254)
      throw new UsageError(`"${email}" is not an e-mail address.`)
    const plan = flags['plan'] === undefined ? null : tierNamed(flags['plan'])
    const isInvited = switches.has('invite')
    if (isInvited) assertMailServer(config)
    const userId = newId()
    const workspaceId = newId()
    const at = Date.now()
    const { row: key, text: apiKey } = firstKey(userId, at)
    const workspaceName = `Workspace of ${email}`
    const made = isInvited ? newLink(config, userId) : undefined
    await withInstallation(config, async (store) => {
      await store.createUser({ userId, email, plan, workspaceId, workspaceName, key, at })
      if (made) await store.createSignInToken(made.token)
    })
    if (made) await sendMail(config, signInMail({ email, url: made.url, isNew: true }))
    if (json) terminal.print(JSON.stringify({ userId, workspaceId, apiKey }))
    else {
      terminal.say(`The account ${email} is ready. Store the API key now: it is not shown again.`)
      terminal.print(`user       ${userId}\nworkspace  ${workspaceId}\nAPI key    ${apiKey}`)
    }
    return 0
  },
}

const list: Command = {
  summary: 'prints every account: e-mail, tier, whether it has a password',
  settings: ['data', 'store'],
  json: true,
  examples: ['users list', 'users list --json'],
  async run(call) {
    const users = await withInstallation(call.config, (store) => store.listUsers())
    printList(call, users, { data: rowOf, line: (user) => [user.id, textOf(user)] })
    return 0
  },
}

function rowOf({ id, email, plan, numbers, hasPassword, createdAt }: UserRow) {
  return { id, email, plan, ...shownNumbers(numbers), hasPassword, createdAt: new Date(createdAt).toISOString() }
}

/** Null: the limit of the tier. */
function shownNumbers({ externalPerMinute, syncPerMinute, asyncPerMinute, usdPerMonth }: OwnTier['numbers']) {
  return {
    externalPerMinute: externalPerMinute ?? null,
    syncPerMinute: syncPerMinute ?? null,
    asyncPerMinute: asyncPerMinute ?? null,
    usdPerMonth: usdPerMonth ?? null,
  }
}

function textOf({ email, plan, numbers, hasPassword }: UserRow): string {
  const own = Object.entries(numbers).map(([name, value]) => `${name} ${value}`)
  const facts = [plan === null ? "the installation's tier" : `tier ${plan}`, ...own]
  return `${email}  (${[...facts, hasPassword ? 'has a password' : 'no password'].join(', ')})`
}

const password: Command = {
  summary: 'sets the password of an account, read from standard input',
  details: [
    'The password is for the dashboard. The command asks for it without showing it, or reads it from a pipe. It is',
    'never an argument, because all users of a machine can see those. Only its argon2id hash is stored.',
  ].join('\n'),
  arguments: [{ name: 'USER', description: 'the account, by ID or e-mail' }],
  settings: ['data', 'store'],
  examples: ['users password ada@example.com', 'users password ada@example.com < password.txt'],
  async run({ config, terminal, arguments: [named = ''] }) {
    const { email } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      const text = await terminal.secret(`Password of ${account.email}: `)
      if (text === undefined) throw new CommandError('No password was given. Nothing was changed.')
      if (text.length < passwordCharsMin)
        throw new UsageError(`A password needs at least ${passwordCharsMin} characters.`)
      if (text.length > passwordCharsMax) throw new UsageError(`A password has at most ${passwordCharsMax} characters.`)
      await store.setPassword(account.id, await hashPassword(text))
      return account
    })
    terminal.say(`The password of ${email} is set.`)
    return 0
  },
}

const link: Command = {
  summary: 'prints a one-time link that signs an account in to the dashboard',
  details: [
    'For a person without a password. The link works for seven days and replaces the previous one. Give it to nobody',
    'else: the first person to open it is signed in.',
  ].join('\n'),
  arguments: [{ name: 'USER', description: 'the account, by ID or e-mail' }],
  flags: { send: { description: 'sends the link to the account by e-mail, and does not print it' } },
  settings: ['data', 'store', 'baseUrl', 'host', 'port', 'smtpUrl', 'smtpFrom'],
  json: true,
  examples: [
    'users link ada@example.com --send',
    'users link ada@example.com',
    'users link ada@example.com --base-url https://flows.example.com --json',
  ],
  async run({ config, terminal, json, switches, arguments: [named = ''] }) {
    const isSent = switches.has('send')
    if (isSent) assertMailServer(config)
    const { id, email, url, expiresAt } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      const made = newLink(config, account.id)
      await store.createSignInToken(made.token)
      return { ...account, ...made }
    })
    if (isSent) {
      await sendMail(config, signInMail({ email, url, isNew: false }))
      if (json) terminal.print(JSON.stringify({ userId: id, email, expiresAt }))
      else terminal.say(`The link was sent to ${email}.`)
      return 0
    }
    terminal.print(json ? JSON.stringify({ userId: id, url, expiresAt }) : url)
    if (!json && config.baseUrl === undefined)
      terminal.say('If the service has another address, set it with --base-url.')
    return 0
  },
}

/** A new sign-in link for an account. */
function newLink({ baseUrl, host, port }: Config, userId: string) {
  const token = newToken()
  const createdAt = Date.now()
  const base = baseUrl?.replace(/\/$/, '') ?? localAddress(host, port)
  const expiresAt = new Date(createdAt + linkAgeMaxMs).toISOString()
  return { token: { hash: hashToken(token), userId, createdAt }, url: `${base}/sign-in?token=${token}`, expiresAt }
}

const plan: Command = {
  summary: "sets an account's tier or, for enterprise, its own limits; takes effect within 5 seconds",
  details: [
    `PLAN is ${tierNames.join(', ')}, or "default" for the installation's tier (MILLRACE_PLAN).`,
    'The flags are for enterprise only.',
    'A limit that is not given comes from the settings, even if the account had its own before.',
  ].join('\n'),
  arguments: [
    { name: 'USER', description: 'the account, by ID or e-mail' },
    { name: 'PLAN', description: `${tierNames.join(', ')} or default` },
  ],
  flags: {
    'external-per-minute': { value: 'N', description: 'requests to the external API per minute' },
    'sync-per-minute': { value: 'N', description: 'synchronous executions per minute' },
    'async-per-minute': { value: 'N', description: 'asynchronous executions per minute' },
    'usd-per-month': { value: 'USD', description: 'cost of executions per month' },
  },
  settings: ['data', 'store'],
  json: true,
  examples: [
    'users plan ada@example.com pro',
    'users plan ada@example.com enterprise --sync-per-minute 500 --usd-per-month 99.5',
    'users plan ada@example.com default',
  ],
  async run({ config, terminal, json, flags, arguments: [named = '', name = ''] }) {
    const own: OwnTier = { plan: name === 'default' ? null : tierNamed(name), numbers: numbersOf(flags) }
    if (own.plan !== 'enterprise' && Object.keys(own.numbers).length > 0) {
      throw new UsageError('Only an enterprise account has its own limits. The limits of other tiers are settings.')
    }
    const { id, email } = await withInstallation(config, async (store) => {
      const account = await accountOf(store, named)
      await store.setTier(account.id, own)
      return account
    })
    if (json) terminal.print(JSON.stringify({ userId: id, plan: own.plan, ...shownNumbers(own.numbers) }))
    else
      terminal.say(own.plan === null ? `${email} has the installation's tier.` : `${email} has the tier ${own.plan}.`)
    return 0
  },
}

function tierNamed(text: string): TierName {
  const name = tierNames.find((known) => known === text)
  if (name) return name
  throw new UsageError(`Unknown tier "${text}". Tiers: ${tierNames.join(', ')}.`)
}

function numbersOf(flags: Readonly<Record<string, string>>): Partial<TierLimits> {
  const externalPerMinute = numberOf(flags, 'external-per-minute', /^\d+$/)
  const syncPerMinute = numberOf(flags, 'sync-per-minute', /^\d+$/)
  const asyncPerMinute = numberOf(flags, 'async-per-minute', /^\d+$/)
  const usdPerMonth = numberOf(flags, 'usd-per-month', /^\d+(\.\d+)?$/)
  return {
    ...(externalPerMinute === undefined ? {} : { externalPerMinute }),
    ...(syncPerMinute === undefined ? {} : { syncPerMinute }),
    ...(asyncPerMinute === undefined ? {} : { asyncPerMinute }),
    ...(usdPerMonth === undefined ? {} : { usdPerMonth }),
  }
}

function numberOf(flags: Readonly<Record<string, string>>, name: string, form: RegExp): number | undefined {
  const text = flags[name]
  if (text === undefined) return undefined
  if (form.test(text) && Number(text) <= beyondReach) return Number(text)
  const kind = form.test('0.5') ? 'a number' : 'a whole number'
  throw new UsageError(`--${name} is "${text}". It must be ${kind} from 0 to ${beyondReach}.`)
}

export const users: CommandGroup = {
  summary: 'accounts of an installation',
  commands: { create, list, password, link, plan },
}
