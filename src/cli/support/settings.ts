import { readFileSync } from 'node:fs'
import { type Config, type ConfigProblem, resolveConfig, settings } from '../../config.ts'
import { messageOf } from '../../domain/errors.ts'
import { type LoadedSettings, UsageError } from '../command.ts'
import { EnvFileError, parseEnvFile } from './env-file.ts'
import { didYouMean } from './nearest.ts'

export type SettingsRequest = {
  /** By flag name. */
  flags: Readonly<Record<string, string>>
  environment: Readonly<Record<string, string | undefined>>
  /** `--config FILE` */
  file: string | undefined
}

/** The current settings. Throws `UsageError` with all invalid values at once. */
export function loadSettings(request: SettingsRequest): LoadedSettings & { config: Config } {
  const file = request.file === undefined ? {} : readSettingsFile(request.file)
  const { config, sources, problems } = resolveConfig({ flags: request.flags, environment: request.environment, file })
  if (problems.length > 0) throw new UsageError(problems.map(problemText).join('\n'), 'See: millrace config --help')
  const named = Object.fromEntries(
    Object.entries(sources).map(([member, source]) => [member, source === 'file' ? (request.file ?? source) : source]),
  ) as Record<keyof Config, string>
  return { config, sources: named, warnings: unknownNames(request.environment) }
}

function problemText({ name, value, range, source }: ConfigProblem): string {
  const from = { flag: 'on the command line', environment: 'in the environment', file: 'in the file', default: '' }
  return `${name} is "${value}" ${from[source]}; allowed: ${range}.`
}

/** Reads a `--config` file. An unknown name that starts like ours is an error; other names are ignored. */
function readSettingsFile(path: string): Record<string, string> {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw new UsageError(`The settings file ${path} cannot be read: ${messageOf(error)}.`)
  }
  try {
    const values = parseEnvFile(text)
    const unknown = unknownNames(values)
    if (unknown.length > 0) throw new UsageError(`In ${path}: ${unknown.join(' ')}`)
    return values
  } catch (error) {
    if (error instanceof EnvFileError) throw new UsageError(`${path}, line ${error.line}: ${error.message}.`)
    throw error
  }
}

function unknownNames(values: Readonly<Record<string, string | undefined>>): string[] {
  const names = settings.map((setting) => setting.name)
  const unknown = Object.keys(values).filter((name) => name.startsWith('MILLRACE_') && !names.includes(name))
  return unknown.map((name) => `Unknown setting ${name}.${didYouMean(name, names)}`)
}
