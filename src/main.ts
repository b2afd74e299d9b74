#!/usr/bin/env bun
import { runCommandLine } from './cli/command-line.ts'
import { processTerminal } from './cli/terminal.ts'
import { environment } from './config.ts'

const code = await runCommandLine(Bun.argv.slice(2), { terminal: processTerminal, environment: environment() })
process.exit(code)
