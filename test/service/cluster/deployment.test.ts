import { afterAll, beforeAll, expect, test } from 'bun:test'
import { readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { settings } from '../../../src/config.ts'
import { cleanEnvironment, executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { programPath } from '../../support/programs.ts'
import { allExecutions, deploy, type Installation } from '../../support/running-service.ts'
import { freePort, PostgresServer } from '../../support/store/postgres.ts'
import { queryPostgres } from '../../support/store/postgres-store.ts'

// The templates in `deploy/`, as a user would use them: nginx, three processes by the unit's command line, PostgreSQL.

const templates = resolve(import.meta.dir, '../../../deploy')
const template = (name: string) => readFileSync(join(templates, name), 'utf8')
const folder = temporaryFolder()
const ports = [3001, 3002, 3003].map((named) => ({ named, used: 0 }))
const publicPort = freePort()
const url = `http://127.0.0.1:${publicPort}`
const children: Bun.Subprocess[] = []
let server: PostgresServer
let environment: Record<string, string>
let installation: Installation

beforeAll(async () => {
  server = await PostgresServer.start({ isDurable: true })
  environment = await filledEnvironment()
  const made = await millrace(['init', '--json'], { environment: { ...environment, MILLRACE_DATA: folder.path } })
  installation = JSON.parse(made.out) as Installation
  // Another program may take a free port before the process does.
  for (const port of ports) {
    for (let tries = 0; tries < 5 && port.used === 0; tries += 1) {
      const candidate = freePort()
      if (await startProcess(candidate).catch(() => undefined)) port.used = candidate
    }
  }
  await startNginx()
}, 60_000)

afterAll(async () => {
  for (const child of children) child.kill()
  await Promise.all(children.map(({ exited }) => exited))
  await server[Symbol.asyncDispose]()
  folder[Symbol.dispose]()
})

/** The settings of `millrace.env`, with this test's values in the places to fill in. */
async function filledEnvironment(): Promise<Record<string, string>> {
  const lines = template('millrace.env').split('\n')
  const pairs = lines.filter((line) => /^[A-Z]/.test(line)).map((line) => /^([^=]+)=(.*)$/.exec(line)!.slice(1))
  const values = Object.fromEntries(pairs) as Record<string, string>
  return {
    ...values,
    MILLRACE_STORE: await server.createDatabase(),
    MILLRACE_SECRET_KEY: 'a secret key with more than 32 characters',
    MILLRACE_BASE_URL: url,
    MILLRACE_S3_BUCKET: 'unused',
  }
}

/** Starts a process with the command line of the systemd unit. */
async function startProcess(port: number): Promise<Bun.Subprocess> {
  const [, line = ''] = /^ExecStart=(.*)$/m.exec(template('millrace@.service')) ?? []
  const [program, ...args] = line.replaceAll('%i', String(port)).split(' ')
  expect(program).toBe('/usr/local/bin/millrace')
  const env = cleanEnvironment({ ...environment, MILLRACE_DATA: folder.path })
  const child = Bun.spawn([executable(), ...args], { env, stdout: 'ignore', stderr: 'ignore' })
  await answers(`http://127.0.0.1:${port}`, child)
  children.push(child)
  return child
}

async function startNginx(): Promise<void> {
  const file = join(folder.path, 'nginx.conf')
  const places = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
    (name) => `${name}_temp_path ${join(folder.path, name)};`,
  )
  let text = template('nginx.conf').replace('listen 80;', `listen 127.0.0.1:${publicPort};`)
  for (const { named, used } of ports) text = text.replace(`127.0.0.1:${named}`, `127.0.0.1:${used}`)
  text = text.replace('http {', `http { access_log off; ${places.join(' ')}`)
  writeFileSync(file, `daemon off; pid ${join(folder.path, 'pid')}; error_log stderr;\n${text}`)
  const nginx = Bun.spawn([programPath('nginx'), '-c', file], { stdout: 'ignore', stderr: 'ignore' })
  children.push(nginx)
  await answers(url, nginx)
}

async function answers(base: string, child: Bun.Subprocess): Promise<void> {
  while ((await fetch(`${base}/health/ready`).catch(() => undefined))?.status !== 200) {
    if (child.exitCode !== null) throw new Error(`A process ended with ${child.exitCode}`)
    await Bun.sleep(20)
  }
}

test('three processes behind nginx are one service, also while one of them is killed', async () => {
  const { apiKey, workspaceId } = installation
  expect(await queryPostgres(environment['MILLRACE_STORE']!, 'SELECT id FROM millrace.processes')).toHaveLength(3)
  const workflow = document({ name: 'Plain', blocks: [block('start', 'api_trigger')] })
  const endpoint = await deploy(url, apiKey, workflow)
  const acknowledged: string[] = []
  const failed: number[] = []
  const call = async () => {
    const headers = { 'x-api-key': apiKey }
    const response = await fetch(endpoint, { method: 'POST', headers, body: '{}' })
    if (response.status !== 200) failed.push(response.status)
    else acknowledged.push(((await response.json()) as { executionId: string }).executionId)
  }
  const callers = 4
  let isCalling = true
  const calling = Promise.all(
    Array.from({ length: callers }, async () => {
      while (isCalling) await call()
    }),
  )
  while (acknowledged.length < 100) await Bun.sleep(10)
  children[0]!.kill('SIGKILL')
  const before = acknowledged.length
  while (acknowledged.length < before + 200) await Bun.sleep(10)
  await startProcess(ports[0]!.used)
  isCalling = false
  await calling
  // Only the requests that the killed process had.
  expect(failed.length).toBeLessThanOrEqual(callers)
  expect(new Set(failed).isSubsetOf(new Set([502]))).toBe(true)
  const logged = new Set<string>()
  for await (const executionId of allExecutions(url, apiKey, workspaceId)) logged.add(executionId)
  expect(acknowledged.filter((executionId) => !logged.has(executionId))).toEqual([])
}, 60_000)

test('the templates name only settings that exist', () => {
  const known = new Set(settings.map(({ name }) => name))
  for (const name of ['millrace.env', 'millrace@.service', 'compose.yaml']) {
    const named = template(name).match(/\bMILLRACE_[A-Z0-9_]+/g) ?? []
    expect(named.filter((each) => !known.has(each))).toEqual([])
  }
})

test('the compose file starts three processes, nginx and PostgreSQL with the same settings as the other templates', () => {
  const compose = Bun.YAML.parse(template('compose.yaml')) as {
    services: Record<string, { environment?: Record<string, string> }>
    configs: { nginx: { content: string } }
  }
  const names = Object.keys(compose.services)
  expect(names).toEqual(['millrace-1', 'millrace-2', 'millrace-3', 'nginx', 'postgres'])
  const inCompose = Object.keys(compose.services['millrace-2']?.environment ?? {})
  const inFile = [...template('millrace.env').matchAll(/^([A-Z0-9_]+)=/gm)].map(([, name]) => name!)
  expect(inCompose.toSorted()).toEqual(inFile.toSorted())
  const plain = (text: string) =>
    text
      .replaceAll('$$', '$')
      .replaceAll(/#.*$/gm, '')
      .replaceAll(/millrace-\d:3000|127\.0\.0\.1:300\d/g, 'PROCESS')
      .replaceAll(/\s+/g, ' ')
      .trim()
  expect(plain(compose.configs.nginx.content)).toBe(plain(template('nginx.conf')))
})
