#!/usr/bin/env bun
import { raiseFetchCap } from './cli/raise-fetch-cap.ts'
import { environment } from './config.ts'
import { sqliteWord } from './databases/sqlite/messages.ts'

const words = Bun.argv.slice(2)
if (words[0] === sqliteWord) {
  const { serveSqlite } = await import('./databases/sqlite/process.ts')
  await serveSqlite()
  process.exit(0)
}
raiseFetchCap(words, environment())
const { runCommandLine } = await import('./cli/command-line.ts')
const { processTerminal } = await import('./cli/support/terminal.ts')
process.exit(await runCommandLine(words, { terminal: processTerminal, environment: environment() }))
