#!/usr/bin/env bun
import { raiseFetchCap } from './cli/raise-fetch-cap.ts'
import { environment } from './config.ts'

const words = Bun.argv.slice(2)
raiseFetchCap(words, environment())
const { runCommandLine } = await import('./cli/command-line.ts')
const { processTerminal } = await import('./cli/support/terminal.ts')
process.exit(await runCommandLine(words, { terminal: processTerminal, environment: environment() }))
