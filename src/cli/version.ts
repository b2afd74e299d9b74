import type { Command } from './command.ts'

/** What this executable was built from. `scripts/build.ts` puts the values in place of the names. */
declare const MILLRACE_BUILD_VERSION: string
declare const MILLRACE_BUILD_COMMIT: string

export const build = {
  version: typeof MILLRACE_BUILD_VERSION === 'string' ? MILLRACE_BUILD_VERSION : 'from source',
  commit: typeof MILLRACE_BUILD_COMMIT === 'string' ? MILLRACE_BUILD_COMMIT : 'from source',
  bun: Bun.version,
} as const

export const version: Command = {
  summary: 'prints the version, the version of Bun inside, and the commit',
  json: true,
  examples: ['version', 'version --json'],
  async run({ terminal, json }) {
    terminal.print(
      json ? JSON.stringify(build) : `millrace ${build.version} (Bun ${build.bun}, commit ${build.commit})`,
    )
    return 0
  },
}
