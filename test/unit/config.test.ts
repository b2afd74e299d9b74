import { describe, expect, test } from 'bun:test'
import fc from 'fast-check'
import { type Config, limitsOf, resolveConfig, settings, sizeText } from '../../src/config.ts'
import { defaultLimits, limitSettings } from '../../src/domain/limits.ts'

test('without input, every setting has its default, and the result is frozen', () => {
  const { config, sources, problems } = resolveConfig({})
  expect(problems).toEqual([])
  expect(config).toMatchObject({
    host: '127.0.0.1',
    port: 3000,
    data: './data',
    sync: 'full',
    plan: 'enterprise',
    outboundAllow: [],
    stopGraceMs: 10_000,
    logRetentionDays: 30,
    logRetentionBytes: 10 * 1024 ** 3,
    webhookMaxAttempts: 5,
    webhookTimeoutMs: 30_000,
    webhookConcurrency: 500,
    webhookHostConcurrency: 10,
    fileUrlTtlS: 3600,
    cancelOnDisconnect: true,
    streamBufferBytes: 1024 ** 2,
    bodyBytesMax: 10 * 1024 ** 2,
    bodyBytesMaxFiles: 160 * 1024 ** 2,
    url: 'http://127.0.0.1:3000',
  })
  expect(config.baseUrl).toBeUndefined()
  expect(config.secretKey).toBeUndefined()
  expect(new Set(Object.values(sources))).toEqual(new Set(['default']))
  expect(() => Object.assign(config, { port: 1 })).toThrow()
  expect(() => (config.outboundAllow as string[]).push('private')).toThrow()
})

test('a flag overrides the environment, which overrides the file, which overrides the default', () => {
  const flags = { port: '1' }
  const environment = { MILLRACE_PORT: '2', MILLRACE_HOST: 'a' }
  const file = { MILLRACE_PORT: '3', MILLRACE_HOST: 'b', MILLRACE_DATA: 'c' }
  const { config, sources } = resolveConfig({ flags, environment, file })
  expect(config).toMatchObject({ port: 1, host: 'a', data: 'c', sync: 'full' })
  expect(sources).toMatchObject({ port: 'flag', host: 'environment', data: 'file', sync: 'default' })
})

test('an empty value counts as not set', () => {
  const { config, sources, problems } = resolveConfig({ environment: { MILLRACE_PORT: ' ', MILLRACE_BASE_URL: '' } })
  expect(problems).toEqual([])
  expect(config.port).toBe(3000)
  expect(sources.port).toBe('default')
})

test('all invalid values are reported at once, with their name, value, source and range', () => {
  const { problems } = resolveConfig({
    flags: { sync: 'maybe' },
    environment: { MILLRACE_PORT: 'eighty', MILLRACE_SECRET_KEY: 'short', MILLRACE_CANCEL_ON_DISCONNECT: 'si' },
    file: { MILLRACE_BASE_URL: 'example.com' },
  })
  expect(problems).toEqual([
    { name: 'MILLRACE_PORT', value: 'eighty', range: 'a whole number from 0 to 65535', source: 'environment' },
    {
      name: 'MILLRACE_BASE_URL',
      value: 'example.com',
      range: 'an http or https address without a path',
      source: 'file',
    },
    {
      name: 'MILLRACE_SECRET_KEY',
      value: '***',
      range: 'keys of at least 32 characters, separated by commas',
      source: 'environment',
    },
    { name: 'MILLRACE_SYNC', value: 'maybe', range: 'full, normal', source: 'flag' },
    { name: 'MILLRACE_CANCEL_ON_DISCONNECT', value: 'si', range: 'true, false', source: 'environment' },
  ])
})

