// Long because it is one list: every setting, with its parser.
import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { tierNames, tierSettings } from './domain/account/tiers.ts'
import { defaultLimits, type Limit, type Limits, limitSettings } from './domain/limits.ts'
import {
  plainArray,
  plainBoolean,
  plainEnum,
  plainInteger,
  plainNumber,
  plainOptional,
  plainString,
} from './domain/plain-schema.ts'

const KB = 1024
const MB = 1024 * KB
const GB = 1024 * MB

const origin = 'https?://([^\\s/?#@:[\\]]+|\\[[0-9a-fA-F:.]+\\])(:\\d{1,5})?'
const webAddress = { pattern: `^${origin}(/[^\\s?#]*)?$`, range: 'an http or https address' } as const

/**
 * Every setting with its default, range and description. The name of a member determines the names of the setting:
 * `logLevel` is `MILLRACE_LOG_LEVEL` in the environment and in a `--config` file, and `--log-level` on the command
 * line.
 */
const properties = {
  host: plainString({
    default: '127.0.0.1',
    minLength: 1,
    description: 'Address to listen on; 0.0.0.0 listens on all addresses.',
  }),
  port: whole(3000, 0, 65_535, 'Port to listen on; 0 selects a free port.'),
  data: plainString({ default: './data', minLength: 1, description: 'Folder of the installation.' }),
  baseUrl: plainOptional(
    plainString({
      pattern: `^${origin}/?$`,
      range: 'an http or https address without a path',
      description: 'Public address of the service, used in links. By default, the address it listens on.',
    }),
  ),
  trustedProxies: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, addresses and CIDR blocks, comma-separated',
    description: 'Proxies in front of the service. Their X-Forwarded-For header provides the client address.',
  }),
  noAuth: plainBoolean({
    default: false,
    description: 'Turns off sign-in to the dashboard. Allowed only on a loopback address.',
  }),
  sessionDays: whole(30, 1, 365, 'Days without activity after which a dashboard session expires.'),
  secretKey: plainOptional(
    plainString({
      minLength: 32,
      secret: true,
      range: 'at least 32 characters',
      description: 'Key that encrypts stored secrets. By default, a key file created in the data folder.',
    }),
  ),
  logLevel: oneOf(['debug', 'info', 'warn', 'error'], 'info', 'Lowest level of log lines that the process writes.'),
  accessLog: oneOf(
    ['off', 'errors', 'all'],
    'errors',
    'Requests to log: none, those with a status of 400 or more, or all.',
  ),
  stopGraceMs: whole(10_000, 0, 3_600_000, 'Milliseconds that runs in flight may continue after a stop signal.'),
  watchdogMs: whole(
    30_000,
    0,
    3_600_000,
    'Milliseconds that the main thread may be stuck before the process exits with code 70; 0 turns this off.',
  ),

  sync: oneOf(
    ['full', 'normal'],
    'full',
    'full: acknowledged runs survive a power cut. normal: they survive only a crash of the process.',
  ),
  logQueueMax: whole(10_000, 1, 1_000_000, 'Ended runs that may wait for the disk. Beyond that, new runs get 503.'),
  logRetentionDays: whole(30, 1, 36_500, 'Days to keep log entries.'),
  logRetentionBytes: bytes(
    10 * GB,
    10 * MB,
    2 ** 50,
    'Maximum size of the database. Beyond it, the oldest log entries are deleted.',
  ),

  runsMax: whole(defaultLimits.runsMax, 1, 1_000_000, 'Concurrent synchronous runs. Beyond that, callers get 503.'),
  shareFactor: whole(
    defaultLimits.shareFactor,
    1,
    1000,
    'A workspace may take another slot while it holds fewer slots than this factor times the free ones.',
  ),
  runTimeoutMs: whole(defaultLimits.runTimeoutMs, 1, 604_800_000, 'Timeout of a synchronous run in milliseconds.'),
  asyncTimeoutMs: whole(5_400_000, 1, 604_800_000, 'Timeout of an asynchronous run in milliseconds.'),
  jobsConcurrency: whole(100, 1, 100_000, 'Concurrent asynchronous runs. Further ones wait in the queue.'),
  jobsWaitingMax: whole(
    1_000_000,
    1,
    1_000_000_000,
    'Asynchronous runs that may wait in the queue. Beyond that, callers get 503.',
  ),
  blocksMax: whole(defaultLimits.blocksMax, 1, 10_000_000, 'Maximum number of block executions in a run.'),
  loopIterationsMax: whole(defaultLimits.loopIterationsMax, 1, 10_000_000, 'Maximum number of iterations of a loop.'),
  parallelBranchesMax: whole(
    defaultLimits.parallelBranchesMax,
    1,
    100_000,
    'Maximum number of branches of a parallel.',
  ),
  parallelConcurrencyMax: whole(defaultLimits.parallelConcurrencyMax, 1, 10_000, 'Concurrent branches of a parallel.'),
  documentBlocksMax: whole(2_000, 10, 1_000_000, 'Maximum number of blocks in a workflow document that is saved.'),
  documentBytesMax: bytes(2 * MB, KB, GB, 'Maximum size of a workflow document that is saved or checked.'),
  documentEdgesMax: whole(10_000, 10, 1_000_000, 'Maximum number of edges in a workflow document that is saved.'),
  nestingMax: whole(defaultLimits.nestingMax, 1, 100, 'Maximum nesting of loops and parallels.'),
  subworkflowDepthMax: whole(defaultLimits.subworkflowDepthMax, 1, 100, 'Maximum depth of sub-workflows.'),
  runBytesMax: bytes(defaultLimits.runBytesMax, MB, 64 * GB, 'Maximum size of all values that a run holds.'),
  expressionWorkMax: whole(
    defaultLimits.expressionWorkMax,
    0,
    1_000_000_000,
    'Maximum work of an expression in the main thread, in units of about 20 ns. Beyond it, the sandbox takes over.',
  ),
  bodyBytesMax: bytes(10 * MB, KB, GB, 'Maximum size of a request body if the trigger declares no files.'),
  bodyBytesMaxFiles: bytes(160 * MB, KB, 4 * GB, 'Maximum size of a request body if the trigger declares files.'),
  bodyValuesMax: whole(200_000, 100, 100_000_000, 'Maximum number of values in a JSON body.'),
  formFieldsMax: whole(10_000, 1, 10_000_000, 'Maximum number of fields in a form, and of parameters in a query.'),
  requestFilesMax: whole(1_000, 0, 100_000, 'Maximum number of files in a request.'),
  bodyRatioMax: whole(
    100,
    1,
    100_000,
    'Maximum ratio between the decompressed and the compressed size of a body beyond 1 MB (64 KB for visitors).',
  ),
  anonymousBodyBytesMax: bytes(MB, KB, GB, 'Maximum size of a body from a visitor without a key or signature.'),
  anonymousBodyBytesMaxFiles: bytes(
    10 * MB,
    KB,
    4 * GB,
    'Maximum size of a body with files from a visitor without a key or signature.',
  ),
  anonymousBodyValuesMax: whole(
    20_000,
    100,
    100_000_000,
    'Maximum number of values in a JSON body from a visitor without a key or signature.',
  ),
  anonymousFormFieldsMax: whole(
    1_000,
    1,
    10_000_000,
    'Maximum number of fields in a form from a visitor without a key or signature.',
  ),
  anonymousFilesMax: whole(
    10,
    0,
    100_000,
    'Maximum number of files in a request from a visitor without a key or signature.',
  ),
  bodiesBytesMax: bytes(
    128 * MB,
    MB,
    64 * GB,
    'Memory for the bodies of all requests in progress. Beyond that, callers get 503.',
  ),
  cancelOnDisconnect: plainBoolean({
    default: true,
    description: 'Whether a run is cancelled when its caller disconnects.',
  }),
  watchersMax: whole(1000, 1, 1_000_000, 'Concurrent watchers of live runs.'),
  manualRunsBytes: bytes(
    64 * MB,
    0,
    64 * GB,
    'Memory for the outputs of manual runs, so that a run can be repeated from any of its blocks.',
  ),
  streamBufferBytes: bytes(MB, KB, GB, 'Text that is buffered for a slow reader of a stream.'),

  outboundAllow: plainArray(plainString({ pattern: '^[^\\s,]+$' }), {
    default: [],
    range: 'loopback, private, CIDR blocks, host or host:port, comma-separated',
    description: 'Non-public addresses that workflows may call.',
  }),
  outboundConcurrency: whole(192, 1, 65_000, 'Concurrent requests of workflows.'),
  outboundHostConcurrency: whole(
    50,
    1,
    65_535,
    'Concurrent requests of one workspace to one origin (scheme, host and port). A host name gets four times as many.',
  ),

  chatVisitorPerMinute: whole(
    20,
    1,
    1_000_000_000,
    'Messages per minute that one address may send to one chat without a key.',
  ),
  webhookVisitorPerMinute: whole(
    600,
    1,
    1_000_000_000,
    'Requests per minute that one address may send to one webhook trigger without authentication.',
  ),
  publicChatUsdPerDay: plainNumber({
    default: 10,
    minimum: 0,
    maximum: 1_000_000_000,
    description: 'US dollars that the runs of one public chat may cost in a day (UTC). Then it responds with 402.',
  }),
  plan: oneOf(tierNames, 'enterprise', 'Tier of accounts without a tier of their own.'),
  ...tierSettings,
  webhookMaxAttempts: whole(5, 1, 50, 'Maximum number of attempts of a webhook delivery.'),
  webhookTimeoutMs: whole(30_000, 100, 120_000, 'Timeout of one webhook delivery attempt in milliseconds.'),
  webhookConcurrency: whole(500, 1, 65_535, 'Concurrent webhook delivery attempts.'),
  webhookHostConcurrency: whole(
    10,
    1,
    65_535,
    'Concurrent webhook delivery attempts to one origin (scheme, host and port).',
  ),
  workspaceFilesMax: whole(1_000_000, 0, 1_000_000_000, 'Maximum number of stored files of one workspace.'),
  workspaceFileBytes: bytes(10 * GB, 0, 2 ** 50, 'Maximum size of all stored files of one workspace.'),
  fileUrlTtlS: whole(3600, 1, 604_800, 'Seconds for which a signed file URL is valid.'),
  modelPrices: plainOptional(
    plainString({ minLength: 1, description: 'File with model prices that override the built-in table.' }),
  ),
  s3Bucket: plainOptional(plainString({ minLength: 1, description: 'S3 bucket for files.' })),
  s3Endpoint: plainOptional(plainString({ ...webAddress, description: 'Address of the S3 service.' })),
  s3Region: plainOptional(plainString({ minLength: 1, description: 'Region of the bucket.' })),
  s3ForcePathStyle: plainBoolean({
    default: false,

    description: 'Whether requests name the bucket in the path instead of the host name.',
  }),
  s3Prefix: plainOptional(plainString({ minLength: 1, description: 'Prefix of every key in the bucket.' })),
  s3PublicEndpoint: plainOptional(
    plainString({ ...webAddress, description: 'Address of the S3 service in URLs for callers.' }),
  ),

  url: plainString({
    default: 'http://127.0.0.1:3000',
    pattern: '^https?://[^\\s/?#]+(/[^\\s?#]*)?$',
    range: 'an http or https address',
    description: 'Service that `millrace workflows`, `millrace run ID` and `millrace logs` use.',
  }),
  apiKey: plainOptional(
    plainString({
      minLength: 1,
      secret: true,
      flag: 'key',
      description: 'API key that `millrace workflows`, `millrace run ID` and `millrace logs` use.',
    }),
  ),
}
export type ConfigSchema = TObject<typeof properties>

