import { afterAll, beforeAll, expect, test } from 'bun:test'
import { symlinkSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import openapiTypes from 'openapi-typescript'
import '../../support/built.ts'
import { temporaryFolder } from '../../support/executable.ts'
import { type Installation, init, type Serving, serve } from '../../support/running-service.ts'

const root = resolve(import.meta.dir, '../../..')

let folder: ReturnType<typeof temporaryFolder>
let installation: Installation
let service: Serving
beforeAll(async () => {
  folder = temporaryFolder()
  installation = await init(join(folder.path, 'data'))
  service = await serve(join(folder.path, 'data'))
}, 120_000)
afterAll(async () => {
  await service?.kill('SIGTERM')
  folder?.[Symbol.dispose]()
})

/**
 * A client program based only on the OpenAPI document: the types come from `/swagger/json`, and `openapi-fetch` sends
 * the requests. The lines with expected type errors prove that the types are precise.
 */
const program = `
import createClient from 'openapi-fetch'
import type { components, paths } from './api.ts'

declare const process: { env: { URL: string; KEY: string } }
const { URL: baseUrl, KEY } = process.env
const client = createClient<paths, 'application/json'>({ baseUrl, headers: { 'X-API-Key': KEY } })

const blocks = {
  start: { type: 'api_trigger', name: 'Start', params: { inputFormat: [{ name: 'a', type: 'number', required: true }] } },
  add: { type: 'function', name: 'Add', params: { code: 'return <start.a> + 1' } },
}
const created = await client.POST('/api/workflows', {
  body: { name: 'Typed', blocks, edges: [{ source: 'start', target: 'add' }] },
})
if (!created.data) throw new Error(created.error.error)
const { id, workspaceId, findings } = created.data
const levels: ('error' | 'warning')[] = findings.map(({ level }) => level)

const path = { id }
const deployed = await client.POST('/api/workflows/{id}/deploy', { params: { path } })
if (!deployed.data) throw new Error(deployed.error.error)

const run = await client.POST('/api/workflows/{id}/execute', { params: { path }, body: { a: 41 } })
if (!run.data || !('output' in run.data)) throw new Error(run.error?.error ?? 'The run has not ended.')
const { output, executionId } = run.data
const unfit = await client.POST('/api/workflows/{id}/execute', { params: { path }, body: { a: 'many' } })
const complaints: string[] | undefined = unfit.error && 'details' in unfit.error ? unfit.error.details?.map((row) => row.path) : []

const query = { workspaceId, workflowIds: id, details: 'full', includeTraceSpans: true } as const
const logs = await client.GET('/api/v1/logs', { params: { query } })
if (!logs.data) throw new Error(logs.error.error)
const entry: components['schemas']['LogEntry'] | undefined = logs.data.data[0]
const spans: string[] | undefined = entry?.traceSpans?.map(({ type, status }) => type + ' ' + status)

const gone = await client.DELETE('/api/workflows/{id}', { params: { path } })
const missing = await client.GET('/api/workflows/{id}', { params: { path } })

// @ts-expect-error this path does not exist
const noPath = () => client.GET('/api/nothing')
// @ts-expect-error the workspace is required
const noWorkspace = () => client.GET('/api/v1/logs', { params: { query: { limit: 1 } } })
// @ts-expect-error the interface does not have this value
const noSuchOrder = () => client.GET('/api/v1/logs', { params: { query: { workspaceId, order: 'random' } } })
// @ts-expect-error the id is a string
const notANumber: number = executionId
// @ts-expect-error the response may be an error
const unchecked = () => missing.data.name

console.log(JSON.stringify({
  version: deployed.data.version, levels, output, complaints, unfit: unfit.response.status,
  trace: spans, isSameRun: entry?.executionId === executionId, workflow: entry?.workflow?.name,
  gone: gone.response.status, missing: missing.error?.code,
}))
`

test('a client generated from the OpenAPI document compiles and works', async () => {
  const openApi = await (await fetch(`${service.url}/swagger/json`)).json()
  const place = join(folder.path, 'client')
  const compilerOptions = {
    ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true, noEmit: true },
    ...{ target: 'esnext', module: 'esnext', moduleResolution: 'bundler', lib: ['esnext', 'dom'], types: [] },
    ...{ allowImportingTsExtensions: true, moduleDetection: 'force' },
  }
  await Bun.write(join(place, 'api.ts'), await openapiTypes(openApi))
  writeFileSync(join(place, 'use.ts'), program)
  writeFileSync(join(place, 'tsconfig.json'), JSON.stringify({ compilerOptions, files: ['use.ts'] }))
  symlinkSync(join(root, 'node_modules'), join(place, 'node_modules'))

  const compiled = Bun.spawnSync([join(root, 'node_modules/.bin/tsc'), '-p', place], { cwd: place })
  expect(compiled.stdout.toString() + compiled.stderr.toString()).toBe('')
  expect(compiled.exitCode).toBe(0)

  const env = { ...Bun.env, URL: service.url, KEY: installation.apiKey }
  const run = Bun.spawn([process.execPath, 'use.ts'], { cwd: place, env, stdout: 'pipe', stderr: 'pipe' })
  const [out, errors] = await Promise.all([new Response(run.stdout).text(), new Response(run.stderr).text()])
  expect(errors).toBe('')
  expect(JSON.parse(out)).toEqual({
    version: 1,
    levels: [],
    output: { result: 42, stdout: '', error: null },
    complaints: ['a'],
    unfit: 400,
    trace: ['workflow success'],
    isSameRun: true,
    workflow: 'Typed',
    gone: 204,
    missing: 'NOT_FOUND',
  })
}, 120_000)
