import type { Static, TObject, TSchema } from '@sinclair/typebox'
import { type Limit, type Limits, limitSettings } from './domain/limits.ts'
import { settingSchemas } from './setting-schemas.ts'

/** The current values, frozen. */
export type Config = Readonly<Static<TObject<typeof settingSchemas>>>

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

/** The database of the installation: a file in the data folder, or a PostgreSQL server. */
export function storeKindOf({ store }: Pick<Config, 'store'>): 'sqlite' | 'postgres' {
  return store === 'sqlite' ? 'sqlite' : 'postgres'
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
  /** Whether it is a time in milliseconds, which may be written with s, m, h or d. */
  duration: boolean
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

/** Every setting, in the order of its schemas. */
export const settings: readonly Setting[] = Object.freeze(
  Object.entries(settingSchemas as Record<string, TSchema>).map(([member, schema]) => {
    return Object.freeze({
      name: settingName(member),
      flag: (schema['flag'] as string | undefined) ?? flagName(member),
      member: member as keyof Config,
      description: schema.description ?? '',
      // Computed on request, because the service starts without it.
      get range() {
        return rangeOf(schema)
      },
      default: (schema.default as SettingValue | undefined) ?? null,
      secret: schema['secret'] === true,
      bytes: schema['unit'] === 'bytes',
      duration: schema['unit'] === 'duration',
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
    const value = text === undefined ? (setting.default ?? undefined) : parse(settingSchemas[setting.member], text)
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

/** The command of this program: the executable, or Bun with the script of the program. */
export function ownProgram(): string[] {
  const isExecutable = import.meta.url.includes('/$bunfs/')
  return [process.execPath, ...(isExecutable ? [] : [Bun.fileURLToPath(new URL('./main.ts', import.meta.url))])]
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

const unitBytes: Readonly<Record<string, number>> = {
  '': 1,
  B: 1,
  KB: 1024,
  MB: 1024 ** 2,
  GB: 1024 ** 3,
  TB: 1024 ** 4,
}

const unitMs: Readonly<Record<string, number>> = { '': 1, MS: 1, S: 1_000, M: 60_000, H: 3_600_000, D: 86_400_000 }

function parseWhole(schema: TSchema, text: string): number | undefined {
  const isDuration = schema['unit'] === 'duration'
  const pattern = isDuration
    ? /^(\d+(?:\.\d+)?) ?(ms|[smhd]|)$/i
    : schema['unit'] === 'bytes'
      ? /^(\d+(?:\.\d+)?) ?([KMGT]?B|)$/i
      : /^(\d+)()$/
  const [, digits, unit] = pattern.exec(text) ?? []
  if (digits === undefined || unit === undefined) return undefined
  const value = Number(digits) * ((isDuration ? unitMs : unitBytes)[unit.toUpperCase()] ?? Number.NaN)
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
  if (schema['unit'] === 'duration') {
    return `${durationText(minimum)} to ${durationText(maximum)}, as a number of milliseconds or with s, m, h or d`
  }
  return schema['unit'] === 'bytes'
    ? `${sizeText(minimum)} to ${sizeText(maximum)}, as a number of bytes or with KB, MB, GB`
    : `a whole number from ${minimum} to ${maximum}`
}

/** `90m`: the time in the largest unit in which it is a whole number. */
export function durationText(ms: number): string {
  const [unit, factor] = Object.entries(unitMs).findLast(([, each]) => ms % each === 0) ?? ['MS', 1]
  return `${ms / factor}${unit.toLowerCase()}`
}

/** `10 MB`: the size in the largest unit in which it is a whole number. */
export function sizeText(size: number): string {
  const units = ['bytes', 'KB', 'MB', 'GB', 'TB']
  let step = 0
  for (; step < units.length - 1 && size !== 0 && size % 1024 === 0; step++) size /= 1024
  return `${size} ${units[step]}`
}
