import './built.ts'
import { cleanEnvironment, executable, millrace } from './executable.ts'
import { storeSettings } from './store/test-store.ts'

export type Installation = { userId: string; workspaceId: string; apiKey: string }

/** Creates an installation in a folder. */
export async function init(data: string, settings: Record<string, string> = {}): Promise<Installation> {
  const environment = { MILLRACE_DATA: data, ...settings }
  const { code, out, words } = await millrace(['init', '--json'], { environment })
  if (code !== 0) throw new Error(`init exited with ${code}: ${words}`)
  return JSON.parse(out) as Installation
}

export type Serving = {
  url: string
  pid: number
  /** The time from exec to the printed address. */
  startedInMs: number
  /** The output so far. */
  output(): string
  errors(): string
  kill(signal: 'SIGKILL' | 'SIGTERM'): Promise<number>
}

/** Starts `serve` and waits until it prints its address. */
export async function serve(
  data: string,
  environment: Record<string, string> = {},
  wrapper: readonly string[] = [],
): Promise<Serving> {
  const settings = await storeSettings(data)
  const startedAt = performance.now()
  const server = Bun.spawn([...wrapper, executable(), 'serve'], {
    env: cleanEnvironment({ ...settings, MILLRACE_DATA: data, MILLRACE_PORT: '0', ...environment }),
    stdout: 'pipe',
    stderr: 'pipe',
  })
  const printed = { out: '', err: '' }
  const gather = async (stream: ReadableStream<Uint8Array>, name: keyof typeof printed) => {
    const decoder = new TextDecoder()
    for await (const chunk of stream) {
      printed[name] += decoder.decode(chunk, { stream: true })
      heard.resolve()
      heard = Promise.withResolvers<void>()
    }
    ended.resolve()
  }
  let heard = Promise.withResolvers<void>()
  const ended = Promise.withResolvers<void>()
  gather(server.stdout, 'out')
  gather(server.stderr, 'err')
  for (;;) {
    const next = heard.promise
    const url = /http:\/\/[\w.:[\]-]+/.exec(printed.out)?.[0]
    if (url) {
      return {
        url,
        pid: server.pid,
        startedInMs: performance.now() - startedAt,
        output: () => printed.out,
        errors: () => printed.err,
        async kill(signal) {
          server.kill(signal)
          return await server.exited
        },
      }
    }
    // The output may end before the process does.
    await Promise.race([next, ended.promise.then(() => server.exited)])
    if (server.exitCode !== null) throw new Error(`serve exited with ${server.exitCode}: ${printed.err}`)
  }
}

/** Sends one request with a key. The bodies of the request and the response are JSON. */
export async function call(
  url: string,
  apiKey: string,
  method = 'GET',
  body?: unknown,
): Promise<{ status: number; body: never; headers: Headers }> {
  const response = await fetch(url, {
    method,
    headers: { 'x-api-key': apiKey },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, headers: response.headers, body: (text === '' ? null : JSON.parse(text)) as never }
}

/** Creates and deploys a workflow. Returns the URL of its endpoint. */
export async function deploy(url: string, apiKey: string, document: unknown): Promise<string> {
  const created = await call(`${url}/api/workflows`, apiKey, 'POST', document)
  if (created.status !== 201) throw new Error(`The workflow was not created: ${JSON.stringify(created.body)}`)
  const { id } = created.body as { id: string }
  const deployed = await call(`${url}/api/workflows/${id}/deploy`, apiKey, 'POST')
  if (deployed.status !== 200) throw new Error(`The workflow was not deployed: ${JSON.stringify(deployed.body)}`)
  return `${url}/api/workflows/${id}/execute`
}

/** Sends one request after another until the service is gone. Only runs with a complete response are acknowledged. */
export async function keepCalling(url: string, apiKey: string, acknowledged: Set<string>): Promise<void> {
  for (let n = 0; ; n += 1) {
    try {
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'x-api-key': apiKey },
        body: JSON.stringify({ n }),
      })
      const { executionId } = (await response.json()) as { executionId: string }
      if (response.status === 200) acknowledged.add(executionId)
    } catch {
      return
    }
  }
}

/** Every entry of a workspace's log, page by page. */
export async function* allExecutions(url: string, apiKey: string, workspaceId: string): AsyncGenerator<string> {
  let cursor: string | null = null
  do {
    const query = new URLSearchParams({ workspaceId, order: 'asc', limit: '1000', ...(cursor ? { cursor } : {}) })
    const response = await fetch(`${url}/api/v1/logs?${query}`, { headers: { 'x-api-key': apiKey } })
    if (!response.ok) throw new Error(`The logs returned ${response.status}: ${await response.text()}`)
    const page = (await response.json()) as { data: { executionId: string }[]; nextCursor: string | null }
    for (const { executionId } of page.data) yield executionId
    cursor = page.data.length > 0 ? page.nextCursor : null
  } while (cursor)
}
