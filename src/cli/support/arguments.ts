import { type Argument, type Command, UsageError } from '../command.ts'
import { didYouMean } from './nearest.ts'

export type ParsedArguments = {
  arguments: readonly string[]
  /** The command's own flags that take a value. */
  flags: Readonly<Record<string, string>>
  /** All values of the flags that may be given repeatedly. */
  lists: Readonly<Record<string, readonly string[]>>
  /** The command's own flags that take none. */
  switches: ReadonlySet<string>
  /** Flags that name settings. */
  settings: Readonly<Record<string, string>>
  json: boolean
  help: boolean
  /** `--config FILE` */
  configFile: string | undefined
}

/**
 * Parses the words after the command's name: `--flag value`, `--flag=value`, switches and arguments in any order; after
 * `--` only arguments. A flag of the command hides a setting of the same name. `--no-auth` alone sets a boolean setting
 * to true. Throws `UsageError`.
 */
export function parseArguments(
  command: Command,
  words: readonly string[],
  settingFlags: readonly string[],
  booleanFlags: readonly string[] = [],
) {
  const positional: string[] = []
  const flags: Record<string, string> = {}
  const lists: Record<string, string[]> = {}
  const settings: Record<string, string> = {}
  const switches = new Set<string>()
  const switchNames = new Set(['help', ...(command.json ? ['json'] : [])])
  const valueNames = new Set(['config'])
  for (const [name, flag] of Object.entries(command.flags ?? {})) (flag.value ? valueNames : switchNames).add(name)
  const settingNames = new Set(settingFlags)

  for (let i = 0; i < words.length; i++) {
    const word = words[i]!
    if (word === '--') {
      positional.push(...words.slice(i + 1))
      break
    }
    if (word === '-h') switches.add('help')
    else if (!word.startsWith('-') || word === '-') positional.push(word)
    else {
      const equals = word.indexOf('=')
      const name = word.slice(word.startsWith('--') ? 2 : 1, equals === -1 ? undefined : equals)
      const given = equals === -1 ? undefined : word.slice(equals + 1)
      if (switchNames.has(name) && word.startsWith('--')) {
        if (given !== undefined) throw new UsageError(`--${name} takes no value.`)
        switches.add(name)
        continue
      }
      if (!word.startsWith('--') || !(valueNames.has(name) || settingNames.has(name))) {
        const known = [...switchNames, ...valueNames, ...settingNames]
        throw new UsageError(`Unknown flag ${word.split('=')[0]}.${didYouMean(name, known)}`)
      }
      const isAlone = given === undefined && booleanFlags.includes(name) && !isBoolean(words[i + 1])
      const value = given ?? (isAlone ? 'true' : words[++i])
      if (value === undefined) throw new UsageError(`--${name} needs a value: --${name} VALUE or --${name}=VALUE.`)
      if (command.flags?.[name]?.many) lists[name] = [...(lists[name] ?? []), value]
      if (valueNames.has(name)) flags[name] = value
      else settings[name] = value
    }
  }

  const { config: configFile, ...own } = flags
  const help = switches.has('help')
  if (!help) checkCount(command.arguments ?? [], positional)
  return {
    arguments: positional,
    flags: own,
    lists,
    switches,
    settings,
    json: switches.has('json'),
    help,
    configFile,
  } satisfies ParsedArguments as ParsedArguments
}

function isBoolean(word: string | undefined): boolean {
  return word !== undefined && /^(true|false|1|0)$/i.test(word)
}

function checkCount(expected: readonly Argument[], given: readonly string[]): void {
  const missing = expected.find((argument, index) => !argument.optional && given[index] === undefined)
  if (missing) throw new UsageError(`${missing.name} is missing: ${missing.description}.`)
  if (given.length > expected.length && !expected.at(-1)?.many) {
    throw new UsageError(`Too many arguments: "${given[expected.length]}" is not expected.`)
  }
}
