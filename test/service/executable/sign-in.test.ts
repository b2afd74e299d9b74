import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { temporaryFolder } from '../../support/executable.ts'
import { serve } from '../../support/running-service.ts'

test('the sign-in link of the first start opens a session that survives kill -9, and a password opens more', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  const first = await serve(data)
  const link = /http:\/\/\S+\/sign-in\?token=\S+/.exec(first.output())?.[0] ?? ''
  const opened = await fetch(link, { redirect: 'manual' })
  expect([opened.status, opened.headers.get('location')]).toEqual([302, '/'])
  const cookie = opened.headers.get('set-cookie')?.split(';')[0] ?? ''
  // The session is already on disk.
  await first.kill('SIGKILL')

  const second = await serve(data)
  const page = (method: string, path: string, body?: unknown, session = cookie) =>
    fetch(second.url + path, {
      method,
      headers: { cookie: session, origin: second.url },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
  try {
    const me = (await (await page('GET', '/api/editor/me')).json()) as {
      user: { email: string }
      workspaces: unknown[]
    }
    expect(me).toMatchObject({ user: { hasPassword: false }, workspaces: [{ name: 'Default', role: 'owner' }] })
    const overview = (await (await page('GET', '/api/editor/workflows')).json()) as { data: unknown[] }
    expect(overview.data).toMatchObject([{ version: 1, hasChanges: false }])

    const password = 'correct horse battery'
    expect((await page('PUT', '/api/editor/me/password', { password })).status).toBe(204)
    // The service responds during password hashing, because hashing does not block its thread.
    const hashing = Promise.all(
      Array.from({ length: 6 }, () => page('POST', '/api/session', { email: me.user.email, password }, '')),
    )
    let hashed = false
    void hashing.then(() => {
      hashed = true
    })
    let responses = 0
    while (!hashed) {
      expect((await fetch(`${second.url}/health/live`)).status).toBe(200)
      responses += 1
    }
    expect(responses).toBeGreaterThan(10)
    const cookies = (await hashing).map(({ headers }) => headers.get('set-cookie')?.split(';')[0])
    expect(new Set(cookies).size).toBe(6)
    expect((await page('GET', '/api/editor/me', undefined, cookies[0])).status).toBe(200)
  } finally {
    await second.kill('SIGTERM')
  }
}, 120_000)
