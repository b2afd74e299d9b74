import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cleanEnvironment, executable, temporaryFolder } from '../../support/executable.ts'
import { programPath } from '../../support/programs.ts'
import { serve } from '../../support/running-service.ts'
import { type CodeBlock, root } from './docs-blocks.ts'

/**
 * Runs the code blocks of a page in order in one shell, like a reader who copies one after another. The shell runs in a
 * temporary folder, with a service for this page. Throws an error with the page and the line of the failed command.
 */
export async function runBlocks(page: string, blocks: readonly CodeBlock[]): Promise<void> {
  using folder = temporaryFolder()
  const data = join(folder.path, 'service')
  const service = await serve(data, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
  try {
    const printed = (pattern: RegExp) => pattern.exec(service.output())?.[1] ?? ''
    const shellFolder = prepareFolder(folder.path)
    const shell = Bun.spawn(['bash', '-c', scriptOf(page, blocks, join(folder.path, 'blocks'))], {
      cwd: shellFolder,
      env: cleanEnvironment({
        HOME: shellFolder,
        PATH: `${join(folder.path, 'bin')}:${Bun.env['PATH']}`,
        MILLRACE_DATA: data,
        MILLRACE_URL: service.url,
        MILLRACE_API_KEY: printed(/API key\s+(\S+)/),
        WORKSPACE_ID: printed(/Workspace\s+(\S+)/),
        WORKFLOW_ID: printed(/api\/workflows\/([^/]+)\/execute/),
      }),
      stdin: 'ignore',
      stdout: 'pipe',
      stderr: 'pipe',
      timeout: timeLimitMs,
    })
    const [out, errors] = await Promise.all([new Response(shell.stdout).text(), new Response(shell.stderr).text()])
    const code = await shell.exited
    if (code === 0) return
    const place = /^FAILED (.*)$/m.exec(errors)?.[1] ?? `${page}: the shell exited with ${code}`
    throw new Error(`${place}\n${out.slice(-2000)}\n${errors.slice(-2000)}`)
  } finally {
    await service.kill('SIGTERM')
  }
}

const timeLimitMs = 120_000

/** Provides the executable, Bun and the samples, as a reader has them. Returns the working directory of the shell. */
function prepareFolder(folder: string): string {
  const bin = join(folder, 'bin')
  const shellFolder = join(folder, 'shell')
  for (const path of [bin, shellFolder]) mkdirSync(path)
  symlinkSync(executable(), join(bin, 'millrace'))
  symlinkSync(process.execPath, join(bin, 'bun'))
  symlinkSync(join(root, 'samples'), join(shellFolder, 'samples'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // Makes curl fail on a response with an error status.
  const curl = programPath('curl')
  writeFileSync(join(bin, 'curl'), `#!/bin/sh\nexec ${curl} --fail-with-body "$@"\n`, { mode: 0o755 })
  return shellFolder
}

/** Writes each block to a file with the line numbers of the page, so that the shell reports the right line. */
function scriptOf(page: string, blocks: readonly CodeBlock[], folder: string): string {
  const commands = blocks.map(({ line, language, code }) => {
    const file = join(folder, `${line}.${language}`)
    mkdirSync(dirname(file), { recursive: true })
    writeFileSync(file, `${'\n'.repeat(line - 1)}${code}\n`)
    if (language === 'sh') return `source ${file}`
    const command = language === 'ts' ? 'bun' : 'python3'
    return `${command} ${file} || fail ${line} ${command}`
  })
  return [
    'set -Eeo pipefail',
    `fail() { echo "FAILED ${page}:$1: $2" >&2; exit 1; }`,
    `trap 'fail "$LINENO" "$BASH_COMMAND"' ERR`,
    // Ends the background commands of a page with its shell.
    `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
    ...commands,
  ].join('\n')
}
