// Long because it is one list: every setting, and how each is read.
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { defaultLimits, type Limits, limitSettings } from './domain/limits.ts'
import { plainArray, plainBoolean, plainEnum, plainInteger, plainOptional, plainString } from './domain/plain-schema.ts'
import { planNames, planSettings } from './domain/plan.ts'

const KB = 1024
const MB = 1024 * KB
const GB = 1024 * MB

const origin = 'https?://([^\\s/?#@:[\\]]+|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?'
const webAddress = { pattern: `^${origin}(/[^\\s?#]*)?$`, range: 'an http or https address' } as const

/**
 * Every setting: its default, its range and one sentence. A member's name gives the setting's: `logLevel` is
 * `MILLRACE_LOG_LEVEL` in the environment and in a `--config` file, and `--log-level` on the command line.
 */
const properties = {
  host: plainString({ default: '127.0.0.1', minLength: 1, description: 'Address to listen on; 0.0.0.0 is every one.' }),
  port: whole(3000, 0, 65_535, 'Port to listen on; 0 takes a free one.'),
  data: plainString({ default: './data', minLength: 1, description: 'Folder that holds the installation.' }),
  baseUrl: plainOptional(
    plainString({
      pattern: `^${origin}/?$`,
      range: 'an http or https address without a path',
      description: 'Public address of the service, for links in answers; by default the address it listens on.',
    }),
  ),
  trustedProxies: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, addresses and CIDR blocks, with commas between them',
    description: 'Proxies in front of the service: their X-Forwarded-For says where a request comes from.',
  }),
  noAuth: plainBoolean({
    default: false,
    description: 'Whether the dashboard needs no sign-in; only on a loopback address, for a machine of your own.',
  }),
  sessionDays: whole(30, 1, 365, 'Days after which somebody who was not there has to sign in again.'),
  secretKey: plainOptional(
    plainString({
      minLength: 32,
      secret: true,
      range: 'at least 32 characters',
      description: 'Key that stored secrets are encrypted with; by default a key file made in the data folder.',
    }),
  ),
  logLevel: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'Least important lines that the process writes.'),
  accessLog: oneOf(
    ['off', 'errors', 'all'],
    'errors',
    'Requests that get a line in the log: none, those answered with 400 or more, or all.',
  ),
  stopGraceMs: whole(10_000, 0, 3_600_000, 'Time that runs in flight get to end when the service is told to stop.'),

  sync: oneOf(
    ['full', 'normal'],
    'full',
    'full: an acknowledged run survives a power cut; normal: it survives a crash of the process only.',
  ),
  logQueueMax: whole(10_000, 1, 1_000_000, 'Ended runs that may wait for the disk; beyond that new runs get 503.'),
  logRetentionDays: whole(30, 1, 36_500, 'Days that log entries are kept.'),
  logRetentionBytes: bytes(
    10 * GB,
    10 * MB,
    2 ** 50,
    'Size that the database may have; beyond it the oldest log entries go.',
  ),

  runsMax: whole(defaultLimits.runsMax, 1, 1_000_000, 'Synchronous runs at once; beyond that callers get 503.'),
  runTimeoutMs: whole(defaultLimits.runTimeoutMs, 1, 604_800_000, 'Time that a synchronous run may take.'),
  asyncTimeoutMs: whole(5_400_000, 1, 604_800_000, 'Time that an asynchronous run may take.'),
  jobsConcurrency: whole(100, 1, 100_000, 'Asynchronous runs at once; the others wait in line.'),
  jobsWaitingMax: whole(1_000_000, 1, 1_000_000_000, 'Asynchronous runs that may wait; beyond that callers get 503.'),
  blocksMax: whole(defaultLimits.blocksMax, 1, 10_000_000, 'Block executions in one run.'),
  loopIterationsMax: whole(defaultLimits.loopIterationsMax, 1, 10_000_000, 'Iterations of one loop.'),
  parallelBranchesMax: whole(defaultLimits.parallelBranchesMax, 1, 100_000, 'Branches of one parallel.'),
  parallelConcurrencyMax: whole(defaultLimits.parallelConcurrencyMax, 1, 10_000, 'Branches of a parallel at once.'),
  nestingMax: whole(defaultLimits.nestingMax, 1, 100, 'Loops and parallels inside one another.'),
  subworkflowDepthMax: whole(defaultLimits.subworkflowDepthMax, 1, 100, 'Workflows that call one another.'),
  runBytesMax: bytes(defaultLimits.runBytesMax, MB, 64 * GB, 'Size of all the values that one run holds.'),
  bodyBytesMax: bytes(10 * MB, KB, GB, 'Size of a request body.'),
  bodyBytesMaxFiles: bytes(160 * MB, KB, 4 * GB, 'Size of any request body; a larger one is refused unread.'),
  cancelOnDisconnect: plainBoolean({ default: true, description: 'Whether a caller that leaves cancels its run.' }),
  watchersMax: whole(1000, 1, 1_000_000, 'Readers at once who watch runs live.'),
  manualRunsBytes: bytes(
    64 * MB,
    0,
    64 * GB,
    'Memory for what runs by hand gave, so that they can be run again from a block with all of it.',
  ),
  streamBufferBytes: bytes(MB, KB, GB, 'Text that waits for a slow reader of a stream.'),

  outboundAllow: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, CIDR blocks, host or host:port, with commas between them',
    description: 'Addresses inside your network that workflows may call.',
  }),
  outboundConcurrency: whole(192, 1, 65_000, 'Requests of workflows in flight at once.'),
  outboundHostConcurrency: whole(50, 1, 65_535, 'Requests of workflows in flight at once to one host.'),

  plan: oneOf(planNames, 'enterprise', 'Plan of accounts that have none of their own.'),
  ...planSettings,
  webhookMaxAttempts: whole(5, 1, 50, 'Attempts to deliver a webhook.'),
  webhookTimeoutMs: whole(30_000, 100, 120_000, 'Time for one attempt to deliver a webhook.'),
  webhookConcurrency: whole(500, 1, 65_535, 'Webhook attempts in flight at once.'),
  fileUrlTtlS: whole(3600, 1, 604_800, 'Seconds that a signed file URL holds.'),
  modelPrices: plainOptional(
    plainString({ minLength: 1, description: 'File with prices of models, laid over the built-in table.' }),
  ),
  s3Bucket: plainOptional(plainString({ minLength: 1, description: 'Bucket that holds files.' })),
  s3Endpoint: plainOptional(plainString({ ...webAddress, description: 'Address of the S3 service.' })),
  s3Region: plainOptional(plainString({ minLength: 1, description: 'Region of the bucket.' })),
  s3ForcePathStyle: plainBoolean({
    default: false,

    description: 'Whether the bucket stands in the path instead of the host name.',
  }),
  s3Prefix: plainOptional(plainString({ minLength: 1, description: 'First part of every key.' })),
  s3PublicEndpoint: plainOptional(
    plainString({ ...webAddress, description: 'Address of the S3 service in URLs given to callers.' }),
  ),

  url: plainString({
    default: 'http://127.0.0.1:3000',
    pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
    range: 'an http or https address',
    description: 'Service that `millrace workflows`, `millrace run ID` and `millrace logs` speak to.',
  }),
  apiKey: plainOptional(
    plainString({
      minLength: 1,
      secret: true,
      flag: 'key',
      description: 'Key that `millrace workflows`, `millrace run ID` and `millrace logs` use.',
    }),
  ),
}
export type ConfigSchema = TObject<typeof properties>

