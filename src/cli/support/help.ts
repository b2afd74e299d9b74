import { settings } from '../../config.ts'
import type { Command, CommandGroup } from '../command.ts'

/** The help of the whole command line, with one line per command. */
export function overviewHelp(commands: readonly (readonly [name: string, summary: string])[]): string {
  return [
    'Workflow automation that runs from one file.',
    '',
    'Usage: millrace [COMMAND] [ARGUMENTS] [FLAGS]',
    '',
    'Commands:',
    ...table(commands),
    '',
    'Every command has --help with examples; those that print data have --json.',
    'Every setting is a flag too: --port 4000 is MILLRACE_PORT=4000. See: millrace config',
    '',
    'Exit codes: 0 success, 1 failure, 2 wrong usage.',
  ].join('\n')
}

/** The help of a group: its commands. */
export function groupHelp(name: string, group: CommandGroup): string {
  const commands = Object.entries(group.commands)
  return [
    `millrace ${name}: ${group.summary}.`,
    '',
    'Commands:',
    ...table(commands.map(([own, command]) => [`${name} ${own}`, command.summary])),
    '',
    'Examples:',
    ...commands.flatMap(([, command]) => command.examples.slice(0, 1)).map((example) => `  millrace ${example}`),
    '',
    `More about a command: millrace ${name} ${commands[0]?.[0] ?? ''} --help`,
  ].join('\n')
}

/** The help of one command. */
export function commandHelp(name: string, command: Command): string {
  const words = (command.arguments ?? []).map((argument) => {
    const word = argument.many ? `${argument.name}…` : argument.name
    return argument.optional ? `[${word}]` : word
  })
  const flags = Object.entries(command.flags ?? {}).map(
    ([flag, { value, description }]) => [value ? `--${flag} ${value}` : `--${flag}`, description] as const,
  )
  if (command.json) flags.push(['--json', command.json === 'lines' ? 'print lines of JSON' : 'print one JSON document'])
  const own = settings.filter((setting) => command.settings?.includes(setting.member))
  return [
    `millrace ${name}: ${command.summary}.`,
    ...(command.details ? ['', command.details] : []),
    '',
    `Usage: ${['millrace', name, ...words, '[FLAGS]'].join(' ')}`,
    ...section(
      'Arguments',
      (command.arguments ?? []).map(({ name, description }) => [name, description] as const),
    ),
    ...section('Flags', [...flags, ['--config FILE', 'read settings from a file of NAME=value lines']]),
    ...section(
      'Settings (as a flag, in the environment, or in the --config file)',
      own.map((setting) => [`--${setting.flag}`, `${setting.name}: ${setting.description}`] as const),
    ),
    '',
    'Examples:',
    ...command.examples.map((example) => `  millrace ${example}`.trimEnd()),
  ].join('\n')
}

function section(title: string, rows: readonly (readonly [string, string])[]): string[] {
  return rows.length === 0 ? [] : ['', `${title}:`, ...table(rows)]
}

/** Two columns; the second starts after the widest entry of the first. */
export function table(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([left]) => left.length))
  return rows.map(([left, right]) => `  ${left.padEnd(width)}  ${right}`.trimEnd())
}
