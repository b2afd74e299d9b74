import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

/** A real third-party S3 server with the bucket `files`. It checks signatures and their expiry. */
export class S3Server {
  readonly url: string
  readonly #process: Bun.Subprocess
  readonly #directory: string

  static async start(): Promise<S3Server> {
    const directory = mkdtempSync(join(tmpdir(), 'millrace-s3-'))
    const server = Bun.spawn([process.execPath, join(import.meta.dir, 's3-process.cjs'), directory], { stdout: 'pipe' })
    const reader = server.stdout.getReader()
    const { value } = await reader.read()
    const port = Number(Buffer.from(value ?? '').toString())
    if (!(port > 0)) throw new Error('The S3 server did not start')
    return new S3Server(`http://127.0.0.1:${port}`, server, directory)
  }

  private constructor(url: string, process: Bun.Subprocess, directory: string) {
    this.url = url
    this.#process = process
    this.#directory = directory
  }

  /** The settings that point to it. */
  get flags(): Record<string, string> {
    return {
      's3-bucket': 'files',
      's3-endpoint': this.url,
      's3-region': 'us-east-1',
      's3-force-path-style': 'true',
    }
  }

  async stop(): Promise<void> {
    this.#process.kill()
    await this.#process.exited
    rmSync(this.#directory, { recursive: true, force: true })
  }
}
