import type { Config } from '../config.ts'
import type { Terminal } from './support/terminal.ts'

/** One command of the command line. Each file in `commands/` defines one, with its texts and its work. */
export type Command = {
  /** One line for the list of commands. */
  summary: string
  /** The description in the command's own help, as plain lines. */
  details?: string
  arguments?: readonly Argument[]
  /** By name without dashes. */
  flags?: Readonly<Record<string, Flag>>
  /** The settings that its help lists. Every other setting works as a flag too. */
  settings?: readonly (keyof Config)[]
  /** Whether it prints data. With `--json` that is one JSON document, or one line of JSON per item. */
  json?: boolean | 'lines'
  /** Working examples, without `millrace`. */
  examples: readonly string[]
  run(call: Call): Promise<ExitCode>
}

/** Commands with a common name: `keys create`, `keys list`. */
export type CommandGroup = { summary: string; commands: Readonly<Record<string, Command>> }

/** 0 success, 1 failure, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2

/** `many`: accepts one or more. Arguments are required unless `optional`. */
export type Argument = { name: string; description: string; optional?: boolean; many?: boolean }

/** `value`: the placeholder of its value in the help; without it, the flag is a switch. `many`: may be repeated. */
export type Flag = { value?: string; description: string; many?: true }

/** The arguments of a call, and the parts of the process that a command may use. */
export type Call = {
  arguments: readonly string[]
  /** The last value of a flag that was given repeatedly. */
  flags: Readonly<Record<string, string>>
  /** All values of the flags that may be given repeatedly. */
  lists: Readonly<Record<string, readonly string[]>>
  switches: ReadonlySet<string>
  json: boolean
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
  settings: LoadedSettings
  config: Config
}

/** The source of each setting, for `config` and `doctor`. */
export type LoadedSettings = {
  sources: Readonly<Record<keyof Config, string>>
  /** Probable mistakes that do not prevent the command. */
  warnings: readonly string[]
}

/** A wrong command line: exit code 2. `hint` is an additional line that says what to do. */
export class UsageError extends Error {
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
  }
}

/** The command failed: exit code 1. `hint` is an additional line that says what to do. */
export class CommandError extends Error {
  readonly hint: string | undefined
  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.hint = hint
  }
}
