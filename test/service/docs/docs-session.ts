import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { cleanEnvironment, executable, temporaryFolder } from '../../support/executable.ts'
import { serve } from '../../support/running-service.ts'
import { type CodeBlock, root } from './docs-blocks.ts'

/**
 * Runs the blocks of a page from top to bottom in one shell, as a reader does who copies one after another. The shell
 * stands in a temporary folder, beside a service that was started for this page. Throws with the page and the line
 * of the command that failed.
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
    const place = /^FAILED (.*)$/m.exec(errors)?.[1] ?? `${page}: the shell ended with ${code}`
    throw new Error(`${place}\n${out.slice(-2000)}\n${errors.slice(-2000)}`)
  } finally {
    await service.kill('SIGTERM')
  }
}

const timeLimitMs = 120_000

/** Prepares what a reader has: the executable, Bun and the samples. Returns the folder in which the shell starts. */
function prepareFolder(folder: string): string {
  const bin = join(folder, 'bin')
  const shellFolder = join(folder, 'shell')
  for (const path of [bin, shellFolder]) mkdirSync(path)
  symlinkSync(executable(), join(bin, 'millrace'))
  symlinkSync(process.execPath, join(bin, 'bun'))
  symlinkSync(join(root, 'samples'), join(shellFolder, 'samples'))
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'))
  // A response with an error status fails the command, which curl alone would not say.
  const curl = Bun.which('curl')
  writeFileSync(join(bin, 'curl'), `#!/bin/sh\nexec ${curl} --fail-with-body "$@"\n`, { mode: 0o755 })
  return shellFolder
}

/** Each block is a file in which its code has the line numbers of the page, so that the shell names the right line. */
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
    // Background commands of a page end with its shell.
    `trap 'kill $(jobs -p) 2>/dev/null || true' EXIT`,
    ...commands,
  ].join('\n')
}
