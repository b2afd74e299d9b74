import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { LoadResult } from './load.ts'
import type { PacedResult } from './paced.ts'

/** A process to measure, with an empty data folder. */
export type Service = { url: string; pid: number; stop(): Promise<void> }

/** An installation in a folder, with its key. */
export type Installation = { apiKey: string; workspaceId: string; directory: string }

/** The executable, installed and serving. */
export type Millrace = Service & Installation

export const executable = join(import.meta.dir, '../..', 'dist', 'millrace')

/** Starts an executable with a temporary data folder, which is deleted at the end. */
export async function startMillrace(
  environment: Record<string, string> = {},
  program: string = executable,
): Promise<Millrace> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bench-'))
  const service = await serveMillrace(initMillrace(directory, environment, program), environment, program)
  return {
    ...service,
    async stop() {
      await service.stop()
      rmSync(directory, { recursive: true })
    },
  }
}

export function initMillrace(
  directory: string,
  environment: Record<string, string> = {},
  program: string = executable,
): Installation {
  const env = { ...Bun.env, MILLRACE_DATA: directory, ...environment }
  const init = Bun.spawnSync([program, 'init', '--json'], { env })
  if (init.exitCode !== 0) throw new Error(`init failed: ${init.stderr.toString()}`)
  return { ...(JSON.parse(init.stdout.toString()) as Installation), directory }
}

/** Starts the executable with an existing data folder, which is kept. */
export async function serveMillrace(
  installation: Installation,
  environment: Record<string, string> = {},
  program: string = executable,
): Promise<Millrace> {
  const env = { ...Bun.env, MILLRACE_DATA: installation.directory, MILLRACE_PORT: '0', ...environment }
  const server = Bun.spawn([program, 'serve'], { env, stdout: 'pipe', stderr: 'inherit' })
  const url = await firstAddress(server.stdout)
  return {
    ...installation,
    url,
    pid: server.pid,
    async stop() {
      server.kill('SIGTERM')
      await server.exited
    },
  }
}

/** Starts the bare server of `bare-server.ts`. */
export async function startBare(): Promise<Service> {
  const directory = mkdtempSync(join(tmpdir(), 'millrace-bare-'))
  const script = join(import.meta.dir, 'bare-server.ts')
  const server = Bun.spawn([process.execPath, script, join(directory, 'bare.db')], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const port = (await firstLine(server.stdout)).trim()
  return {
    url: `http://127.0.0.1:${port}/execute`,
    pid: server.pid,
    async stop() {
      server.kill()
      await server.exited
      rmSync(directory, { recursive: true })
    },
  }
}

/** Creates and deploys a workflow; returns the address of its endpoint. */
export async function deploy({ url, apiKey }: Millrace, document: object): Promise<string> {
  const call = async (path: string, body?: object): Promise<{ id: string }> => {
    const response = await fetch(url + path, {
      method: 'POST',
      headers: { 'x-api-key': apiKey, 'content-type': 'application/json' },
      ...(body ? { body: JSON.stringify(body) } : {}),
    })
    if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
    return (await response.json()) as { id: string }
  }
  const { id } = await call('/api/workflows', document)
  await call(`/api/workflows/${id}/deploy`)
  return `${url}/api/workflows/${id}/execute`
}

export type LoadOptions = { url: string; connections: number; ms: number; body: string; headers?: readonly string[] }

/** Sends load to an address from another process. */
export async function load({ url, connections, ms, body, headers = [] }: LoadOptions): Promise<LoadResult> {
  const script = join(import.meta.dir, 'load.ts')
  const generator = Bun.spawn([process.execPath, script, url, `${connections}`, `${ms}`, body, ...headers], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const result = JSON.parse(await new Response(generator.stdout).text()) as LoadResult
  if (result.failed > 0)
    throw new Error(`${result.failed} of ${result.requests} requests failed: ${result.firstFailure}`)
  return result
}

/** Sends requests at a steady rate to an address from another process. */
export async function pacedLoad({ url, perSecond, ms, body, headers = [] }: PacedOptions): Promise<PacedResult> {
  const script = join(import.meta.dir, 'paced.ts')
  const generator = Bun.spawn([process.execPath, script, url, `${perSecond}`, `${ms}`, body, ...headers], {
    stdout: 'pipe',
    stderr: 'inherit',
  })
  const result = JSON.parse(await new Response(generator.stdout).text()) as PacedResult
  if (result.failed > 0) throw new Error(`${result.failed} of ${result.requests} requests failed`)
  return result
}

export type PacedOptions = Omit<LoadOptions, 'connections'> & { perSecond: number }

/** The resident memory of a process that it does not share with others, in MB. */
export async function residentMb(pid: number): Promise<number> {
  const status = await Bun.file(`/proc/${pid}/status`).text()
  return Number(/VmRSS:\s+(\d+) kB/.exec(status)?.[1] ?? 0) / 1024
}

export function median(values: readonly number[]): number {
  return percentile(values, 0.5)
}

/** `share` is between 0 and 1. */
export function percentile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

async function firstAddress(stdout: ReadableStream<Uint8Array>): Promise<string> {
  const text = await readUntil(stdout, /https?:\/\/[^\s/]+/)
  return /https?:\/\/[^\s/]+/.exec(text)?.[0] ?? ''
}

export function firstLine(stdout: ReadableStream<Uint8Array>): Promise<string> {
  return readUntil(stdout, /\n/)
}

/** Keeps reading afterwards, so that the process never waits for a full pipe. */
async function readUntil(stdout: ReadableStream<Uint8Array>, pattern: RegExp): Promise<string> {
  const reader = stdout.getReader()
  const decoder = new TextDecoder()
  let text = ''
  while (!pattern.test(text)) {
    const { value, done } = await reader.read()
    if (done) throw new Error(`The process ended before it was ready: ${text}`)
    text += decoder.decode(value, { stream: true })
  }
  const drain = async () => {
    while (!(await reader.read()).done) {}
  }
  drain().catch(() => undefined)
  return text
}
