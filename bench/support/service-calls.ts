import type { Millrace } from './service.ts'

/** The number of runs that have succeeded since the service started. */
export async function succeeded(service: Millrace): Promise<number> {
  return await metric(service, /^millrace_runs_total\{.*outcome="success".*\} (\d+)$/gm)
}

/** The number of asynchronous runs that are queued or running. */
export async function unfinished(service: Millrace): Promise<number> {
  return await metric(service, /^millrace_jobs\{.*\} (\d+)$/gm)
}

async function metric({ url, apiKey }: Millrace, line: RegExp): Promise<number> {
  const text = await (await fetch(`${url}/metrics`, { headers: { 'x-api-key': apiKey } })).text()
  return [...text.matchAll(line)].reduce((sum, [, value]) => sum + Number(value), 0)
}

export async function get<Result>({ url, apiKey }: Millrace, path: string): Promise<Result> {
  const response = await fetch(url + path, { headers: { 'x-api-key': apiKey } })
  return (await response.json()) as Result
}

export async function post<Result>(
  { url, apiKey }: Millrace,
  path: string,
  body: object = {},
  mode = 'sync',
): Promise<Result> {
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json', 'x-execution-mode': mode }
  const response = await fetch(url + path, { method: 'POST', headers, body: JSON.stringify(body) })
  if (!response.ok) throw new Error(`${path}: ${response.status} ${await response.text()}`)
  return (await response.json()) as Result
}

export async function until(isTrue: () => Promise<boolean>, timeoutMs = 30_000): Promise<void> {
  const deadline = performance.now() + timeoutMs
  while (!(await isTrue().catch(() => false))) {
    if (performance.now() > deadline) throw new Error('The service did not reach the expected state in time')
    await Bun.sleep(20)
  }
}
