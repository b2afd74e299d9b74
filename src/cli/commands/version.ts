import type { Command } from '../command.ts'

/** The build of this executable. `scripts/build.ts` inserts the values. */
declare const MILLRACE_BUILD_VERSION: string
declare const MILLRACE_BUILD_COMMIT: string

export const build = {
  version: typeof MILLRACE_BUILD_VERSION === 'string' ? MILLRACE_BUILD_VERSION : 'from source',
  commit: typeof MILLRACE_BUILD_COMMIT === 'string' ? MILLRACE_BUILD_COMMIT : 'from source',
  bun: Bun.version,
} as const

export const version: Command = {
  summary: "prints the version, Bun's version, and the commit",
  json: true,
  examples: ['version', 'version --json'],
  async run({ terminal, json }) {
    terminal.print(
      json ? JSON.stringify(build) : `millrace ${build.version} (Bun ${build.bun}, commit ${build.commit})`,
    )
    return 0
  },
}