/** The current values, frozen. */
export type Config = Readonly<Static<ConfigSchema>>

/** A limit with the name of its setting. */
export function limitOf(config: Config, member: NumberMember): Limit {
  return { max: config[member], setting: settingName(member) }
}

/** The settings that are numbers. */
type NumberMember = { [Member in keyof Config]-?: Config[Member] extends number ? Member : never }[keyof Config]

/** `logLevel` is `MILLRACE_LOG_LEVEL`. */
function settingName(member: string): string {
  return `MILLRACE_${member.replaceAll(/[A-Z]/g, (letter) => `_${letter}`).toUpperCase()}`
}

/** `logLevel` is `--log-level`. */
function flagName(member: string): string {
  return member.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** The limits of documents and runs. */
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
  /** The valid values, for people. */
  range: string
  default: SettingValue | null
  secret: boolean
  /** Whether it is a size, which may be written with KB, MB or GB. */
  bytes: boolean
  /** Whether it is true or false. */
  boolean: boolean
}
export type SettingValue = string | number | boolean | readonly string[]

/** An invalid value. */
export type ConfigProblem = { name: string; value: string; range: string; source: ConfigSource }

/** The given texts by source: flags by name without dashes, others by the setting's name. */
export type ConfigTexts = {
  flags?: Readonly<Record<string, string>>
  environment?: Readonly<Record<string, string | undefined>>
  file?: Readonly<Record<string, string>>
}

export type ResolvedConfig = {
  config: Config
  /** The source of each value. */
  sources: Readonly<Record<keyof Config, ConfigSource>>
  /** All invalid values. If there are any, `config` must not be used. */
  problems: readonly ConfigProblem[]
}

/** Every setting, in the order of the schema above. */
export const settings: readonly Setting[] = Object.freeze(
  Object.entries(properties as Record<string, TSchema>).map(([member, schema]) => {
    return Object.freeze({
      name: settingName(member),
      flag: (schema['flag'] as string | undefined) ?? flagName(member),
      member: member as keyof Config,
      description: (schema.description ?? '') + (schema['pending'] ? ' Has no effect yet.' : ''),
      // Computed on request, because the service starts without it.
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

/** Resolves each setting: flag, environment, file, default. Pure. An empty text counts as absent. */
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

/** The process's environment. No other code reads it. */
export function environment(): Readonly<Record<string, string | undefined>> {
  return process.env
}

/** The environment for a new process of this executable: this one with the values in `more`. */
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

/** The value of a text, or undefined when it is invalid for the schema. */
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

/** `10 MB`: the size in the largest unit in which it is a whole number. */
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
