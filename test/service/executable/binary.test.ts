import { afterEach, describe, expect, test } from 'bun:test'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { firstStart } from '../../../src/cli/installation/first-start.ts'
import '../../support/built.ts'
import { executable, millrace, temporaryFolder } from '../../support/executable.ts'
import { block, document } from '../../support/make.ts'
import { programPath } from '../../support/programs.ts'
import { call, deploy, init, type Serving, serve as start } from '../../support/running-service.ts'
import { openStoreOf } from '../../support/store/test-store.ts'

const samples = resolve(import.meta.dir, '../../..', 'samples')

const started: Serving[] = []
/** Starts a service that ends with the test, even if the test fails. */
async function serve(...args: Parameters<typeof start>): Promise<Serving> {
  const serving = await start(...args)
  started.push(serving)
  return serving
}
afterEach(async () => {
  await Promise.all(started.splice(0).map((serving) => serving.kill('SIGKILL')))
})

describe('the executable', () => {
  test('reports its version and the commit it was built from', async () => {
    const { code, out } = await millrace(['version', '--json'])
    expect(code).toBe(0)
    const { version } = JSON.parse(readFileSync(resolve(import.meta.dir, '../../..', 'package.json'), 'utf8'))
    expect(JSON.parse(out)).toEqual({
      version,
      commit: expect.stringMatching(/^([0-9a-f]{12}\+?|unknown)$/),
      bun: Bun.version,
    })
  })

  test('exits with 0 on success, 1 on failure and 2 on wrong usage', async () => {
    expect((await millrace(['--help'])).code).toBe(0)
    expect((await millrace(['run', 'missing.json'])).code).toBe(1)
    expect((await millrace(['sevre'])).code).toBe(2)
    expect((await millrace(['config', '--port', 'x'])).code).toBe(2)
  })

  test('ignores .env and bunfig.toml in its working directory', async () => {
    using folder = temporaryFolder()
    const { path } = folder
    writeFileSync(join(path, '.env'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, '.env.production'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, '.env.local'), 'MILLRACE_PORT=6666\n')
    writeFileSync(join(path, 'bunfig.toml'), 'preload = ["./preload.ts"]\n')
    writeFileSync(join(path, 'preload.ts'), `require("fs").writeFileSync(${JSON.stringify(join(path, 'owned'))}, "")\n`)
    const { code, out } = await millrace(['config', '--json'], { cwd: path })
    expect(code).toBe(0)
    expect(JSON.parse(out).find((row: { name: string }) => row.name === 'MILLRACE_PORT').value).toBe(3000)
    expect(existsSync(join(path, 'owned'))).toBe(false)
  })

  test('runs a workflow file with JavaScript in the sandbox, and prints the envelope', async () => {
    const { code, out, words } = await millrace(['run', join(samples, 'stock-check.json'), '--json'])
    expect({ code, words }).toEqual({ code: 0, words: '' })
    expect(JSON.parse(out)).toMatchObject({ success: true, output: { result: { articles: 3 } } })
  })

  test('exits normally when the reader of its output closes the pipe', async () => {
    const child = Bun.spawn(['sh', '-c', `"$1" config | head -1; exit 0`, 'sh', executable()], {
      stdout: 'pipe',
      stderr: 'pipe',
    })
    expect(await new Response(child.stdout).text()).toBe('MILLRACE_HOST=127.0.0.1\n')
    expect(await new Response(child.stderr).text()).toBe('')
  })
})