/** Values in force, frozen. */
export type Config = Readonly<Static<ConfigSchema>>

/** The bounds of documents and runs among the settings. */
export function limitsOf(config: Config): Limits {
  const names = Object.keys(limitSettings) as (keyof Limits)[]
  return Object.freeze(Object.fromEntries(names.map((name) => [name, config[name]])) as Limits)
}

export type ConfigSource = 'flag' | 'environment' | 'file' | 'default'

/** One setting as `millrace config` shows it. `value` and `default` are null when there is none. */
export type Setting = {
  /** `MILLRACE_LOG_LEVEL` */
  name: string
  /** `log-level` */
  flag: string
  member: keyof Config
  description: string
  /** The values that are taken, for people. */
  range: string
  default: SettingValue | null
  secret: boolean
  /** Whether it is a size, which may be written with KB, MB, GB. */
  bytes: boolean
  /** Whether it is true or false. */
  boolean: boolean
}
export type SettingValue = string | number | boolean | readonly string[]

/** A value that was given and cannot be taken. */
export type ConfigProblem = { name: string; value: string; range: string; source: ConfigSource }

/** What was given, by source: flags by their name without dashes, the others by the setting's name. */
export type ConfigTexts = {
  flags?: Readonly<Record<string, string>>
  environment?: Readonly<Record<string, string | undefined>>
  file?: Readonly<Record<string, string>>
}

export type ResolvedConfig = {
  config: Config
  /** Where each value came from. */
  sources: Readonly<Record<keyof Config, ConfigSource>>
  /** Every value that cannot be taken; with one of these `config` is not to be used. */
  problems: readonly ConfigProblem[]
}

/** Every setting, in the order of the schema above. */
export const settings: readonly Setting[] = Object.freeze(
  Object.entries(properties as Record<string, TSchema>).map(([member, schema]) => {
    const words = member.replaceAll(/[A-Z]/g, (letter) => `_${letter}`)
    return Object.freeze({
      name: `MILLRACE_${words.toUpperCase()}`,
      flag: (schema['flag'] as string | undefined) ?? words.toLowerCase().replaceAll('_', '-'),
      member: member as keyof Config,
      description: (schema.description ?? '') + (schema['pending'] ? ' Has no effect yet.' : ''),
      // When it is asked for: the service starts without it.
      get range() {
        return rangeOf(schema)
      },
      default: (schema.default as SettingValue | undefined) ?? null,
      secret: schema['secret'] === true,
      bytes: schema['unit'] === 'bytes',
      boolean: schema['type'] === 'boolean',
    })
  }),
)