describe('a value', () => {
  const of = (name: string, text: string) => {
    const setting = settings.find((one) => one.name === name)!
    const { config, problems } = resolveConfig({ environment: { [name]: text } })
    return problems.length > 0 ? 'refused' : config[setting.member]
  }

  test.each([
    ['10485760', 10_485_760],
    ['10MB', 10_485_760],
    ['10 mb', 10_485_760],
    ['1GB', 1_073_741_824],
    ['64KB', 65_536],
    ['1.5MB', 1_572_864],
    ['2048B', 2048],
    ['1023', 'refused'],
    ['2GB', 'refused'],
    ['10M', 'refused'],
    ['MB', 'refused'],
    ['-1MB', 'refused'],
    ['1e6', 'refused'],
    ['0x10000', 'refused'],
    ['1024.5', 'refused'],
  ])('of %s for a size is %p', (text, value) => {
    expect(of('MILLRACE_BODY_BYTES_MAX', text)).toBe(value)
  })

  test.each([
    ['1h', 3_600_000],
    ['90 m', 5_400_000],
    ['1.5H', 5_400_000],
    ['30d', 2_592_000_000],
    ['10000', 10_000],
    ['20000ms', 20_000],
    ['9s', 'refused'],
    ['31d', 'refused'],
    ['1w', 'refused'],
    ['-1h', 'refused'],
    ['h', 'refused'],
  ])('of %s for a time is %p', (text, value) => {
    expect(of('MILLRACE_BACKUP_EVERY', text)).toBe(value)
  })

  test.each([
    ['MILLRACE_BACKUP', ['s3://abc', 's3://my-bucket/a/b'], ['s3://', 's3://A', '/backups', 's3://abc/a b']],
    ['MILLRACE_PORT', ['0', '65535'], ['-1', '65536', '3000.5', '3 000', '٣']],
    ['MILLRACE_WEBHOOK_MAX_ATTEMPTS', ['1', '50'], ['0', '51']],
    ['MILLRACE_WEBHOOK_TIMEOUT_MS', ['100', '120000'], ['99', '120001']],
    ['MILLRACE_FILE_URL_TTL_S', ['1', '604800'], ['0', '604801']],
    ['MILLRACE_CANCEL_ON_DISCONNECT', ['true', 'FALSE', '1', '0'], ['yes', 'on', '2']],
    ['MILLRACE_SYNC', ['full', 'normal'], ['Full', 'off']],
    ['MILLRACE_OUTBOUND_ALLOW', ['loopback', 'private, 10.0.0.0/8,db:5432,[::1]:80'], ['a b', 'a,,b', ',']],
    ['MILLRACE_S3_ENDPOINT', ['https://a.example', 'http://a:9000/s3'], ['nope', 'ftp://a', 'https://']],
    [
      'MILLRACE_BASE_URL',
      ['https://a.example', 'http://a:8080/', 'http://[::1]:3000'],
      ['ftp://a', 'https://a?b', 'https://', 'a', 'https://a/sub', 'http://:80', 'http://u:p@x'],
    ],
  ])('of %s is accepted only in its range', (name, good, bad) => {
    for (const text of good) expect([text, of(name, text)]).not.toEqual([text, 'refused'])
    for (const text of bad) expect([text, of(name, text)]).toEqual([text, 'refused'])
  })

  test('of a list is split at commas and trimmed', () => {
    expect(of('MILLRACE_OUTBOUND_ALLOW', ' private , db:5432 ')).toEqual(['private', 'db:5432'])
  })

  test('from any text is in its range or reported as a problem', () => {
    const whole = settings.filter(({ range }) => range.startsWith('a whole number'))
    fc.assert(
      fc.property(fc.constantFrom(...whole), fc.oneof(fc.string(), fc.integer().map(String)), (setting, text) => {
        const { config, problems } = resolveConfig({ environment: { [setting.name]: text } })
        const [minimum, maximum] = setting.range.match(/\d+/g)!.map(Number)
        if (problems.length > 0) return problems.length === 1 && problems[0]!.name === setting.name
        const value = config[setting.member] as number
        return Number.isInteger(value) && value >= minimum! && value <= maximum!
      }),
    )
  })
})

describe('the list of settings', () => {
  test('has each name once, with a one-sentence description and a valid default', () => {
    expect(new Set(settings.map(({ name }) => name)).size).toBe(settings.length)
    expect(new Set(settings.map(({ flag }) => flag)).size).toBe(settings.length)
    for (const setting of settings) {
      expect(setting.description).toMatch(/^[A-Za-z].*\.$/)
      if (setting.default === null || Array.isArray(setting.default)) continue
      const { config, problems } = resolveConfig({ flags: { [setting.flag]: String(setting.default) } })
      expect(problems).toEqual([])
      expect(config[setting.member]).toEqual(setting.default as never)
    }
  })

  test('contains every setting that an error message names', () => {
    const names = settings.map(({ name }) => name)
    expect(names).toEqual(expect.arrayContaining(Object.values(limitSettings)))
    const { config } = resolveConfig({})
    expect(limitsOf(config)).toEqual(defaultLimits)
    for (const [member, name] of Object.entries(limitSettings)) {
      expect(settings.find((setting) => setting.name === name)?.member).toBe(member as keyof Config)
    }
  })
})

test('sizes are shown in the largest unit without fractions', () => {
  expect([0, 1, 1024, 1536, 10 * 1024 ** 2, 2 ** 50].map(sizeText)).toEqual([
    '0 bytes',
    '1 bytes',
    '1 KB',
    '1536 bytes',
    '10 MB',
    '1024 TB',
  ])
})