describe('the first start', () => {
  test('leads from an empty folder to a response and a log entry, which survives kill -9', async () => {
    using folder = temporaryFolder()
    const data = join(folder.path, 'data')
    const first = await serve(data)
    const printed = first.output()
    const curl = printed.split('\n').find((line) => line.startsWith('curl '))!
    const apiKey = /mrk_\w+/.exec(printed)![0]
    const workspaceId = /Workspace +(\S+)/.exec(printed)![1]!
    expect(printed).toMatch(/Sign-in link +http:\/\/\S+\/sign-in\?token=\S{40,}/)

    const curled = await shell(curl)
    expect(curled).toMatchObject({ code: 0, words: '' })
    expect(JSON.parse(curled.out)).toEqual({
      message: 'Hello, Ada.',
      quote: expect.any(String),
      by: expect.any(String),
    })

    const entries = async (url: string) => {
      const { status, body } = await call(`${url}/api/v1/logs?workspaceId=${workspaceId}`, apiKey)
      expect(status).toBe(200)
      return (body as { data: { id: string; level: string; trigger: string; executionId: string }[] }).data
    }
    const [entry, ...others] = await entries(first.url)
    expect(others).toEqual([])
    expect(entry).toMatchObject({ level: 'info', trigger: 'api' })
    await first.kill('SIGKILL')

    const second = await serve(data)
    expect(second.output()).not.toContain('mrk_')
    expect(await entries(second.url)).toEqual([entry!])
    const { body } = await call(`${second.url}/api/v1/logs/${entry!.id}`, apiKey)
    const detail = (
      body as { data: { executionData: { finalOutput: unknown; traceSpans: { children: unknown[] }[] } } }
    ).data
    expect(detail.executionData.finalOutput).toMatchObject({ status: 200, data: JSON.parse(curled.out) })
    expect(detail.executionData.traceSpans[0]!.children.length).toBeGreaterThan(3)
    expect(await second.kill('SIGTERM')).toBe(0)
  }, 120_000)

  test('is completed by the next start if it was killed before it showed its key', async () => {
    using folder = temporaryFolder()
    const store = await openStoreOf(folder.path)
    const elsewhere = { hostname: '127.0.0.1', port: 1, url: 'http://127.0.0.1:1' }
    const cut = (await firstStart({ store, address: elsewhere }))!
    await store.close()

    const first = await serve(folder.path)
    const curl = first
      .output()
      .split('\n')
      .find((line) => line.startsWith('curl '))!
    expect(JSON.parse((await shell(curl)).out)).toMatchObject({ message: 'Hello, Ada.' })
    const apiKey = /mrk_\w+/.exec(first.output())![0]
    expect((await call(`${first.url}/api/workspaces`, apiKey)).status).toBe(200)
    expect((await call(`${first.url}/api/workspaces`, cut.apiKey)).status).toBe(401)
    await first.kill('SIGKILL')

    const second = await serve(folder.path)
    expect(second.output().trim()).toBe(`Millrace listens on ${second.url}`)
    expect((await call(`${second.url}/api/workspaces`, apiKey)).status).toBe(200)
  }, 120_000)

  test('does not change an installation that init created', async () => {
    using folder = temporaryFolder()
    const { apiKey, workspaceId } = await init(folder.path)
    const serving = await serve(folder.path)
    expect(serving.output().trim()).toBe(`Millrace listens on ${serving.url}`)
    const { body } = await call(`${serving.url}/api/workflows?workspaceId=${workspaceId}`, apiKey)
    expect(body).toEqual({ data: [] } as never)
    await serving.kill('SIGTERM')
  })
})