/** Puts the sources over one another: flag, environment, file, default. Pure; an empty text counts as not given. */
export function resolveConfig(texts: ConfigTexts): ResolvedConfig {
  const values: Record<string, SettingValue> = {}
  const sources: Record<string, ConfigSource> = {}
  const problems: ConfigProblem[] = []
  for (const setting of settings) {
    const { text, source } = textOf(setting, texts)
    sources[setting.member] = source
    const value = text === undefined ? (setting.default ?? undefined) : parse(properties[setting.member], text)
    if (value !== undefined) values[setting.member] = Array.isArray(value) ? Object.freeze(value) : value
    else if (text !== undefined) {
      problems.push({ name: setting.name, value: setting.secret ? '***' : text, range: setting.range, source })
    }
  }
  return {
    config: Object.freeze(values) as unknown as Config,
    sources: Object.freeze(sources) as Record<keyof Config, ConfigSource>,
    problems,
  }
}

/** The process's environment. Nothing else reads it. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** The environment of a new process of this executable, with `more` laid over it. */
export function environmentWith(more: Readonly<Record<string, string>>): Record<string, string | undefined> {
  return { ...process.env, ...more }
}

function textOf(setting: Setting, texts: ConfigTexts): { text: string | undefined; source: ConfigSource } {
  const given: [ConfigSource, string | undefined][] = [
    ['flag', texts.flags?.[setting.flag]],
    ['environment', texts.environment?.[setting.name]],
    ['file', texts.file?.[setting.name]],
  ]
  for (const [source, text] of given) {
    if (text !== undefined && text.trim() !== '') return { text: text.trim(), source }
  }
  return { text: undefined, source: 'default' }
}

/** The value that a text stands for, or undefined when it is none that the schema takes. */
function parse(schema: TSchema, text: string): SettingValue | undefined {
  if (schema['enum']) return (schema['enum'] as readonly string[]).find((name) => name === text)
  switch (schema['type']) {
    case 'integer':
      return parseWhole(schema, text)
    case 'number':
      return /^\d+(\.\d+)?$/.test(text) && Number(text) <= (schema['maximum'] as number) ? Number(text) : undefined
    case 'boolean':
      return parseBoolean(text)
    case 'array': {
      const items = text.split(',').map((item) => item.trim())
      return items.every((item) => fits(schema['items'] as TSchema, item)) ? items : undefined
    }
    default:
      return fits(schema, text) ? text : undefined
  }
}

const unitBytes: Readonly<Record<string, number>> = { '': 1, B: 1, KB, MB, GB, TB: 1024 * GB }

function parseWhole(schema: TSchema, text: string): number | undefined {
  const [, digits, unit] =
    (schema['unit'] === 'bytes' ? /^(\d+(?:\.\d+)?) ?([KMGT]?B|)$/i : /^(\d+)()$/).exec(text) ?? []
  if (digits === undefined || unit === undefined) return undefined
  const value = Number(digits) * (unitBytes[unit.toUpperCase()] ?? Number.NaN)
  const { minimum, maximum } = schema as unknown as { minimum: number; maximum: number }
  return Number.isSafeInteger(value) && value >= minimum && value <= maximum ? value : undefined
}

function parseBoolean(text: string): boolean | undefined {
  const lower = text.toLowerCase()
  if (lower === 'true' || lower === '1') return true
  if (lower === 'false' || lower === '0') return false
  return undefined
}

function fits(schema: TSchema, text: string): boolean {
  const { minLength, pattern } = schema as { minLength?: number; pattern?: string }
  return text.length >= (minLength ?? 0) && (pattern === undefined || new RegExp(pattern).test(text))
}

function rangeOf(schema: TSchema): string {
  if (schema['range']) return schema['range'] as string
  if (schema['enum']) return (schema['enum'] as readonly string[]).join(', ')
  if (schema['type'] === 'boolean') return 'true, false'
  const { minimum, maximum } = schema as unknown as { minimum: number; maximum: number }
  if (schema['type'] === 'number') return `a number from ${minimum} to ${maximum}`
  if (schema['type'] !== 'integer') return 'any text'
  return schema['unit'] === 'bytes'
    ? `${sizeText(minimum)} to ${sizeText(maximum)}, as a number of bytes or with KB, MB, GB`
    : `a whole number from ${minimum} to ${maximum}`
}

/** `10 MB`: a size with the largest unit that leaves it whole. */
export function sizeText(size: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let step = 0
  for (; step < units.length - 1 && size !== 0 && size % KB === 0; step++) size /= KB
  return `${size} ${units[step]}`
}

type Marks = { pending?: boolean }

function whole(value: number, minimum: number, maximum: number, description: string, marks: Marks = {}) {
  return plainInteger({ default: value, minimum, maximum, description, ...marks })
}

function bytes(value: number, minimum: number, maximum: number, description: string, marks: Marks = {}) {
  return plainInteger({ default: value, minimum, maximum, description, unit: 'bytes', ...marks })
}

function oneOf<const Names extends readonly string[]>(names: Names, value: Names[number], description: string) {
  return plainEnum(names, { default: value, description })
}
