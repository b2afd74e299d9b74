import type { Config } from '../config.ts'
import type { Terminal } from './terminal.ts'

/** One thing that the command line can do: a file in this folder defines one with its texts and its work. */
export type Command = {
  /** One line for the list of commands. */
  summary: string
  /** More about it, for its own help; plain lines. */
  details?: string
  arguments?: readonly Argument[]
  /** By name without dashes. */
  flags?: Readonly<Record<string, Flag>>
  /** Settings that its help names; any other works as a flag too. */
  settings?: readonly (keyof Config)[]
  /** Whether it prints data, which `--json` makes one JSON document, or a line of JSON for each thing. */
  json?: boolean | 'lines'
  /** Command lines that work, without `millrace`. */
  examples: readonly string[]
  run(call: Call): Promise<ExitCode>
}

/** Commands under one name: `keys create`, `keys list`. */
export type CommandGroup = { summary: string; commands: Readonly<Record<string, Command>> }

/** 0 done, 1 failed, 2 wrong usage. */
export type ExitCode = 0 | 1 | 2

/** `many`: this and all that follow. Arguments are required unless `optional`. */
export type Argument = { name: string; description: string; optional?: boolean; many?: boolean }

/** `value`: what its value is called in the help; without it the flag is a switch. */
export type Flag = { value?: string; description: string }

/** What a command was called with, and all that it may touch of the process. */
export type Call = {
  arguments: readonly string[]
  flags: Readonly<Record<string, string>>
  switches: ReadonlySet<string>
  json: boolean
  terminal: Terminal
  environment: Readonly<Record<string, string | undefined>>
  settings: LoadedSettings
  config: Config
}

/** Where the settings came from, for `config` and `doctor`. */
export type LoadedSettings = {
  sources: Readonly<Record<keyof Config, string>>
  /** Things that look like mistakes but stop nothing. */
  warnings: readonly string[]
}

/** A wrong command line: exit 2. `hint` is one more line: what to do. */
export class UsageError extends Error {
  readonly hint: string | undefined
  constructor(message: string, hint?: string) {
    super(message)
    this.name = 'UsageError'
    this.hint = hint
  }
}

/** What was asked for could not be done: exit 1. `hint` is one more line: what to do. */
export class CommandError extends Error {
  readonly hint: string | undefined
  constructor(message: string, hint?: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.name = 'CommandError'
    this.hint = hint
  }
}
