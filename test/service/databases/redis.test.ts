import { describe, expect, test } from 'bun:test'
import { TestDatabases } from '../../support/databases/clients.ts'
import { redisServer } from '../../support/databases/redis-server.ts'

const server = redisServer()

function databases(fields: Record<string, unknown> = {}, secrets: Record<string, string> = { password: 'secret' }) {
  const plain = { host: '127.0.0.1', port: String(server().port), tls: 'off' }
  return new TestDatabases({ db: { kind: 'redis', fields: { ...plain, ...fields }, secrets } })
}

describe('a command', () => {
  test('gets its reply as JSON data', async () => {
    await using db = databases()
    expect(await db.redis('SET', ['name', 'Zoë "x"\r\n', 'EX', 100])).toBe('OK')
    expect(await db.redis('GET', ['name'])).toBe('Zoë "x"\r\n')
    expect(await db.redis('get', ['missing'])).toBeNull()
    expect(await db.redis('INCRBY', ['count', 5])).toBe(5)
    expect(await db.redis('HSET', ['hash', 'a', '1', '__proto__', 'x', 'json', { deep: [1] }])).toBe(3)
    const hash = Object.fromEntries([
      ['a', '1'],
      ['__proto__', 'x'],
      ['json', '{"deep":[1]}'],
    ])
    expect(await db.redis('HGETALL', ['hash'])).toEqual(hash)
    expect(await db.redis('RPUSH', ['list', 'x', 2, true])).toBe(3)
    expect(await db.redis('LRANGE', ['list', 0, -1])).toEqual(['x', '2', 'true'])
    expect(await db.redis('ZADD', ['scores', 1.5, 'a'])).toBe(1)
    expect(await db.redis('ZRANGE', ['scores', 0, -1, 'WITHSCORES'])).toEqual([['a', 1.5]])
    expect(await db.redis('SMEMBERS', ['nothing'])).toEqual([])
    expect(await db.redis('CONFIG GET', ['maxclients'])).toEqual({ maxclients: '10000' })
    const script = "return {1, 'two', {3}, redis.error_reply('ERR no')}"
    expect(await db.redis('EVAL', [script, 0])).toEqual([1, 'two', [3], { error: 'ERR no' }])
    expect(await db.redis('EVAL', ["return '\\255\\254'", 0])).toBe('//4=')
    expect(db.clients.size).toBe(1)
  })

  test('fails with the error of the server', async () => {
    await using db = databases()
    await expect(db.redis('NONSENSE', ['x'])).rejects.toMatchObject({
      code: 'REDIS_ERROR',
      message: expect.stringContaining("unknown command 'NONSENSE'"),
    })
    await db.redis('SET', ['text', 'x'])
    await expect(db.redis('INCR', ['text'])).rejects.toMatchObject({ code: 'REDIS_ERROR' })
    await expect(db.redis('SET', ['text', null])).rejects.toMatchObject({ code: 'INVALID_COMMAND' })
    for (const refused of ['SUBSCRIBE', 'monitor', 'MULTI', 'SELECT', 'CLIENT KILL', 'AUTH', 'HELLO'])
      await expect(db.redis(refused, ['x'])).rejects.toMatchObject({ code: 'INVALID_COMMAND' })
  })

  test('that waits is given up when its time is up or its run is cancelled', async () => {
    await using db = databases()
    await expect(db.redis('BLPOP', ['empty', 0], { timeoutMs: 300 })).rejects.toMatchObject({ code: 'TIMEOUT' })
    const cancel = new AbortController()
    const waiting = db.redis('BLPOP', ['empty', 0], { signal: cancel.signal }).catch((error) => error)
    const blocked = async () => /blocked_clients:(\d+)/.exec(String(await db.redis('INFO', ['clients'])))?.[1]
    while ((await blocked()) !== '1') await Bun.sleep(10)
    cancel.abort()
    expect(await waiting).toMatchObject({ code: 'CANCELLED' })
    while ((await blocked()) !== '0') await Bun.sleep(10)
  })

  test('with a reply that is too large fails, and the next one works', async () => {
    await using db = databases()
    await db.redis('EVAL', ["for i = 1, 250000 do redis.call('RPUSH', 'long', i) end", 0])
    await expect(db.redis('LRANGE', ['long', 0, -1])).rejects.toMatchObject({
      code: 'RESPONSE_TOO_LARGE',
      message: expect.stringContaining('more than 200000 values'),
    })
    await db.redis('SETRANGE', ['big', 20_000_000, 'x'])
    await expect(db.redis('GET', ['big'])).rejects.toMatchObject({ code: 'RESPONSE_TOO_LARGE' })
    expect(await db.redis('STRLEN', ['big'])).toBe(20_000_001)
    expect(await db.redis('GETRANGE', ['big', 0, 5_000_000])).toHaveLength(5_000_001)
  })
})

describe('a connection to Redis', () => {
  test('needs the password, and the error does not show it', async () => {
    await using wrong = databases({}, { password: 'not-the-password' })
    const error = (await wrong.redis('PING').catch((thrown) => thrown)) as Error
    expect(error).toMatchObject({ code: 'CREDENTIAL_FAILED' })
    expect(error.message).not.toContain('not-the-password')
    await using none = databases({}, {})
    await expect(none.redis('PING')).rejects.toMatchObject({ message: expect.stringContaining('NOAUTH') })
    await using admin = databases()
    await admin.redis('ACL SETUSER', ['reader', 'on', '>pass', '~*', '+get', '+hello', '+select'])
    await using reader = databases({ user: 'reader' }, { password: 'pass' })
    expect(await reader.redis('GET', ['nothing'])).toBeNull()
    await expect(reader.redis('SET', ['a', 'b'])).rejects.toMatchObject({ message: expect.stringContaining('NOPERM') })
  })

  test('uses the database of the credential', async () => {
    await using first = databases()
    await using second = databases({ database: '3' })
    await second.redis('SET', ['only-here', 'x'])
    expect(await first.redis('EXISTS', ['only-here'])).toBe(0)
    await using missing = databases({ database: '99' })
    await expect(missing.redis('PING')).rejects.toMatchObject({ code: 'CREDENTIAL_FAILED' })
  })

  test('is encrypted, to a server whose certificate is valid', async () => {
    const authority = await Bun.file('test/support/certificates/authority.pem').text()
    const port = String(server().tlsPort)
    await using verified = databases({ port, host: 'service.example', tls: '', authority })
    expect(await verified.redis('PING')).toBe('PONG')
    await using unknown = databases({ port, tls: 'verify' })
    await expect(unknown.redis('PING')).rejects.toMatchObject({ message: expect.stringContaining('not accepted') })
    await using encrypted = databases({ port, tls: 'require' })
    expect(await encrypted.redis('PING')).toBe('PONG')
    await using plain = databases({ tls: 'require' })
    await expect(plain.redis('PING', [], { timeoutMs: 2_000 })).rejects.toMatchObject({
      code: expect.stringMatching(/CONNECTION_FAILED|TIMEOUT/),
    })
  })

  test('that the server lost fails its command, and the next command connects again', async () => {
    await using db = databases()
    await db.redis('PING')
    const waiting = db.redis('BLPOP', ['empty', 0]).catch((error) => error)
    while (!/blocked_clients:1/.test(String(await db.redis('INFO', ['clients'])))) await Bun.sleep(10)
    await server().kill()
    expect(await waiting).toMatchObject({ code: 'CONNECTION_FAILED' })
    await expect(db.redis('PING')).rejects.toMatchObject({ code: 'CONNECTION_FAILED' })
    await server().run()
    expect(await db.redis('PING')).toBe('PONG')
  })
})
