import { settings } from '../config.ts'
import { AppError, messageOf } from '../domain/errors.ts'
import { type Command, CommandError, type CommandGroup, type ExitCode, UsageError } from './command.ts'
import { type ParsedArguments, parseArguments } from './support/arguments.ts'
import { commandHelp, groupHelp, overviewHelp } from './support/help.ts'
import { didYouMean } from './support/nearest.ts'
import { loadSettings } from './support/settings.ts'
import type { Terminal } from './support/terminal.ts'

/** The parts of the process that the command line may use. */
export type CommandLineWorld = {
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
}

/** All commands. Each is loaded when it is called, so that `version` does not load the service's code. */
const commands: Readonly<Record<string, { summary: string; load(): Promise<Command | CommandGroup> }>> = {
  serve: {
    summary: 'starts the service (the default without a command)',
    load: async () => (await import('./commands/serve.ts')).serve,
  },
  init: {
    summary: 'creates the data folder with an owner, a workspace and a key',
    load: async () => (await import('./commands/init.ts')).init,
  },
  keys: {
    summary: 'create, list, revoke: API keys',
    load: async () => (await import('./commands/keys.ts')).keys,
  },
  users: {
    summary: 'create, list, password, link, plan: accounts',
    load: async () => (await import('./commands/users.ts')).users,
  },
  workspaces: {
    summary: 'create, list, share, unshare: workspaces of the installation',
    load: async () => (await import('./commands/workspaces.ts')).workspaces,
  },
  env: {
    summary: 'set, list, unset, rotate, discard: environment variables of a workspace',
    load: async () => (await import('./commands/env.ts')).env,
  },
  connectors: {
    summary: 'list, show, push, import, delete: services with operations that blocks call',
    load: async () => (await import('./commands/connectors.ts')).connectors,
  },
  credentials: {
    summary: 'list, show, set, delete, test, sign-in: credentials of a workspace for other services',
    load: async () => (await import('./commands/credentials.ts')).credentials,
  },
  workflows: {
    summary: 'push, import, list, export, deploy, undeploy, versions, activate, status',
    load: async () => (await import('./commands/workflows.ts')).workflows,
  },
  run: {
    summary: 'runs a workflow: a file on this machine, or a deployed workflow by its ID',
    load: async () => (await import('./commands/run.ts')).run,
  },
  test: {
    summary: 'tests workflows: runs the *.test.json files beside documents, with mocked requests',
    load: async () => (await import('./commands/test.ts')).test,
  },
  logs: {
    summary: 'prints log entries of a service and follows new ones',
    load: async () => (await import('./commands/logs.ts')).logs,
  },
  config: {
    summary: 'prints every setting and its current value',
    load: async () => (await import('./commands/config.ts')).config,
  },
  backup: {
    summary: 'writes a copy of the installation to a tar file, even while the service runs',
    load: async () => (await import('./commands/backup.ts')).backup,
  },
  restore: {
    summary: 'creates an installation from a backup',
    load: async () => (await import('./commands/restore.ts')).restore,
  },
  processes: {
    summary: 'list: the processes that serve an installation on PostgreSQL',
    load: async () => (await import('./commands/processes.ts')).processes,
  },
  drain: {
    summary: 'lets a process finish its work and take no more',
    load: async () => (await import('./commands/processes.ts')).drain,
  },
  move: {
    summary: 'moves the installation between a data folder (SQLite) and a PostgreSQL database',
    load: async () => (await import('./commands/move.ts')).move,
  },
  mail: {
    summary: 'sends a test e-mail over the mail server of the service',
    load: async () => (await import('./commands/mail.ts')).mail,
  },
  doctor: {
    summary: 'checks settings, data folder, disk, database, keys and clock, and tells you what to do',
    load: async () => (await import('./doctor/doctor.ts')).doctor,
  },
  health: {
    summary: 'asks the service whether it is ready',
    load: async () => (await import('./commands/health.ts')).health,
  },
  version: {
    summary: 'prints version, Bun version and commit',
    load: async () => (await import('./commands/version.ts')).version,
  },
}

/** Runs the command that the words after `millrace` name. Reports errors on standard error; returns the exit code. */
export async function runCommandLine(words: readonly string[], world: CommandLineWorld): Promise<ExitCode> {
  const { terminal } = world
  try {
    return await dispatch(words, world)
  } catch (error) {
    const known = error instanceof UsageError || error instanceof CommandError
    if (known || error instanceof AppError) terminal.say(`millrace: ${error.message}`)
    else terminal.say(`millrace: ${error instanceof Error ? (error.stack ?? error.message) : messageOf(error)}`)
    if (known && error.hint) terminal.say(error.hint)
    return error instanceof UsageError ? 2 : 1
  }
}

async function dispatch(words: readonly string[], world: CommandLineWorld): Promise<ExitCode> {
  const first = words[0]
  if (first === '--help' || first === '-h' || (first === 'help' && words.length === 1)) {
    const rows = Object.entries(commands).map(([name, { summary }]) => [name, summary] as const)
    world.terminal.print(overviewHelp(rows))
    return 0
  }
  if (first === 'help') return dispatch([...words.slice(1), '--help'], world)
  if (first === '--version' || first === '-v') return dispatch(['version', ...words.slice(1)], world)
  // Without a command, `serve` is the default.
  if (first === undefined || first.startsWith('-')) return dispatch(['serve', ...words], world)

  const entry = Object.hasOwn(commands, first) ? commands[first] : undefined
  if (!entry) {
    throw new UsageError(
      `Unknown command "${first}".${didYouMean(first, Object.keys(commands))}`,
      'All commands: millrace --help',
    )
  }
  const loaded = await entry.load()
  if (!('commands' in loaded)) return call(first, loaded, words.slice(1), world)

  const second = words[1]
  if (second === '--help' || second === '-h') {
    world.terminal.print(groupHelp(first, loaded))
    return 0
  }
  const names = Object.keys(loaded.commands)
  const inner = second !== undefined && Object.hasOwn(loaded.commands, second) ? loaded.commands[second] : undefined
  if (inner) return call(`${first} ${second}`, inner, words.slice(2), world)
  throw new UsageError(
    second === undefined || second.startsWith('-')
      ? `millrace ${first} needs one of: ${names.join(', ')}.`
      : `Unknown command "${first} ${second}".${didYouMean(second, names)}`,
    `More: millrace ${first} --help`,
  )
}

async function call(name: string, command: Command, words: readonly string[], world: CommandLineWorld) {
  const flags = settings.map((setting) => setting.flag)
  const booleans = settings.filter(({ boolean }) => boolean).map((setting) => setting.flag)
  let parsed: ParsedArguments
  try {
    parsed = parseArguments(command, words, flags, booleans)
  } catch (error) {
    if (error instanceof UsageError) throw new UsageError(error.message, `More: millrace ${name} --help`)
    throw error
  }
  if (parsed.help) {
    world.terminal.print(commandHelp(name, command))
    return 0
  }
  const { config, ...loaded } = loadSettings({
    flags: parsed.settings,
    environment: world.environment,
    file: parsed.configFile,
  })
  return command.run({
    arguments: parsed.arguments,
    flags: parsed.flags,
    lists: parsed.lists,
    switches: parsed.switches,
    json: parsed.json,
    terminal: world.terminal,
    environment: world.environment,
    settings: loaded,
    config,
  })
}