describe('a running service', () => {
  const running = async (work: (serving: Serving, apiKey: string, data: string) => Promise<void>) => {
    using folder = temporaryFolder()
    const { apiKey } = await init(folder.path)
    const serving = await serve(folder.path, { MILLRACE_OUTBOUND_ALLOW: 'loopback' })
    await work(serving, apiKey, folder.path)
  }

  test('prevents a second service on its folder or its port', () =>
    running(async ({ url, pid }, _apiKey, data) => {
      const same = await millrace(['serve', '--port', '0', '--data', data])
      expect(same).toMatchObject({ code: 1, out: '' })
      expect(same.words).toContain(`The data directory ${data} is in use by process ${pid}. Stop that process`)

      const { port } = new URL(url)
      const twice = await millrace(['serve', '--port', port, '--data', data])
      expect(twice.words).toContain(`The data directory ${data} is in use by process ${pid}. Stop that process`)

      using folder = temporaryFolder()
      const taken = await millrace(['serve', '--port', port, '--data', folder.path])
      expect(taken).toMatchObject({ code: 1, out: '' })
      expect(taken.words).toContain(`Port ${port} of 127.0.0.1 is in use by another program.`)
      expect(taken.words).toContain('--port 0')
    }))

  test('can be checked with doctor and health', () =>
    running(async ({ url, pid }, _apiKey, data) => {
      const doctor = await millrace(['doctor', '--data', data])
      expect(doctor.code).toBe(0)
      expect(doctor.out).toContain(`process ${pid}`)
      expect((await millrace(['health'], { environment: { MILLRACE_PORT: new URL(url).port } })).code).toBe(0)
      expect((await millrace(['health', '--url', 'http://127.0.0.1:1'])).code).toBe(1)
    }))

  test(
    'accepts a new key immediately, and a revoked key for at most a few seconds',
    () =>
      running(async ({ url }, _apiKey, data) => {
        const { out } = await millrace(['keys', 'create', '--name', 'new', '--json', '--data', data])
        const { id, apiKey } = JSON.parse(out) as { id: string; apiKey: string }
        const status = async () => (await call(`${url}/api/workspaces`, apiKey)).status
        expect(await status()).toBe(200)
        expect((await millrace(['keys', 'revoke', id, '--data', data])).code).toBe(0)
        while ((await status()) === 200) await Bun.sleep(50)
        expect(await status()).toBe(401)
      }),
    120_000,
  )

  test(
    'finishes the runs in flight when it is told to stop, and starts no new ones',
    () =>
      running(async (serving, apiKey) => {
        const peer = heldPeer()
        const endpoint = await deploy(serving.url, apiKey, callerOf(peer.url))
        const inFlight = call(endpoint, apiKey, 'POST', {})
        await peer.called
        const exit = serving.kill('SIGTERM')
        await refusing(serving.url)
        peer.release()
        expect(await inFlight).toMatchObject({ status: 200, body: { success: true } })
        expect(await exit).toBe(0)
        await peer.stop()
      }),
    120_000,
  )

  test(
    'exits immediately at the second signal',
    () =>
      running(async (serving, apiKey) => {
        const peer = heldPeer()
        const endpoint = await deploy(serving.url, apiKey, callerOf(peer.url))
        const inFlight = call(endpoint, apiKey, 'POST', {}).catch(() => 'cut')
        await peer.called
        const exit = serving.kill('SIGTERM')
        await refusing(serving.url)
        serving.kill('SIGTERM')
        expect(await exit).toBe(1)
        expect(await inFlight).toBe('cut')
        await peer.stop()
      }),
    120_000,
  )
})

test('the service raises the limit of concurrent requests at its start, unless the environment sets it', async () => {
  using folder = temporaryFolder()
  await init(folder.path)
  const limitOf = async (environment: Record<string, string>) => {
    const serving = await serve(folder.path, environment)
    const variables = readFileSync(`/proc/${serving.pid}/environ`, 'utf8').split('\0')
    expect(await serving.kill('SIGTERM')).toBe(0)
    return variables.find((variable) => variable.startsWith('BUN_CONFIG_MAX_HTTP_REQUESTS='))
  }
  expect(await limitOf({})).toEndWith('=65535')
  expect(await limitOf({ BUN_CONFIG_MAX_HTTP_REQUESTS: '2000' })).toEndWith('=2000')
})

/** A server that reports when it is called and responds when the test releases it. */
function heldPeer() {
  const called = Promise.withResolvers<void>()
  const released = Promise.withResolvers<void>()
  const server = Bun.serve({
    port: 0,
    hostname: '127.0.0.1',
    async fetch() {
      called.resolve()
      await released.promise
      return Response.json({})
    },
  })
  return {
    url: `http://127.0.0.1:${server.port}/`,
    called: called.promise,
    release: released.resolve,
    stop: () => server.stop(true),
  }
}

function callerOf(url: string) {
  const blocks = [block('start', 'api_trigger'), block('call', 'api', { url, method: 'GET' })]
  return document({ blocks, edges: ['start > call'] })
}

/** Resolves when a service accepts no more requests. */
async function refusing(url: string): Promise<void> {
  for (;;) {
    const status = await fetch(`${url}/health/live`, { keepalive: false }).then(
      (response) => response.status,
      () => 0,
    )
    if (status !== 200) return
    await Bun.sleep(5)
  }
}

/** Runs a command line that calls curl, like a user who pastes it into a shell. */
async function shell(line: string) {
  programPath('curl')
  const child = Bun.spawn(['sh', '-c', line], { stdout: 'pipe', stderr: 'pipe' })
  const [out, words] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()])
  return { code: await child.exited, out, words }
}
